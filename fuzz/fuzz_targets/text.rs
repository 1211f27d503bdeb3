//! Any text under any normalisation and shingle: `src/text/fuzz.rs`.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| twindex::fuzzing::text(input));
