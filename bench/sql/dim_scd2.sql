-- scd2's dimension: for :scenario, with or without :change_log.
\if :is_snapshot
SELECT scd2.create_dimension('dim', source => 'first_load', business_key => '{customer_id}',
    surrogate_key => 'customer_sk', mode => 'snapshot', change_log => :'change_log');
\else
SELECT scd2.create_dimension('dim', source => 'first_load_at', business_key => '{customer_id}',
    surrogate_key => 'customer_sk', effective_at => 'changed_at', change_log => :'change_log');
\endif
