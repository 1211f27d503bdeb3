//! Any stream of lines, in pieces of any size: `src/input/fuzz.rs`.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| twindex::fuzzing::lines(input));
