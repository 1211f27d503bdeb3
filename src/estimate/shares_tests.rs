//! The law of shares is held against simulated comparisons.

use super::*;
use crate::estimate::Agreement;
use crate::hash::SplitMix;
use statrs::distribution::{Binomial, Discrete, DiscreteCDF};

const LANES: usize = 256;

/// Draws the number of equal lanes of a document that contains a share of a query.
fn drawn(words: &mut SplitMix, share: f64, size: f64, other: f64) -> usize {
    let equal = equal_lane_probability(Containment::to_similarity(share, size, other));
    (0..LANES).filter(|_| uniform(words) < equal).count()
}

fn uniform(words: &mut SplitMix) -> f64 {
    (words.next() >> 11) as f64 / (1_u64 << 53) as f64
}

/// The probability that the interval of one comparison holds a share, summed over the law of equal
/// lanes.
fn coverage(share: f64, ratio: f64, lanes: usize) -> f64 {
    let equal = equal_lane_probability(Containment::to_similarity(share, 1.0, ratio));
    let law = Binomial::new(equal, lanes as u64).expect("a probability");
    let likely = (0..=lanes).map(|equal| (equal, law.pmf(equal as u64))).filter(|x| x.1 > 1e-9);
    let held = likely.filter(|(equal, _)| {
        let got = Containment::estimate(Agreement::new(*equal, lanes), 1.0, ratio);
        got.low <= share && share <= got.high
    });
    held.map(|(_, probability)| probability).sum()
}

#[test]
fn the_interval_of_one_comparison_holds_shares_at_its_confidence_for_all_sizes() {
    for lanes in [128, 256, 512] {
        for ratio in [1.0, 1.5, 3.0, 8.0, 30.0, 100.0, 400.0] {
            let shares: Vec<f64> = (0..=50).map(|step| f64::from(step) / 50.0).collect();
            let all: Vec<f64> = shares.iter().map(|t| coverage(*t, ratio, lanes)).collect();
            let mean = all.iter().sum::<f64>() / all.len() as f64;
            assert!((0.93..=0.985).contains(&mean), "{lanes} lanes, {ratio}: {mean}");
        }
    }
}

#[test]
fn a_document_that_shares_nothing_is_never_told_to_contain_everything() {
    for ratio in [100.0, 300.0, 1000.0] {
        // The most lanes that are equal by chance in any of 100,000 documents.
        let got = Containment::estimate(Agreement::new(9, 256), 52.0, 52.0 * ratio);
        assert!(got.low < got.high, "{ratio}: {got:?}");
        let nothing = Containment::estimate(Agreement::new(1, 256), 52.0, 52.0 * ratio);
        assert_eq!(nothing.low, 0.0, "{ratio}: {nothing:?}");
    }
}

/// A document among others: what it contains, its size, its number of equal lanes.
struct Drawn {
    share: f64,
    other: f64,
    equal: usize,
}

/// Documents of 4 to 400 times the size of a query. Most have little of it, some all, some a part.
fn documents(words: &mut SplitMix, count: usize, related: f64) -> Vec<Drawn> {
    let one = |_| {
        let other = 50.0 * 4.0 * 100_f64.powf(uniform(words));
        let share = match uniform(words) {
            kind if kind < related / 2.0 => 1.0,
            kind if kind < related => uniform(words),
            kind if kind < 0.5 => 0.0,
            _ => 0.03 * uniform(words),
        };
        Drawn { share, other, equal: drawn(words, share, 50.0, other) }
    };
    (0..count).map(one).collect()
}

fn counted(documents: &[Drawn]) -> Vec<SizeCount> {
    let mut classes = vec![SizeCount::default(); 64];
    for Drawn { other, equal, .. } in documents {
        classes[class(*other)].add(*other, *equal);
    }
    classes
}

fn class(other: f64) -> usize {
    (4.0 * other.log2()) as usize
}

