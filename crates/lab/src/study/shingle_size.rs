//! Similarity of random orders of one text over the size of shingles (Vilaseca, Lacasa,
//! Martín 2018, section 7.1.1; Bergillos, Rambla, Cabeza 2018, section 8.1, figure 2).

use super::random_texts::{FIFTY_WORDS, random_order};
use super::text_file::text_of;
use super::{
    Axis, Cell, Figure, Finding, Panel, Point, Report, Series, SeriesKind, StudyContext, Table,
};
use std::path::PathBuf;
use twindex::Overlap;
use twindex::internals::SplitMix;
use twindex::{Error, Result};
use twindex::{Normalization, Shingle, Shingler, Whitespace};

const TITLE: &str = "Similarity of random orders of one text over the size of shingles";

/// The settings of the study.
#[derive(Clone, Debug)]
pub(crate) struct ShingleSizeSettings {
    /// The text file; by default fifty words of lorem ipsum.
    pub(crate) text: Option<PathBuf>,
    /// The number of random orders, at least 2.
    pub(crate) orders: usize,
    /// The greatest number of characters of a shingle, at least 1.
    pub(crate) widest: u16,
}

impl Default for ShingleSizeSettings {
    fn default() -> Self {
        Self { text: None, orders: 20, widest: 20 }
    }
}

/// The forms of the text, with their normalisation.
const FORMS: [(&str, Normalization); 3] = [
    ("with spaces", FOLDED),
    ("without spaces", Normalization { whitespace: Whitespace::Drop, ..FOLDED }),
    ("with spaces, case kept", Normalization { lower: false, ..FOLDED }),
];

const FOLDED: Normalization =
    Normalization { lower: true, whitespace: Whitespace::Fold, ..Normalization::NONE };

/// The similarities of all pairs at one size of shingles, summarised.
#[derive(Clone, Copy, Debug, PartialEq)]
struct SimilaritySpread {
    mean: f64,
    deviation: f64,
    least: f64,
    greatest: f64,
}

impl SimilaritySpread {
    fn of(values: &[f64]) -> Self {
        let count = values.len() as f64;
        let mean = values.iter().sum::<f64>() / count;
        let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
        Self {
            mean,
            deviation: (squares / (count - 1.0).max(1.0)).sqrt(),
            least: values.iter().copied().fold(f64::INFINITY, f64::min),
            greatest: values.iter().copied().fold(0.0, f64::max),
        }
    }
}

pub(crate) fn run(settings: &ShingleSizeSettings, context: &StudyContext<'_>) -> Result<Report> {
    let texts = orders(settings, context.seed)?;
    let mut curves = Vec::new();
    for (form, (_, normalization)) in FORMS.iter().enumerate() {
        let mut curve = Vec::new();
        for width in 1..=settings.widest {
            let done = form as u64 * u64::from(settings.widest) + u64::from(width - 1);
            let total = FORMS.len() as u64 * u64::from(settings.widest);
            let go_on = || context.at(done, total);
            curve.push(SimilaritySpread::of(&similarities(&texts, width, *normalization, &go_on)?));
        }
        curves.push(curve);
    }
    Ok(report(&curves, texts.len()))
}

fn orders(settings: &ShingleSizeSettings, seed: u64) -> Result<Vec<String>> {
    let invalid =
        |setting, got: String, expected| Err(Error::InvalidSetting { setting, got, expected });
    if settings.orders < 2 {
        return invalid("orders", settings.orders.to_string(), "at least 2, which make a pair");
    }
    let text = match &settings.text {
        None => FIFTY_WORDS.to_owned(),
        Some(path) => text_of(path, "reading the text whose words are put into random orders")?,
    };
    if text.split_whitespace().nth(1).is_none() {
        return invalid("text", "of fewer than two words".to_owned(), "words to put into an order");
    }
    let mut random = SplitMix::new(seed);
    Ok((0..settings.orders).map(|_| random_order(&text, &mut random)).collect())
}

/// The similarities of all pairs of texts, by sets of shingles of `width` characters.
fn similarities(
    texts: &[String],
    width: u16,
    normalization: Normalization,
    go_on: &dyn Fn() -> Result<()>,
) -> Result<Vec<f64>> {
    let shingler = Shingler::new(Shingle::chars(width), normalization, false, 0)?;
    let set = |text: &String| {
        let mut hashes = shingler.hashes(text);
        hashes.sort_unstable();
        hashes.dedup();
        hashes
    };
    let sets: Vec<Vec<u64>> = texts.iter().map(set).collect();
    let mut similarities = Vec::new();
    for (at, a) in sets.iter().enumerate() {
        go_on()?;
        similarities.extend(sets[..at].iter().map(|b| Overlap::of_sets(a, b).similarity()));
    }
    Ok(similarities)
}

