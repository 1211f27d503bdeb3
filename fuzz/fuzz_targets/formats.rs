//! Any bytes in any format of records, in pieces of any size:
//! `crates/cli/src/input/fuzz_formats.rs`.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| twindex_cli::fuzzing::formats(input));
