CALL scd2.resolve('fact');
