CALL scd2.apply('dim', source => 'late');
