//! Every finding holds for measured texts and fails for wrong values.

use super::*;
use crate::study::gospel_texts::{PAIRS, TextShingles, Translation};
use crate::study::gospels::pair_measurements::measure;
use crate::study::gospels::text_size::TextSize;
use std::borrow::Cow;
use twindex::Overlap;

const RUNS: u32 = 30;

/// Four texts of random-looking numbers, some more frequent than others.
fn measured() -> (GospelsSettings, Vec<MeasuredTranslation>) {
    let settings = GospelsSettings { folder: Some("elsewhere".into()), runs: RUNS, sample: 300 };
    let texts = [1, 2, 3, 4].map(|text: u64| {
        let words =
            (0..400 * text).map(|n| (n * n * (text + 5) % 97 * (n % 13)).to_string() + "xy");
        words.collect::<Vec<_>>().join(" ")
    });
    let shingles: Vec<TextShingles> =
        texts.iter().map(|text| TextShingles::of(text).expect("shingles")).collect();
    let pair = |(at, (a, b)): (usize, (usize, usize))| {
        let of_pair = (&shingles[a], &shingles[b]);
        measure(&settings, (&texts[a], &texts[b]), of_pair, at as u64, &|| Ok(()))
    };
    let pairs = PAIRS.into_iter().enumerate().map(pair).collect::<twindex::Result<_>>();
    let pairs = pairs.expect("measured");
    let sizes = texts.iter().map(|text| TextSize::of(text)).collect();
    let texts = texts.map(Cow::Owned);
    let translation = Translation { name: "numbers", language: "none", texts };
    (settings, vec![MeasuredTranslation { translation, sizes, pairs }])
}

#[test]
fn all_findings_hold_and_each_fails_if_its_values_change() {
    let (settings, mut compared) = measured();
    for finding in all(&settings, &compared) {
        assert!(finding.holds, "{}: {}", finding.expected, finding.seen);
    }
    let pairs = compared[0].pairs.clone();
    let mut fails = |number: usize, change: &dyn Fn(&mut [MeasuredPair])| {
        compared[0].pairs.clone_from(&pairs);
        change(&mut compared[0].pairs);
        let findings = all(&settings, &compared);
        let failing: Vec<usize> = (0..findings.len()).filter(|at| !findings[*at].holds).collect();
        assert_eq!(failing, [number]);
    };
    fails(0, &|pairs| pairs[3].by_file.multisets.shared += 1);
    fails(0, &|pairs| pairs[3].by_file.sets.shared += 1);
    fails(1, &|pairs| pairs[3].independent.mean += 0.05);
    fails(1, &|pairs| pairs[3].limit -= 0.05);
    fails(1, &|pairs| {
        for pair in pairs {
            pair.limit = pair.exact.similarity();
            pair.independent.mean = pair.limit;
        }
    });
    fails(2, &|pairs| pairs[3].coordinated.mean += 0.05);
    fails(3, &|pairs| pairs[3].rum[2].jaccard.seen.mean -= 0.2);
    fails(3, &|pairs| pairs[3].rum[0].dice.seen.mean += 0.4);
    fails(4, &|pairs| pairs[3].rum[1].dice.seen.spread = Some(0.9));
    fails(7, &|pairs| pairs[3].times.direct = 5100.0);
    compared[0].pairs = pairs;
    compared[0].sizes[3].letters_after += 1;
    let holds = all(&settings, &compared).into_iter().map(|finding| finding.holds);
    assert_eq!(holds.collect::<Vec<_>>(), [true, true, true, true, true, true, false, true]);
}

#[test]
fn an_exact_value_that_differs_from_the_published_one_is_named() {
    let (_, compared) = measured();
    let finding = exact(&compared);
    assert!(!finding.holds);
    assert!(finding.seen.contains("multisets of John-Luke, numbers: "), "{}", finding.seen);
    assert_eq!(finding.seen.matches(", not ").count(), 18);
}

#[test]
fn nothing_is_told_of_samples_that_are_too_small() {
    let (mut settings, compared) = measured();
    for sample in [1, 30, 99] {
        settings.sample = sample;
        let findings = all(&settings, &compared);
        assert_eq!(findings.len(), 4, "{sample}");
        assert!(findings.iter().all(|finding| finding.holds), "{sample}");
    }
}

#[test]
fn samples_of_whole_texts_are_exact() {
    let (mut settings, _) = measured();
    settings.sample = 1_000_000;
    let texts = ["one word and another", "one word and yet another"];
    let shingles = texts.map(|text| TextShingles::of(text).expect("shingles"));
    let measured =
        measure(&settings, (texts[0], texts[1]), (&shingles[0], &shingles[1]), 0, &|| Ok(()))
            .expect("measured");
    let exact = measured.exact.similarity();
    assert_eq!((measured.independent.mean, measured.coordinated.mean), (exact, exact));
    assert!(independent(&settings, &[&measured]).holds && coordinated(&[&measured]).holds);
    // Texts without shingles share nothing, and no result is NaN.
    let empty = TextShingles::of("").expect("none");
    let measured = measure(&settings, ("", texts[1]), (&empty, &shingles[1]), 0, &|| Ok(()));
    let measured = measured.expect("measured");
    assert_eq!(measured.exact, Overlap { a: 0, b: 22, shared: 0 });
    assert!(all(&settings, &[]).len() == 8 && coordinated(&[&measured]).holds);
    assert!(rum_means(&[&measured]).holds && rum_spreads(&[&measured]).holds);
}
