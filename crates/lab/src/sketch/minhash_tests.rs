//! Compares the MinHash estimates of every family with the similarity of the sets.

use super::*;
use std::collections::BTreeSet;

/// Two sets of 80 keys with 60 common ones, J = 0.6: the keys of the numbers 0 to 79 and 20 to 99.
fn pair(key: impl Fn(u64) -> u64) -> [Vec<u64>; 2] {
    [(0..80).map(&key).collect(), (20..100).map(&key).collect()]
}

/// The mean estimate over runs with newly drawn functions, and four of its standard errors if each
/// component agrees with probability 0.6.
fn mean(
    functions: impl Fn(u64) -> MinHash,
    runs: u64,
    sets: impl Fn(u64) -> [Vec<u64>; 2],
) -> (f64, f64) {
    let (mut sum, mut components) = (0.0, 0);
    for run in 0..runs {
        let functions = functions(run);
        let [a, b] = sets(run).map(|keys| functions.signature(&keys).expect("not empty"));
        sum += MinHash::similarity(&a, &b);
        components += functions.functions();
    }
    (sum / runs as f64, 4.0 * (0.24 / components as f64).sqrt())
}

fn of(family: Family, count: usize) -> impl Fn(u64) -> MinHash {
    move |run| MinHash::new(family, count, run).expect("a valid number")
}

#[test]
fn every_family_is_unbiased_on_random_keys() {
    let random = |run| {
        let mut words = SplitMix::new(1_000_003 * (run + 1));
        let keys: Vec<u64> = (0..100).map(|_| words.next()).collect();
        pair(|number| keys[number as usize])
    };
    for family in Family::ALL {
        let (mean, four) = mean(of(family, 64), 60, random);
        assert!((mean - 0.6).abs() < four, "{family}: {mean} is not .6 to {four}");
    }
}

/// Two documents share a passage, and rows have the order of the text.
#[test]
fn only_modular_and_multiplicative_are_biased_on_neighbouring_rows() {
    for family in Family::ALL {
        let (mean, four) = mean(of(family, 64), 60, |_| pair(|number| number + 1));
        match family {
            Family::Modular | Family::Multiplicative => {
                assert!(mean < 0.6 - four, "{family}: {mean} is not below .6 by {four}");
            }
            _ => assert!((mean - 0.6).abs() < four, "{family}: {mean} is not .6 to {four}"),
        }
    }
}

/// Three functions must vary with the seed as 300 do. A first function that is always the same
/// would give every run the same third of its estimate.
#[test]
fn all_functions_are_drawn_from_the_seed() {
    let keys: Vec<u64> = (1..50).collect();
    for family in Family::ALL {
        let first = |seed| {
            let functions = MinHash::new(family, 1, seed).expect("valid");
            functions.signature(&keys).expect("keys")
        };
        let firsts: BTreeSet<Vec<u64>> = (0..20).map(first).collect();
        assert!(firsts.len() > 10, "{family}: {} first functions in 20 runs", firsts.len());
    }
}

#[test]
fn row_numbers_are_biased_unless_the_pair_has_all_rows() {
    let rows = |rows| move |run| MinHash::of_rows(rows, 64, run).expect("valid");
    let (all, four) = mean(rows(100), 60, |_| pair(|number| number));
    assert!((all - 0.6).abs() < four, "{all}");
    let (few, four) = mean(rows(10_000), 60, |_| pair(|number| number));
    assert!(few < 0.6 - 2.0 * four, "{few}");
    // The printed form without the prime modulus has the same law here, because p seldom divides z.
    let printed = |run| MinHash::as_printed(10_000, 64, run).expect("valid");
    let (few, four) = mean(printed, 60, |_| pair(|number| number));
    assert!(few < 0.6 - 2.0 * four, "{few}");
}

#[test]
fn multiplicative_hashing_takes_sets_that_hold_0_for_equal() {
    let functions = MinHash::new(Family::Multiplicative, 50, 3).expect("valid");
    let [a, b] = [[0, 17, 5], [88, 9, 0]].map(|keys| functions.signature(&keys).expect("keys"));
    assert_eq!(MinHash::similarity(&a, &b), 1.0);
}

#[test]
fn signatures_ignore_order_and_repetition_of_keys() {
    let keys: Vec<u64> = (1..700).map(|number| number * number).collect();
    let mut again: Vec<u64> = keys.iter().rev().copied().collect();
    again.extend_from_slice(&keys[..300]);
    for family in Family::ALL {
        let functions = MinHash::new(family, 7, 1).expect("valid");
        assert_eq!(functions.signature(&keys), functions.signature(&again), "{family}");
        assert_eq!(functions.signature(&[]), None, "{family}");
        let other = MinHash::new(family, 7, 2).expect("valid");
        assert_ne!(functions.signature(&keys), other.signature(&keys), "{family}");
    }
}

#[test]
fn fewer_functions_are_a_prefix_of_more() {
    let keys: Vec<u64> = (1..50).collect();
    for family in Family::ALL {
        let [few, more] = [65, 100].map(|count| {
            let functions = MinHash::new(family, count, 4).expect("valid");
            functions.signature(&keys).expect("keys")
        });
        assert_eq!(few[..], more[..65], "{family}");
    }
}

#[test]
fn any_number_of_lanes_is_made_of_whole_sketches() {
    let numbers = |count: usize| widths(count);
    assert_eq!(numbers(1), [64]);
    assert_eq!(numbers(200), [256]);
    assert_eq!(numbers(512), [512]);
    assert_eq!(numbers(513), [512, 64]);
    assert_eq!(numbers(1_500), [512, 512, 512]);
    for count in [1, 64, 400, 600] {
        let functions = MinHash::new(Family::Default, count, 0).expect("valid");
        assert_eq!(functions.signature(&[5]).map(|lanes| lanes.len()), Some(count));
    }
}

/// The default family is the sketch of an index, applied to mixed keys.
#[test]
fn the_default_family_is_the_sketch_of_the_index() {
    use twindex::{Normalization, Shingle, Shingler};
    let keys: Vec<u64> = (0..300).collect();
    let seed = seeds(1, 9).expect("one").next().expect("one");
    let mut words = SplitMix::new(seed);
    let (lanes, salt) = (words.next(), words.next());
    let shingler = Shingler::new(Shingle::default(), Normalization::default(), false, 0);
    let sketcher = twindex::Sketcher::new(shingler.expect("valid"), 256, lanes).expect("valid");
    let mixed: Vec<u64> = keys.iter().map(|key| fmix64(key ^ salt)).collect();
    let sketch = sketcher.sketch_of_hashes(&mixed).expect("keys");
    let functions = MinHash::new(Family::Default, 256, 9).expect("valid");
    let signature = functions.signature(&keys).expect("keys");
    assert!(signature.iter().copied().eq(sketch.lanes().iter().map(|lane| u64::from(*lane))));
}

#[test]
fn numbers_of_functions_out_of_range_are_refused() {
    for count in [0, MinHash::MOST_FUNCTIONS + 1] {
        assert!(MinHash::new(Family::Xxh3, count, 0).is_err(), "{count}");
        assert!(MinHash::of_rows(5, count, 0).is_err(), "{count}");
    }
    assert!(MinHash::of_rows(1 << 32, 5, 0).is_err());
}
