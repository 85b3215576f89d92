CALL scd2.apply('dim', source => 'in_order');
