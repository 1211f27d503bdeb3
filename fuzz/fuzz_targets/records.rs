//! Any bytes as any stored row: `src/store/sim/fuzz.rs`.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| twindex::fuzzing::records(input));
