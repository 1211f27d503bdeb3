//! Tests of the study of bits, against closed forms of others and by brute force.

use super::words::Word;
use super::*;
use crate::study::Cell;
use statrs::distribution::{Binomial, Discrete};
use twindex::{Agreement, Normalization, Shingle, Shingler, Sketcher, estimate_probability};

const J: [f64; 5] = [0.0, 0.3, 0.5, 0.8, 0.95];

#[test]
fn lanes_of_8_bits_have_the_laws_of_the_library() {
    for lanes in [64, 128, 256, 512] {
        let layout = Layout::of(Lanes::new(lanes, 8));
        for similarity in J {
            let variance = Agreement::variance(similarity, lanes as usize);
            assert!((layout.error(similarity).powi(2) / variance - 1.0).abs() < 1e-12);
            for threshold in [0.3, 0.7, 0.8, 0.9] {
                let known = estimate_probability(similarity, threshold, lanes as usize);
                let known = known.expect("valid");
                let got = layout.reported(similarity, threshold).expect("valid");
                assert!((got - known).abs() < 1e-9, "{layout} {similarity} {threshold}: {got}");
            }
        }
        for equal in [lanes / 100, lanes / 2, lanes] {
            let known = Agreement::new(equal as usize, lanes as usize).similarity();
            let got = layout.estimate([equal, 0]).max(0.0);
            assert!((got - known).abs() < 1e-12, "{equal} of {layout}: {got}, not {known}");
        }
    }
}

#[test]
fn the_variance_of_a_lane_is_that_of_its_binary_law() {
    for bits in [1, 2, 3, 4, 8, 16] {
        let lane = Lanes::new(1, bits);
        let chance = 0.5_f64.powi(bits as i32);
        for similarity in J {
            let equal = chance + (1.0 - chance) * similarity;
            let expected = equal * (1.0 - equal) / (1.0 - chance).powi(2);
            assert!((lane.equal(similarity) - equal).abs() < 1e-15);
            assert!((lane.variance_of_one(similarity) - expected).abs() < 1e-12);
        }
    }
}

/// The mean and the variance of the estimate, over both binomial laws.
fn moments(layout: Layout, similarity: f64) -> (f64, f64) {
    let law = |lanes: Lanes| {
        let law = Binomial::new(lanes.equal(similarity), lanes.count.into()).expect("valid");
        (0..=lanes.count).map(move |equal| law.pmf(equal.into())).collect::<Vec<_>>()
    };
    let (first, others) = (law(layout.first), law(layout.others));
    let of = |value: &dyn Fn(f64) -> f64| -> f64 {
        let mut sum = 0.0;
        for (x, p) in (0..).zip(&first) {
            for (y, q) in (0..).zip(&others) {
                sum += p * q * value(layout.estimate([x, y]));
            }
        }
        sum
    };
    let mean = of(&|estimate| estimate);
    (mean, of(&|estimate| (estimate - mean).powi(2)))
}

#[test]
fn estimates_of_two_widths_are_nearly_unbiased_and_have_the_error_of_the_law() {
    for (first, others) in [((96, 8), (160, 4)), ((96, 8), (359, 1)), ((40, 3), (60, 1))] {
        let lanes = |(count, bits)| Lanes::new(count, bits);
        let layout = Layout::mixed(lanes(first), lanes(others));
        for similarity in [0.3, 0.8, 0.95] {
            let (mean, variance) = moments(layout, similarity);
            let error = layout.error(similarity);
            assert!((mean - similarity).abs() < 0.05 * error, "{layout} {similarity}: {mean}");
            let ratio = variance.sqrt() / error;
            assert!((ratio - 1.0).abs() < 0.03, "{layout} {similarity}: {ratio}");
        }
    }
}

#[test]
fn the_estimate_of_two_widths_has_the_greatest_likelihood() {
    let layout = Layout::mixed(Lanes::new(10, 8), Lanes::new(30, 1));
    for equal in [[9, 25], [5, 20], [3, 16], [10, 29]] {
        let likelihood = |similarity: f64| {
            let of = |lanes: Lanes, equal: u32| {
                let p = lanes.equal(similarity);
                f64::from(equal) * p.ln() + f64::from(lanes.count - equal) * (1.0 - p).ln()
            };
            of(layout.first, equal[0]) + of(layout.others, equal[1])
        };
        let best = layout.estimate(equal);
        for step in (1..1000).map(|step| f64::from(step) / 1000.0) {
            assert!(likelihood(step) <= likelihood(best) + 1e-12, "{equal:?}: {step}, {best}");
        }
    }
    assert!((layout.estimate([10, 30]) - 1.0).abs() < 1e-12);
}

#[test]
fn lanes_that_draw_without_replacement_have_the_variance_of_enumeration() {
    // 4 of 6 elements are common, and 3 lanes of 2 bits draw 3 different ones.
    let layout = Layout::of(Lanes::new(3, 2));
    let (mut mean, mut square, mut sum) = (0.0, 0.0, 0.0);
    let choose = |n: u32, k: u32| -> f64 {
        (0..k).map(|at| f64::from(n - at) / f64::from(at + 1)).product()
    };
    for both in 1..=3_u32 {
        let drawn = choose(4, both) * choose(2, 3 - both) / choose(6, 3);
        for chance in 0..=3 - both {
            let unequal = (3 - both - chance) as i32;
            let equal = choose(3 - both, chance) * 0.25_f64.powi(chance as i32);
            let probability = drawn * equal * 0.75_f64.powi(unequal);
            let estimate = layout.estimate([both + chance, 0]);
            sum += probability;
            mean += probability * estimate;
            square += probability * estimate * estimate;
        }
    }
    let expected = (square - mean * mean).sqrt();
    let got = layout.error_among(4.0 / 6.0, 6, 1);
    assert!((sum - 1.0).abs() < 1e-12 && (mean - 4.0 / 6.0).abs() < 1e-12);
    assert!((got - expected).abs() < 1e-12, "{got}, not {expected}");
}