fn report(curves: &[Vec<SimilaritySpread>], orders: usize) -> Report {
    let pairs = orders * (orders - 1) / 2;
    let columns = ["shingle", "with_spaces", "least", "greatest", "without_spaces", "case_kept"];
    let mut table = Table::new(&columns);
    let mut data =
        Table::new(&["form", "shingle", "pairs", "mean", "deviation", "least", "greatest"]);
    for (at, spread) in curves[0].iter().enumerate() {
        let mut row = vec![Cell::from(at + 1)];
        let shares =
            [spread.mean, spread.least, spread.greatest, curves[1][at].mean, curves[2][at].mean];
        row.extend(shares.map(Cell::Share));
        table.push(row);
    }
    for ((name, _), curve) in FORMS.iter().zip(curves) {
        for (at, s) in curve.iter().enumerate() {
            let mut row = vec![Cell::from(*name), Cell::from(at + 1), Cell::from(pairs)];
            row.extend([s.mean, s.deviation, s.least, s.greatest].map(Cell::Number));
            data.push(row);
        }
    }
    Report {
        title: format!("{TITLE}: {pairs} pairs of {orders} orders"),
        table,
        further: Vec::new(),
        data,
        figure: figure(curves, pairs),
        findings: findings(curves),
    }
}

fn figure(curves: &[Vec<SimilaritySpread>], pairs: usize) -> Figure {
    let series = FORMS.iter().zip(curves).enumerate().map(|(form, ((name, _), curve))| {
        // The third line lies on the first, and its band would hide both.
        let points = curve.iter().enumerate().map(move |(at, s)| match form {
            2 => Point::new((at + 1) as f64, s.mean),
            _ => Point::spread((at + 1) as f64, s.mean, s.least, s.greatest),
        });
        Series::new(*name, if form == 2 { SeriesKind::Dashed } else { SeriesKind::Line }, points)
    });
    let panel = Panel {
        title: format!("Mean of {pairs} pairs; bands from the least to the greatest"),
        x: Axis::linear("characters of a shingle").whole(),
        y: Axis::linear("Jaccard's similarity").within(0.0, 1.0),
        series: series.collect(),
    };
    Figure { title: TITLE.to_owned(), panels: vec![panel] }
}

/// The statements of Vilaseca and others 2018, section 7.1.1, and Bergillos and others 2018,
/// section 8.1, for the measured numbers of characters.
fn findings(curves: &[Vec<SimilaritySpread>]) -> Vec<Finding> {
    let (spaced, bare) = (&curves[0], &curves[1]);
    let mut findings = Vec::new();
    findings.push(Finding::new(
        "shingles of 1 character: similarity 1, or nearly",
        [spaced, bare].iter().all(|curve| curve[0].mean > 0.99),
        format!("{:.4} with spaces, {:.4} without", spaced[0].mean, bare[0].mean),
    ));
    if spaced.len() > 1 {
        findings.push(falls(spaced, bare));
        findings.push(falls_sooner(spaced, bare));
    }
    if let Some(nine) = spaced.get(8) {
        findings.push(Finding::new(
            "shingles of 9 characters: similarity below 0.1 in the mean",
            nine.mean < 0.1,
            format!("mean {:.4}, from {:.4} to {:.4}", nine.mean, nine.least, nine.greatest),
        ));
    }
    if let Some(thirteen) = spaced.get(12) {
        findings.push(Finding::new(
            "past 12 characters: similarity below 0.02",
            spaced[12..].iter().all(|spread| spread.mean < 0.02),
            format!("mean {:.4} at 13, greatest of a pair {:.4}", thirteen.mean, thirteen.greatest),
        ));
    }
    findings
}

/// The finding that the mean falls from each number of characters to the next.
fn falls(spaced: &[SimilaritySpread], bare: &[SimilaritySpread]) -> Finding {
    let rises = |curve: &[SimilaritySpread]| {
        let steps = curve.windows(2).enumerate();
        steps.filter(|(_, w)| w[1].mean > w[0].mean).map(|(at, _)| at + 2).collect::<Vec<_>>()
    };
    let (rises, bare_rises) = (rises(spaced), rises(bare));
    Finding::new(
        "the mean falls with every character",
        rises.is_empty() && bare_rises.is_empty(),
        match (rises.is_empty(), bare_rises.is_empty()) {
            (true, true) => "it never rises".to_owned(),
            _ => format!("it rises at {rises:?} with spaces, at {bare_rises:?} without"),
        },
    )
}

