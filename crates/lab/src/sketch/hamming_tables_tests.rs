//! Compares the law of each kind of tables with counting over all pairs.

use super::*;
use twindex::internals::fmix64;

/// The share of all strings of this many bits at each distance from 0 that meet 0.
fn counted(tables: &HammingTables, bits: usize) -> Vec<f64> {
    let (mut met, mut all) = (vec![0.0; bits + 1], vec![0.0; bits + 1]);
    for string in 0..1_u64 << bits {
        let distance = string.count_ones() as usize;
        all[distance] += 1.0;
        met[distance] += f64::from(u8::from(tables.meet(&[0], &[string])));
    }
    met.iter().zip(all).map(|(met, all)| met / all).collect()
}

#[test]
fn blocks_and_bands_find_as_many_as_counted_over_all_pairs() {
    for tables in [
        HammingTables::blocks(12, 4, 3),
        HammingTables::blocks(13, 5, 3),
        HammingTables::blocks(11, 6, 2),
        HammingTables::blocks(9, 1, 0),
        HammingTables::bands(14, 4),
        HammingTables::bands(12, 5),
        HammingTables::bands(7, 1),
    ] {
        let tables = tables.expect("valid");
        let counted = counted(&tables, tables.bits);
        for (distance, expected) in counted.into_iter().enumerate() {
            let got = tables.found(distance);
            assert!((got - expected).abs() < 1e-12, "{tables:?} {distance}: {got}, not {expected}");
            assert!(distance > tables.certain() || got == 1.0, "{tables:?} {distance}");
        }
        // Some pair at the next distance is not found.
        assert!(tables.found(tables.certain() + 1) < 1.0, "{tables:?}");
    }
}

#[test]
fn sampled_bits_find_as_many_as_counted_over_draws() {
    let draws = 4_000;
    let mut mean = [0.0; 11];
    for seed in 0..draws {
        let tables = HammingTables::sampled(10, 3, 2, seed).expect("valid");
        let each = counted(&tables, 10);
        mean.iter_mut().zip(each).for_each(|(mean, one)| *mean += one / draws as f64);
    }
    let tables = HammingTables::sampled(10, 3, 2, 0).expect("valid");
    for (distance, expected) in mean.into_iter().enumerate() {
        // The share of a draw lies between 0 and 1, so its deviation is at most 1/2.
        let four = 4.0 * 0.5 / f64::from(draws as u32).sqrt();
        assert!((tables.found(distance) - expected).abs() < four, "{distance}: {expected}");
    }
    assert_eq!((tables.found(0), tables.found(8), tables.found(11)), (1.0, 0.0, 0.0));
}

/// Bits that differ independently with probability 1 - p make the law of a SimHash:
/// 1 - (1 - p^r)^b.
#[test]
fn bands_average_to_the_law_of_independent_bits() {
    let (bits, width, p) = (512, 12, 0.85_f64);
    let tables = HammingTables::bands(bits, width).expect("valid");
    assert_eq!((tables.len(), tables.width(), tables.certain()), (42, 12, 41));
    let mean: f64 = (0..=bits)
        .map(|d| {
            let chance = choose(bits, d).ln() + d as f64 * (1.0 - p).ln();
            (chance + (bits - d) as f64 * p.ln()).exp() * tables.found(d)
        })
        .sum();
    let expected = 1.0 - (1.0 - p.powi(12)).powi(42);
    assert!((mean - expected).abs() < 1e-9, "{mean}, not {expected}");
}

/// Manku, Jain, Das Sarma 2007, section 3: 64 bits, distance 3.
#[test]
fn blocks_have_the_numbers_of_tables_of_the_paper() {
    for (blocks, tables, width) in [(4, 4, 16), (5, 10, 25), (6, 20, 31)] {
        let made = HammingTables::blocks(64, blocks, 3).expect("valid");
        assert_eq!((made.len(), made.width()), (tables, width));
        for seed in 0..500_u64 {
            let near = (0..3)
                .fold(fmix64(seed), |near, flip| near ^ 1 << (fmix64(1_000 * seed + flip) % 64));
            assert!(made.meet(&[fmix64(seed)], &[near]), "{blocks} {seed}");
        }
    }
}

/// Of 40 blocks, 20 can be chosen in more than 10^11 ways, but 39 in only 40.
#[test]
fn all_but_one_of_many_blocks_are_chosen_at_once() {
    for blocks in [40, 1_024] {
        let tables = HammingTables::blocks(1_024, blocks, 1).expect("valid");
        let width = 1_024 - 1_024_usize.div_ceil(blocks);
        assert_eq!((tables.len(), tables.width(), tables.certain()), (blocks, width, 1));
    }
}

#[test]
fn bands_are_blocks_of_which_one_is_chosen() {
    let (bands, blocks) = (HammingTables::bands(64, 16), HammingTables::blocks(64, 4, 3));
    assert_eq!(bands.expect("valid").tables, blocks.expect("valid").tables);
}

#[test]
fn numbers_out_of_range_are_refused() {
    for bad in [
        HammingTables::sampled(0, 1, 1, 0),
        HammingTables::sampled(1025, 1, 1, 0),
        HammingTables::sampled(64, 65, 1, 0),
        HammingTables::sampled(64, 0, 1, 0),
        HammingTables::sampled(64, 4, 4097, 0),
        HammingTables::bands(64, 65),
        HammingTables::bands(64, 0),
        HammingTables::blocks(64, 65, 1),
        HammingTables::blocks(64, 4, 4),
        HammingTables::blocks(64, 4, usize::MAX),
        HammingTables::blocks(64, 30, 15),
    ] {
        assert!(bad.is_err(), "{bad:?}");
    }
    let most = HammingTables::bands(1024, 64).expect("valid");
    assert!(most.found(512) > 0.0 && most.found(1024) == 0.0);
}