#[test]
fn the_low_8_bits_of_mixed_lanes_are_the_bytes_of_an_index() {
    let shingler = Shingler::new(Shingle::Tokens, Normalization::NONE, false, 0).expect("valid");
    let sketcher = Sketcher::new(shingler, 512, 0).expect("valid");
    let hashes: Vec<u64> = (0..300).map(fmix64).collect();
    let sketch = sketcher.sketch_of_hashes(&hashes).expect("not empty");
    let low: Vec<u8> = measured::mixed(&sketch).into_iter().map(|lane| lane as u8).collect();
    assert_eq!(low[..], sketch.truncated()[..]);
}

#[test]
fn pages_of_signatures_are_those_that_the_library_estimates() {
    let plan = BandPlan::new(DEFAULT_THRESHOLD, DEFAULT_RECALL, 256).expect("valid");
    for lanes in [128, 256, 512] {
        let space = Space::new(plan, lanes, DOCUMENTS, 20).expect("valid");
        let got = signature_pages(lanes as u32);
        assert!((got - space.signatures).abs() < 1e-9, "{lanes}: {got}, {}", space.signatures);
    }
}

#[test]
fn layouts_reach_the_error_of_today_with_the_fewest_lanes() {
    let bands = band_lanes().expect("valid");
    assert_eq!(bands, Lanes::new(96, 8));
    for (first, bits) in [(bands, 1), (bands, 2), (bands, 4), (Lanes::new(0, 4), 4)] {
        let layout = Layout::reaching(first, bits, TODAY, 0.8);
        let fewer = Layout::mixed(first, Lanes::new(layout.others.count - 1, bits));
        assert!(layout.error(0.8) <= TODAY.error(0.8) && fewer.error(0.8) > TODAY.error(0.8));
    }
    let names: Vec<String> = layouts().expect("valid").iter().map(Layout::to_string).collect();
    assert_eq!(names[0], "256 x 8");
    assert_eq!(names[6], "96 x 8 + 226 x 2");
}

#[test]
fn words_meet_by_chance_as_often_as_random_bytes() {
    let word = |depth, bits| Word { depth, bits };
    assert!((word(6, 8).candidates(1e6, 0.0) - 1e6 / 2.0_f64.powi(48)).abs() < 1e-15);
    assert!((word(2, 4).candidates(256.0, 0.0) - 1.0).abs() < 1e-12);
    assert!((word(3, 1).candidates(1.0, 0.5) - 0.75_f64.powi(3)).abs() < 1e-12);
    assert_eq!([word(6, 8).bands(), word(6, 1).bands(), word(12, 4).bands()], [16, 16, 65]);
    // Ten widths and depths, of which six lanes of 8 bits are both as now and as long.
    assert_eq!(Word::all(&WIDTHS).len(), 9);
}

fn quick() -> BitsSettings {
    BitsSettings { pairs: 400, elements: 8_000 }
}

#[test]
fn all_findings_hold_and_all_points_are_numbers() {
    let report = run(&quick(), &StudyContext::unwatched(3)).expect("a report");
    assert_eq!(report.findings.len(), 11);
    for finding in &report.findings {
        assert!(finding.holds, "{}: {}", finding.expected, finding.seen);
    }
    assert_eq!(report.table.rows.len(), 15);
    let rows: Vec<usize> = report.further.iter().map(|(_, table)| table.rows.len()).collect();
    assert_eq!(rows, [5, 30, 9, 8, 8]);
    let points = report.figure.panels.iter().flat_map(|p| &p.series).flat_map(|s| &s.points);
    assert!(points.clone().all(|p| p.x.is_finite() && p.y.is_finite()));
    assert_eq!(points.count(), report.data.rows.len());
    // 256 lanes of 8 bits at .8, from the library's variance.
    let Cell::Share(error) = report.table.rows[13][6] else { panic!("no share") };
    assert!((error - Agreement::variance(0.8, 256).sqrt()).abs() < 1e-12, "{error}");
}

#[test]
fn a_wrong_estimate_is_noticed() {
    let draw = Draw::new(400, 8_000, 0.8, 1);
    let layouts = [(Layout::of_bytes(64, 4), Place::Low)];
    let mut measured = measured::measure(&layouts, draw, (&StudyContext::unwatched(0), (0, 1)))
        .expect("valid")
        .remove(0);
    assert!(measured.bias_beyond().is_some_and(|beyond| beyond < 4.0));
    measured.bias += 0.01;
    assert!(measured.bias_beyond().is_some_and(|beyond| beyond > 4.5));
    measured.error *= 1.2;
    assert!(measured.error_beyond().is_some_and(|beyond| beyond > 4.5));
}

#[test]
fn few_pairs_and_few_elements_leave_findings_out() {
    let settings = BitsSettings { pairs: 50, elements: 1_000 };
    let of = |seed| run(&settings, &StudyContext::unwatched(seed)).expect("a report");
    let report = of(5);
    // The law of lanes that were filled in further rounds is not known.
    assert_eq!(report.findings.len(), 7);
    assert!(report.findings.iter().all(|finding| finding.holds));
    assert_eq!(report.data.rows, of(5).data.rows);
    assert_ne!(report.data.rows, of(6).data.rows);
}

#[test]
fn settings_out_of_range_are_refused() {
    for (pairs, elements) in [(49, 10_000), (50, 999), (50, 1_000_001)] {
        let settings = BitsSettings { pairs, elements };
        assert!(run(&settings, &StudyContext::unwatched(0)).is_err(), "{settings:?}");
    }
}
