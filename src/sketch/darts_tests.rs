//! Sketches of known weighted sets, which are part of the file format (`docs/format.md`, section
//! "Hashes"), and the probability law of the darts. A script with exact fractions computed the
//! golden values from that document.

use super::*;
use crate::sketch::lanes::truncate;

fn random(count: usize) -> Vec<u64> {
    let mut words = SplitMix::new(count as u64);
    (0..count).map(|_| words.next()).collect()
}

fn thrown(lanes: usize, weights: &[f64]) -> Vec<u32> {
    let lanes = Lanes::new(lanes).unwrap();
    let mut table = LaneTable::new();
    let mut weights: Vec<_> =
        random(weights.len()).into_iter().zip(weights.iter().copied()).collect();
    DartHasher::new(lanes, 0).throw(&mut table, &mut weights);
    table.values(lanes.get()).to_vec()
}

#[test]
fn weighted_sets_have_their_golden_sketches() {
    let spread: Vec<f64> = vec![1e-3, 1e-2, 1e-1, 1.0, 10.0, 1e2, 1e3, 1e4, 1e5, 1e6];
    let hundred: Vec<f64> = (1..=100).map(|n| f64::from(n) / 8.0).collect();
    let light: Vec<f64> = (0..3_000).map(|n| power(n % 7 - 12)).chain([1.0]).collect();
    // Each case has the first two lanes, the last lane, and the first 8 stored bytes.
    for (weights, lanes, [first, second, last], stored) in [
        (
            &[1.0][..],
            64,
            [0x8000_ee84, 0x7fe3_83b7, 0x8011_f1b0],
            [0x6c, 0x48, 0x25, 0x75, 0x58, 0x0d, 0x97, 0xd1],
        ),
        (
            &[1.0],
            256,
            [0x7fcc_2dfa, 0x8002_3090, 0x8013_8914],
            [0x06, 0x9f, 0x67, 0xc6, 0xd7, 0x03, 0xb2, 0xc8],
        ),
        (
            &[1.0],
            512,
            [0x8007_7423, 0x7fc8_5bf4, 0x7feb_46cb],
            [0x64, 0xb9, 0xc8, 0x6d, 0xfe, 0x1b, 0xce, 0x4d],
        ),
        (
            &[5e-324],
            64,
            [0xc305_df20, 0xc320_2fa8, 0xc30c_faa6],
            [0xab, 0x23, 0x24, 0x44, 0x91, 0x8b, 0xcd, 0x58],
        ),
        (
            &[5e-324],
            256,
            [0xc321_2b7f, 0xc307_7c80, 0xc2e5_0a11],
            [0x06, 0x89, 0x97, 0x87, 0x3a, 0x8d, 0x33, 0xa1],
        ),
        (
            &[f64::MAX; 2],
            256,
            [0x3fea_59e9, 0x3ffe_e1a2, 0x3fff_7fa4],
            [0x01, 0x75, 0xb4, 0x81, 0xd3, 0x13, 0xf9, 0xa7],
        ),
        (
            &[f64::MAX; 2],
            512,
            [0x3fe0_d18b, 0x3fe4_b3d2, 0x3ffe_ff48],
            [0x06, 0x9a, 0x33, 0x4b, 0x87, 0x51, 0xef, 0x05],
        ),
        (
            &spread,
            64,
            [0x7e86_db1c, 0x7ea5_d2b9, 0x7e80_3494],
            [0xd8, 0x0a, 0xaf, 0x4a, 0x60, 0x81, 0x2f, 0xd9],
        ),
        (
            &spread,
            256,
            [0x7ea4_4475, 0x7e8b_6c72, 0x7e88_761e],
            [0x41, 0x73, 0xc0, 0x90, 0xaf, 0xc3, 0x9f, 0x40],
        ),
        (
            &hundred,
            64,
            [0x7f70_a5fe, 0x7f66_bd5d, 0x7f5c_5fbd],
            [0x55, 0x58, 0xca, 0xa2, 0x71, 0x3a, 0x16, 0xf7],
        ),
        (
            &hundred,
            256,
            [0x7f5b_5dee, 0x7f5e_7cc5, 0x7f5a_e322],
            [0xd3, 0x79, 0xb0, 0x45, 0xf7, 0x3a, 0x54, 0x78],
        ),
        (
            &hundred,
            512,
            [0x7f75_d885, 0x7f48_1fd5, 0x7f55_c645],
            [0x4e, 0x94, 0x51, 0xd8, 0xd4, 0xef, 0x57, 0x12],
        ),
        (
            &light,
            64,
            [0x7fb9_229b, 0x7fb2_9905, 0x7fd5_4df9],
            [0xa2, 0x2d, 0xbf, 0x83, 0x9e, 0x91, 0x56, 0x2b],
        ),
    ] {
        let got = thrown(lanes, weights);
        let what = format!("{} weights in {lanes} lanes", weights.len());
        assert_eq!([got[0], got[1], got[lanes - 1]], [first, second, last], "{what}");
        let bytes: Vec<u8> = got.iter().take(8).map(|lane| truncate(*lane)).collect();
        assert_eq!(bytes, stored, "{what}");
    }
}

