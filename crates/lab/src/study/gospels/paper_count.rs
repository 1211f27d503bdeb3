//! The count of common shingles, Kc, and the similarity that it gives (Dembele, Lo 2015, tables 5
//! and 6).

use super::pair_measurements::MeasuredPair;
use super::paper_values::{COMMON, DIRECT, PaperSize, SIZES};
use super::{GospelsSettings, MeasuredTranslation, name};
use crate::study::gospel_texts::{NAMES, PAIRS};
use crate::study::{Cell, Finding, Table};

/// Kc / (n1 + n2 - Kc): the similarity of two multisets of n1 and n2 shingles that share Kc.
fn by_count(common: u64, n1: u64, n2: u64) -> f64 {
    match (n1 + n2).checked_sub(common) {
        None | Some(0) => 0.0,
        Some(union) => common as f64 / union as f64,
    }
}

/// The similarities of all pairs if a text of n letters has n - `less` shingles.
fn all_by_count(common: &[u64; 6], letters: [u64; 4], less: u64) -> [f64; 6] {
    std::array::from_fn(|pair| {
        let (a, b) = PAIRS[pair];
        let shingles = |text: usize| letters[text].saturating_sub(less);
        by_count(common[pair], shingles(a), shingles(b))
    })
}

/// A row for each text, with the paper's sizes beside those of the texts of its language.
pub(super) fn sizes(all: &[MeasuredTranslation]) -> Table {
    let mut table = Table::new(&[
        "text",
        "gospel",
        "rows_before",
        "rows_after",
        "letters_before",
        "letters_after",
        "shingles",
        "paper_rows",
        "paper_before",
        "paper_after",
    ]);
    for compared in all {
        for ((gospel, size), paper) in NAMES.into_iter().zip(&compared.sizes).zip(SIZES) {
            let french = compared.translation.language == "French";
            let reported = |count: u64| if french { count.into() } else { Cell::Empty };
            table.push(vec![
                compared.translation.name.into(),
                gospel.into(),
                size.rows_before.into(),
                size.rows_after.into(),
                size.letters_before.into(),
                size.letters_after.into(),
                size.shingles().into(),
                reported(paper.rows),
                reported(paper.letters_before),
                reported(paper.letters_after),
            ]);
        }
    }
    table
}

/// A row for each pair of the paper and of each translation.
pub(super) fn counts(all: &[MeasuredTranslation]) -> Table {
    let mut table = Table::new(&[
        "text",
        "pair",
        "common",
        "shingles_a",
        "shingles_b",
        "by_count",
        "reported",
        "n_is_letters",
        "difference",
    ]);
    let mut rows = |text: &str, common: &[u64; 6], letters: [u64; 4], reported: [f64; 6]| {
        let (right, other) = (all_by_count(common, letters, 2), all_by_count(common, letters, 0));
        for (pair, (a, b)) in PAIRS.into_iter().enumerate() {
            table.push(vec![
                text.into(),
                name(pair).into(),
                common[pair].into(),
                letters[a].saturating_sub(2).into(),
                letters[b].saturating_sub(2).into(),
                Cell::Share(right[pair]),
                Cell::Share(reported[pair]),
                Cell::Share(other[pair]),
                (other[pair] - right[pair]).into(),
            ]);
        }
    };
    let reported = DIRECT.map(|cell| cell.percent / 100.0);
    rows("in the paper", &COMMON, SIZES.map(|size| size.letters_after), reported);
    for compared in all {
        let of_pair = |value: fn(&MeasuredPair) -> f64| {
            std::array::from_fn(|pair| compared.pairs.get(pair).map_or(f64::NAN, value))
        };
        let common = of_pair(|pair| pair.exact.shared as f64).map(|shared| shared as u64);
        let exact = of_pair(|pair| pair.exact.similarity());
        rows(compared.translation.name, &common, letters(compared), exact);
    }
    table
}

fn letters(compared: &MeasuredTranslation) -> [u64; 4] {
    std::array::from_fn(|text| compared.sizes.get(text).map_or(0, |size| size.letters_after))
}

/// The findings on the paper's count and on that of the texts.
pub(super) fn findings(settings: &GospelsSettings, all: &[MeasuredTranslation]) -> [Finding; 2] {
    let distinct = |pair: &MeasuredPair| pair.sets.a.max(pair.sets.b);
    let distinct = all.iter().flat_map(|compared| &compared.pairs).map(distinct).max();
    // Only the built-in texts are in the alphabet of the paper.
    let distinct = distinct.filter(|_| settings.folder.is_none());
    [paper_count(&COMMON, &SIZES, distinct), own_count(all)]
}

