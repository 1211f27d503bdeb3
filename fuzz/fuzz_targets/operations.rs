//! Any history of an index, beside a map and brute force: `tests/integration/history.rs`.
#![no_main]

#[path = "../../tests/integration/history.rs"]
mod history;
#[path = "../../tests/integration/support.rs"]
mod support;

libfuzzer_sys::fuzz_target!(|input: &[u8]| history::run(history::operations(input)));
