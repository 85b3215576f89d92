CALL scd2.apply('dim', batch_time => '2026-01-01 00:00+00');
