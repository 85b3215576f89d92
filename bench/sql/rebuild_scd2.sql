CREATE TABLE rebuilt AS SELECT * FROM scd2.rebuild(NULL::dim);