/// Whether the printed count gives the printed similarities, to the hundredth of a percent.
/// `distinct` is the greatest number of distinct shingles of a text in this language.
fn paper_count(common: &[u64; 6], sizes: &[PaperSize; 4], distinct: Option<u64>) -> Finding {
    let letters = sizes.map(|size| size.letters_after);
    let percent = |less: u64| {
        all_by_count(common, letters, less).map(|share| format!("{:.2}", 100.0 * share))
    };
    let reported = DIRECT.map(|cell| format!("{:.2}", cell.percent));
    let differing = |less: u64| {
        let got = percent(less);
        (0..got.len()).filter(|pair| got[*pair] != reported[*pair]).count()
    };
    let least = common.iter().min().copied().unwrap_or(0);
    let mut seen = format!(
        "{} %, {} of 6 differ; with n = letters {} %, {} differ, and with n = letters - 1 {}",
        percent(2).join(", "),
        differing(2),
        percent(0).join(", "),
        differing(0),
        differing(1),
    );
    if let Some(distinct) = distinct {
        seen += &format!(
            "; Kc is {least} or more, where no text has more than {distinct} distinct shingles"
        );
    }
    Finding::new(
        "Kc / (n1 + n2 - Kc) with n = letters - 2 gives the paper's six similarities, so it counts \
         occurrences",
        differing(2) == 0 && distinct.is_none_or(|distinct| least > distinct),
        seen,
    )
}

/// Whether the count of letters gives the similarities of the multisets of the texts.
fn own_count(all: &[MeasuredTranslation]) -> Finding {
    let (mut equal, mut pairs, mut furthest) = (0, 0, 0.0_f64);
    for compared in all {
        let letters = letters(compared);
        for (measured, (a, b)) in compared.pairs.iter().zip(PAIRS) {
            let exact = &measured.exact;
            let (n1, n2) = (letters[a].saturating_sub(2), letters[b].saturating_sub(2));
            let similarity = by_count(exact.shared, n1, n2);
            pairs += 1;
            equal +=
                usize::from((n1, n2) == (exact.a, exact.b) && similarity == exact.similarity());
            let other = by_count(exact.shared, letters[a], letters[b]);
            furthest = furthest.max(similarity - other);
        }
    }
    Finding::new(
        "a text here has two shingles fewer than letters, and the same formula gives its exact \
         similarity",
        equal == pairs,
        format!("{equal} of {pairs} pairs; with n = letters up to {furthest:.6} less"),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_printed_similarities_follow_from_the_printed_counts_and_from_no_others() {
        let finding = paper_count(&COMMON, &SIZES, Some(3_146));
        assert!(finding.holds, "{}", finding.seen);
        assert!(finding.seen.starts_with("57.62, 57.53, 51.00, 54.12, 69.55, 48.74 %, 0 of 6"));
        let without_end = "57.62, 57.52, 51.00, 54.11, 69.55, 48.73 %, 3 differ, and with \
                           n = letters - 1 1;";
        assert!(finding.seen.contains(without_end), "{}", finding.seen);
        let mut other = COMMON;
        other[3] += 20;
        assert!(!paper_count(&other, &SIZES, None).holds);
        let mut longer = SIZES;
        longer[2].letters_after += 10;
        assert!(!paper_count(&COMMON, &longer, None).holds);
        assert!(!paper_count(&COMMON, &SIZES, Some(45_600)).holds, "sets could share as much");
    }

    /// Marries equal shingles of two small texts one by one, as the paper describes.
    #[test]
    fn the_formula_is_the_similarity_of_married_shingles() {
        let shingles = |text: &str| {
            let letters: Vec<char> = text.chars().collect();
            letters.windows(3).map(<[char]>::to_vec).collect::<Vec<_>>()
        };
        let (a, b) = ("abababcab", "babcabab and");
        let (first, mut single) = (shingles(a), shingles(b));
        let (n1, n2) = (first.len(), single.len());
        let mut couples = 0;
        for shingle in &first {
            if let Some(at) = single.iter().position(|other| other == shingle) {
                single.swap_remove(at);
                couples += 1;
            }
        }
        let union = n1 + single.len();
        assert_eq!((n1, n2), (a.len() - 2, b.len() - 2));
        let got = by_count(couples, n1 as u64, n2 as u64);
        assert_eq!(got, couples as f64 / union as f64);
        assert_eq!(by_count(0, 0, 0), 0.0);
    }
}
