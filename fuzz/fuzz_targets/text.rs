//! Any text under any normalisation: no panic, twice is once, and a signature of its own.
#![no_main]

use libfuzzer_sys::fuzz_target;
use twindex::{Lanes, Normalization, Shingle, Shingler, Sketcher};

const NORMALIZATIONS: [&str; 6] = [
    "none",
    "lower,nfc,space",
    "lower,nfkc,space",
    "nfc,nospace",
    "lower,nfkc,nospace,minword=3",
    "lower,nospace",
];

fuzz_target!(|input: (u8, u8, String)| {
    let (normalization, shingle, text) = input;
    let normalization = NORMALIZATIONS[usize::from(normalization) % NORMALIZATIONS.len()];
    let normalization: Normalization = normalization.parse().expect("a known list");
    let once = normalization.apply(&text);
    assert_eq!(normalization.apply(&once), once);

    let width = u16::from(shingle / 4) + 1;
    let shingle = match shingle % 4 {
        0 => Shingle::chars(width),
        1 => Shingle::words(width),
        2 => Shingle::lines(width),
        _ => Shingle::Tokens,
    };
    let shingler = Shingler::new(shingle, normalization, false, 0).expect("a valid width");
    let hashes = shingler.hashes(&text);
    let sketcher = Sketcher::new(shingler, Lanes::new(64).expect("a valid number"), 0);
    assert_eq!(sketcher.signature(&text), sketcher.signature_of_hashes(&hashes));
});