#[test]
fn the_number_of_darts_in_a_cell_follows_the_poisson_distribution() {
    let mut below = 0.0;
    for (darts, least) in AT_MOST.iter().enumerate().take(6) {
        let chance = *least as f64 / 2.0_f64.powi(64) - below;
        let factorial: f64 = (1..=darts).map(|n| n as f64).product();
        let expected = (-0.5_f64).exp() * 0.5_f64.powi(darts as i32) / factorial;
        assert!((chance - expected).abs() < 1e-12, "{darts}: {chance}, not {expected}");
        below += chance;
    }
}

#[test]
fn many_light_tokens_count_as_much_as_one_heavy_token_of_their_weight() {
    // One token is half the weight of the first set and all of the second. The other tokens are so
    // light that cells of eight powers of two decide nearly every lane.
    const RUNS: u64 = 100_000;
    const THREADS: u64 = 2;
    let lanes = Lanes::new(64).unwrap();
    let equal = |seed: u64| {
        let mut words = SplitMix::new(seed);
        let mut both: Vec<_> = (0..257).map(|_| (words.next(), power(-7))).collect();
        both[0].1 = 2.0;
        let hasher = DartHasher::new(lanes, seed);
        let [of_both, of_one] = [both.len(), 1].map(|tokens| {
            let mut table = LaneTable::new();
            hasher.throw(&mut table, &mut both[..tokens].to_vec());
            table
        });
        let pairs = of_both.values(lanes.get()).iter().zip(of_one.values(lanes.get()));
        pairs.filter(|(a, b)| a == b).count() as f64
    };
    let sum: f64 = std::thread::scope(|scope| {
        let count = |first| move || (first..RUNS).step_by(THREADS as usize).map(equal).sum::<f64>();
        let threads: Vec<_> = (0..THREADS).map(|first| scope.spawn(count(first))).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).sum()
    });
    let all = (RUNS * 64) as f64;
    let (mean, error) = (sum / all, 0.5 / all.sqrt());
    // If light tokens counted 256 times instead of 255, the mean would be 0.4990, which is five
    // standard errors away.
    assert!((mean - 0.5).abs() < 3.0 * error, "{mean} with a standard error of {error}");
}

#[test]
fn binary_logarithms_are_right_from_the_least_to_the_greatest_number() {
    for number in [5e-324, 1e-310, f64::MIN_POSITIVE, 0.75, 1.0, 1.5, 2.0, 1e300, f64::MAX] {
        let log2 = exponent(number);
        let (half, rest) = (log2 / 2, log2 - log2 / 2);
        let scaled = number * power(-half) * power(-rest);
        assert!((1.0..2.0).contains(&scaled), "{number}: {log2}");
    }
}

#[test]
fn scaling_all_weights_scales_the_ranks_inversely() {
    // All weights times 2^n give a set with the same law, but with ranks divided by 2^n.
    for (weights, scaled) in
        [([1e-3, 5.0], [1e-3 * 1024.0, 5.0 * 1024.0]), ([3.0, 3.0], [0.375, 0.375])]
    {
        let mean = |lanes: Vec<u32>| {
            let ranks = lanes.iter().map(|lane| f64::from(*lane) / f64::from(1 << FRACTION));
            ranks.sum::<f64>() / lanes.len() as f64
        };
        let (least, most) = (mean(thrown(512, &weights)), mean(thrown(512, &scaled)));
        let shift = (scaled[0] / weights[0]).log2();
        // The standard error of a mean of 512 logarithms is about 0.08.
        assert!((least - most - shift).abs() < 0.4, "{least} and {most}, {shift} apart");
    }
}
