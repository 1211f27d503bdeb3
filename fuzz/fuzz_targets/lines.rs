//! Any stream of lines, in pieces of any size: `crates/cli/src/input/fuzz.rs`.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| twindex_cli::fuzzing::lines(input));