/// The finding that the mean without spaces is lower. At 1 character both are 1, and past 12 both
/// are about 0.
fn falls_sooner(spaced: &[SimilaritySpread], bare: &[SimilaritySpread]) -> Finding {
    let both = || spaced.iter().zip(bare);
    let above: Vec<usize> = both()
        .enumerate()
        .filter(|(_, (spaced, bare))| bare.mean > spaced.mean)
        .map(|(at, _)| at + 1)
        .collect();
    let range = 1..spaced.len().min(12);
    let holds = range.clone().all(|at| bare[at].mean < spaced[at].mean);
    let gap = both().map(|(s, b)| s.mean - b.mean).enumerate();
    let (at, gap) = gap.fold((0, 0.0), |most, next| if next.1 > most.1 { next } else { most });
    Finding::new(
        "without spaces it falls sooner, from 2 characters to 12",
        holds,
        if above.is_empty() {
            format!("never higher; lower by up to {gap:.4}, at {}", at + 1)
        } else {
            format!("higher at {above:?}; lower by up to {gap:.4}, at {}", at + 1)
        },
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    fn study(settings: &ShingleSizeSettings) -> Report {
        run(settings, &StudyContext::unwatched(1)).expect("valid settings")
    }

    #[test]
    fn all_findings_hold_under_any_seed() {
        for seed in 0..2 {
            let report = run(&ShingleSizeSettings::default(), &StudyContext::unwatched(seed))
                .expect("valid settings");
            assert_eq!(report.findings.len(), 5);
            for finding in &report.findings {
                assert!(finding.holds, "{}: {}", finding.expected, finding.seen);
            }
            assert_eq!((report.table.rows.len(), report.data.rows.len()), (20, 60));
        }
    }

    /// Compares sets of strings, without hashes.
    #[test]
    fn similarities_agree_with_sets_of_substrings() {
        let texts = ["ab cab abba", "abba ab cab", "cab\tAB Abba"].map(str::to_owned);
        let set = |text: &str, width: usize| {
            let chars: Vec<char> = text.chars().collect();
            chars.windows(width).map(|w| w.iter().collect()).collect::<BTreeSet<String>>()
        };
        for (form, width) in [(0, 1), (0, 3), (1, 2), (1, 4), (2, 3)] {
            let prepared = texts.clone().map(|text| match form {
                0 => text.replace('\t', " ").to_lowercase(),
                1 => text.replace(['\t', ' '], "").to_lowercase(),
                _ => text.replace('\t', " "),
            });
            let sets = prepared.map(|text| set(&text, width));
            let jaccard = |a: usize, b: usize| {
                let shared = sets[a].intersection(&sets[b]).count();
                shared as f64 / sets[a].union(&sets[b]).count() as f64
            };
            let expected = [jaccard(1, 0), jaccard(2, 0), jaccard(2, 1)];
            let got = similarities(&texts, width as u16, FORMS[form].1, &|| Ok(()));
            let got = got.expect("a valid width");
            assert_eq!(got, expected, "{} {width}", FORMS[form].0);
        }
    }

    #[test]
    fn findings_fail_for_a_text_whose_orders_are_all_the_same() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = folder.path().join("same.txt");
        std::fs::write(&path, "so ".repeat(50)).expect("written");
        let report =
            study(&ShingleSizeSettings { text: Some(path), ..ShingleSizeSettings::default() });
        let holds: Vec<bool> = report.findings.iter().map(|finding| finding.holds).collect();
        // All orders are the same text, so all similarities are 1.
        assert_eq!(holds, [true, true, false, false, false]);
    }

    #[test]
    fn invalid_settings_are_refused() {
        let one = ShingleSizeSettings { orders: 1, ..ShingleSizeSettings::default() };
        let missing = ShingleSizeSettings {
            text: Some("no/such.txt".into()),
            ..ShingleSizeSettings::default()
        };
        for (settings, message) in
            [(one, "orders 1: expected at least 2"), (missing, "no/such.txt")]
        {
            let error =
                run(&settings, &StudyContext::unwatched(0)).err().expect("refused").to_string();
            assert!(error.contains(message), "{error}");
        }
    }
}
