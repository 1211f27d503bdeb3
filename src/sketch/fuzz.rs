//! Fuzz target: compares sketches with a direct implementation of `docs/format.md`, and sketches of
//! texts with those of their hashes.

use super::{DistinctCounter, Sketcher};
use crate::hash::{GOLDEN, SplitMix, fmix64};
use crate::params::Lanes;
use crate::text::fuzz::Cutting;
use std::collections::BTreeSet;

/// Reads eight bytes of settings, and sketches the rest both as hashes and as a text.
pub fn sketch(input: &[u8]) {
    let Some((cutting, rest)) = input.split_first_chunk() else { return };
    let Some((&[lanes, seed, expected, half], content)) = rest.split_first_chunk() else { return };
    let (Some(shingler), Ok(lanes)) =
        (Cutting::of(cutting).shingler(), Lanes::new(64 << (lanes % 4)))
    else {
        return;
    };
    let seed = u64::from(seed);
    let sketcher = Sketcher::of(shingler.clone(), lanes, seed);

    let (hashes, _) = content.as_chunks();
    let hashes: Vec<u64> = hashes.iter().map(|hash| u64::from_le_bytes(*hash)).collect();
    let whole = sketcher.sketch_of_hashes(&hashes);
    assert_eq!(whole.as_ref().map(|sketch| sketch.lanes().to_vec()), defined(&hashes, lanes, seed));
    let (left, right) = hashes.split_at(usize::from(half).min(hashes.len()));
    if let (Some(whole), Some(mut left), Some(right)) =
        (&whole, sketcher.sketch_of_hashes(left), sketcher.sketch_of_hashes(right))
    {
        left.merge(&right);
        assert_eq!(left, *whole, "the union of both halves");
    }

    let signature = sketcher.signature_of_hashes(&hashes);
    let low: BTreeSet<u16> = hashes.iter().map(|hash| *hash as u16).collect();
    assert_eq!(signature.set_size().pack(), (1 << 16) - low.len() as u32);
    let mut counter = DistinctCounter::new(1 << (expected % 20));
    counter.add(&hashes);
    assert_eq!(counter.finish(), signature.set_size(), "for any expected number of hashes");
    match &whole {
        Some(sketch) => assert!(signature.lanes().iter().eq(sketch.truncated().iter())),
        None => assert!(signature.is_empty() && signature.lanes().iter().all(|lane| *lane == 0)),
    }

    let text = String::from_utf8_lossy(content);
    let of_hashes = sketcher.signature_of_hashes(&shingler.hashes(&text));
    assert_eq!(sketcher.signature(&*text).expect("a text"), of_hashes, "{text:?}");
}

/// The lanes of a set as `docs/format.md` defines them; `None` for the empty set.
fn defined(hashes: &[u64], lanes: Lanes, seed: u64) -> Option<Vec<u32>> {
    let mut words = SplitMix::new(fmix64(seed ^ GOLDEN));
    let s = words.next();
    let bits = lanes.log2();
    let mut values: Vec<Option<u32>> = vec![None; lanes.get()];
    for round in 0..3_u64 {
        if values.iter().all(Option::is_some) {
            break;
        }
        for &x in hashes {
            let salted = fmix64(x ^ s.wrapping_add(round.wrapping_mul(GOLDEN)));
            let y = if round == 0 { x } else { salted };
            let value = (round << 30 | (y << bits) >> 34) as u32;
            if let Some(lane) = values.get_mut((y >> (64 - bits)) as usize) {
                *lane = Some(lane.map_or(value, |least| least.min(value)));
            }
        }
    }
    let fallback = |(a, b): (u64, u64)| {
        let least = hashes.iter().map(|x| a.wrapping_mul(*x).wrapping_add(b)).min()?;
        Some((3 << 30 | (least >> 34) as u32).min(0xFFFF_FFFE))
    };
    let affine = values.iter().map(|_| (words.next() | 1, words.next())).collect::<Vec<_>>();
    values
        .into_iter()
        .zip(affine)
        .map(|(value, constants)| value.or_else(|| fallback(constants)))
        .collect()
}
