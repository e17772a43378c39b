//! How runs become Pajé operations: rules, their evaluation, the order of time, block codecs.

mod block_codecs;
mod columnar_operations;
mod default_rules;
mod end_rules;
mod expressions;
mod random_runs;
mod rules;
mod several_recorders;
mod single_pass;
mod single_thread;
mod sorted_conversion;
mod time_order;
mod unknown_states;
