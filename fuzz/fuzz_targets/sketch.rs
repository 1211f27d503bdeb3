//! Any set of hashes, and any text as its hashes: `src/sketch/fuzz.rs`.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| twindex::fuzzing::sketch(input));
