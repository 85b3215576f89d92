CALL scd2.apply('dim', source => 'snapshot', batch_time => '2026-02-01 00:00+00');