/// The experiment that an interval of one comparison fails: thousands of documents are compared,
/// and those with the most equal lanes are reported.
#[test]
fn intervals_hold_the_share_of_what_is_reported_among_thousands_of_documents() {
    for (seed, related) in [(1, 0.002), (2, 0.01), (3, 0.05)] {
        let (mut reported, mut held, mut vain) = (0, 0, 0);
        for query in 0..40 {
            let mut words = SplitMix::new(1000 * seed + query);
            let all = documents(&mut words, 3000, related);
            let counted = counted(&all);
            let prior = SharePrior::among(50.0, LANES, &counted);
            let errors = |far: &SizeCount| prior.common_errors(far.mean_size().max(50.0));
            let errors: Vec<CommonErrors> = counted.iter().map(errors).collect();
            for Drawn { share, other, equal } in &all {
                let errors = &errors[class(*other)];
                let law = prior.judge_among(errors, *equal, *other);
                if !law.tells(Threshold::new(0.5).expect("valid")) {
                    continue;
                }
                let (low, high) = law.interval(Confidence::DEFAULT);
                reported += 1;
                held += usize::from(low - 1e-9 <= *share && *share <= high + 1e-9);
                vain += usize::from(*share < 0.1);
            }
        }
        let rate = f64::from(held as u32) / f64::from(reported as u32);
        assert!(reported > 60, "related {related}: {reported} reported");
        // Errors are independent here, so what documents are taken to have in common is on the
        // safe side.
        assert!((0.93..=1.0).contains(&rate), "related {related}: {rate} of {reported}");
        assert!(10 * vain <= reported, "related {related}: {vain} of {reported} share nothing");
    }
}

#[test]
fn intervals_hold_the_share_of_documents_that_contain_nearly_everything() {
    const SIZE: f64 = 2000.0;
    for share in [0.9995, 0.999, 0.998, 0.997, 0.995, 0.99] {
        let mut words = SplitMix::new(7);
        let (mut held, mut all) = (0, 0);
        for _ in 0..10 {
            let equal: Vec<usize> =
                (0..100).map(|_| drawn(&mut words, share, SIZE, SIZE)).collect();
            let mut count = SizeCount::default();
            equal.iter().for_each(|equal| count.add(SIZE, *equal));
            let prior = SharePrior::among(SIZE, LANES, &[count]);
            let errors = prior.common_errors(SIZE);
            for equal in equal {
                let law = prior.judge_among(&errors, equal, SIZE);
                let (low, high) = law.interval(Confidence::DEFAULT);
                assert!(low < high, "{share}: {equal} equal lanes");
                held += usize::from((low..=high).contains(&share));
                all += 1;
            }
        }
        assert!(held * 100 >= 93 * all, "{share}: {held} of {all}");
    }
}

#[test]
fn a_single_document_is_judged_as_if_nothing_were_known() {
    let mut alone = SizeCount::default();
    alone.add(400.0, 40);
    let among = SharePrior::among(100.0, LANES, &[alone]).judge(40, 400.0);
    let none = SharePrior::among(100.0, LANES, &[]).judge(40, 400.0);
    let [a, b] = [among, none].map(|law| law.interval(Confidence::DEFAULT));
    assert!((a.0 - b.0).abs() < 1e-9 && (a.1 - b.1).abs() < 1e-9, "{a:?}, {b:?}");
}

#[test]
fn more_equal_lanes_never_lower_the_share() {
    let mut words = SplitMix::new(7);
    let prior = SharePrior::among(50.0, LANES, &counted(&documents(&mut words, 500, 0.05)));
    for other in [50.0, 200.0, 1000.0, 20_000.0] {
        let medians: Vec<f64> =
            (0..=LANES).map(|equal| prior.judge(equal, other).median()).collect();
        // Taking a document's own part out may move the others by a hair.
        assert!(medians.windows(2).all(|pair| pair[0] <= pair[1] + 0.02), "{other}: {medians:?}");
    }
}

#[test]
fn an_interval_holds_its_probability_and_lies_within_what_there_is_room_for() {
    for (equal, size, other) in [(0, 100.0, 30.0), (256, 100.0, 30.0), (77, 100.0, 400.0)] {
        let law = SharePrior::unknown(size, LANES).judge(equal, other);
        let mut last = 0.0;
        for confidence in [0.5, 0.8, 0.95, 0.999] {
            let (low, high) = law.interval(Confidence::new(confidence).expect("valid"));
            assert!(0.0 <= low && low < high && high <= room(size, other), "{low} to {high}");
            assert!(high - low > last, "{confidence}");
            last = high - low;
        }
    }
}

#[test]
fn the_probability_of_enough_equal_lanes_is_that_of_the_binomial_law() {
    for lanes in [64_usize, 256, 512] {
        for equal in [0.004, 0.3, 0.5, 0.76, 0.8, 0.9, 0.96, 0.999] {
            let law = Binomial::new(equal, lanes as u64).expect("a probability");
            for least in 0..=lanes + 1 {
                let expected = least.checked_sub(1).map_or(1.0, |below| law.sf(below as u64));
                let got = at_least(least, lanes, equal);
                assert!((got - expected).abs() < 1e-9, "{least} of {lanes}, {equal}: {got}");
            }
        }
    }
}
