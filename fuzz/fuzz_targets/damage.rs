//! Any change of an index's rows, under good checksums: `src/index/trials/fuzz.rs`.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| twindex::fuzzing::damage(input));
