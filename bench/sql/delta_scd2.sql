CALL scd2.apply('dim', source => 'delta');
