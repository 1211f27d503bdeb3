//! Characteristic and signature matrices of small examples, cell by cell, for teaching.
//!
//! Vilaseca, Lacasa, Martín 2018, section 4; Bergillos, Rambla, Cabeza 2018, sections 2 and 5.3;
//! Dembele, Lo 2015, section 5.3.1; Dembele, Lo 2017, section 2.

mod examples;
mod findings;
mod tables;
mod toy_matrix;

use super::text_file::text_of;
use super::{Report, StudyContext};
use crate::methods::AffineMaps;
use examples::SourceMatrix;
use std::path::PathBuf;
use toy_matrix::ToyMatrix;
use twindex::internals::SplitMix;
use twindex::{Error, Result};

/// The most rows of a matrix that is still read by people.
const MOST_ROWS: usize = 1_000;

/// The number of functions over which the figure draws the estimates.
const DRAWN: usize = 100;

#[derive(Clone, Debug)]
pub(crate) struct MatrixSettings {
    /// The texts to shingle; by default the examples of the sources.
    pub(crate) texts: Vec<String>,
    /// Files of further texts.
    pub(crate) files: Vec<PathBuf>,
    /// The characters of a shingle, at least 1.
    pub(crate) shingle: usize,
    /// The number of functions of a signature, from 1 to [`DRAWN`].
    pub(crate) functions: usize,
}

impl Default for MatrixSettings {
    fn default() -> Self {
        Self { texts: Vec::new(), files: Vec::new(), shingle: 2, functions: 4 }
    }
}

/// A matrix with its functions and its signatures.
struct SignedMatrix {
    source: SourceMatrix,
    /// Permutations of the rows. The first of them are printed, all are drawn.
    maps: AffineMaps,
    /// The least value of each map, in the order of the maps, for each set.
    signatures: Vec<Vec<Option<u64>>>,
    /// The number of functions that are printed.
    printed: usize,
}

impl SignedMatrix {
    fn matrix(&self) -> &ToyMatrix {
        &self.source.matrix
    }

    /// The number of the first `functions` functions with equal minima. An empty set has none.
    fn equal(&self, a: usize, b: usize, functions: usize) -> u64 {
        let rows = self.signatures.iter().take(functions);
        rows.filter(|row| row[a].is_some() && row[a] == row[b]).count() as u64
    }

    /// The name of a function with its formula.
    fn formula(&self, map: usize) -> String {
        let (x, y) = self.maps.pairs().get(map).copied().unwrap_or_default();
        format!("z{}(i) = {x} i + {y} mod {}", map + 1, self.maps.rows())
    }
}

pub(crate) fn run(settings: &MatrixSettings, context: &StudyContext<'_>) -> Result<Report> {
    let mut texts = settings.texts.clone();
    for path in &settings.files {
        texts.push(text_of(path, "reading a text for the matrix")?);
    }
    let is_given = !texts.is_empty();
    let sources = if is_given { vec![given(settings, &texts)?] } else { examples::all() };
    if !(1..=DRAWN).contains(&settings.functions) {
        let got = settings.functions.to_string();
        return Err(Error::InvalidSetting {
            setting: "functions",
            got,
            expected: "a whole number from 1 to 100",
        });
    }
    let mut seeds = SplitMix::new(context.seed);
    let mut all = Vec::new();
    let total = sources.len() as u64;
    for source in sources {
        context.at(all.len() as u64, total)?;
        let rows = source.matrix.elements.len() as u64;
        let maps = AffineMaps::units(DRAWN, rows, seeds.next())?;
        let signatures = source.matrix.signatures(&maps);
        all.push(SignedMatrix { source, maps, signatures, printed: settings.functions });
    }
    context.at(total, total)?;
    let title = "Characteristic and signature matrices";
    Ok(Report {
        title: title.to_owned(),
        table: tables::pairs(&all),
        further: tables::matrices(&all),
        data: tables::cells(&all),
        figure: tables::figure(&all, title),
        findings: findings::all(&all, !is_given)?,
    })
}

/// The matrix of the given texts.
fn given(settings: &MatrixSettings, texts: &[String]) -> Result<SourceMatrix> {
    let invalid = |setting, got: usize, expected| Error::InvalidSetting {
        setting,
        got: got.to_string(),
        expected,
    };
    if !(2..=20).contains(&texts.len()) {
        return Err(invalid("texts", texts.len(), "2 to 20, one for each column"));
    }
    if settings.shingle == 0 {
        return Err(invalid("shingle", 0, "1 character or more"));
    }
    // A longer text has more rows than a matrix may have, or repeats itself for no use.
    let longest = texts.iter().map(String::len).max().unwrap_or(0);
    if longest > 100 * MOST_ROWS {
        return Err(invalid("bytes of a text", longest, "at most 100000, for a matrix to read"));
    }
    let matrix = ToyMatrix::of_texts("texts", texts, settings.shingle);
    match matrix.elements.len() {
        0 => Err(invalid("shingles", 0, "texts at least as long as a shingle")),
        rows if rows > MOST_ROWS => {
            Err(invalid("rows", rows, "at most 1000; give shorter texts or shingles"))
        }
        _ => Ok(SourceMatrix { matrix, printed: &[] }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::study::Cell;

    fn study(settings: &MatrixSettings, seed: u64) -> Report {
        run(settings, &StudyContext::unwatched(seed)).expect("valid settings")
    }

    #[test]
    fn all_findings_hold_under_any_seed() {
        for seed in 0..5 {
            let report = study(&MatrixSettings::default(), seed);
            assert_eq!(report.findings.len(), 7);
            for finding in &report.findings {
                assert!(finding.holds, "{}: {}", finding.expected, finding.seen);
            }
        }
    }

    #[test]
    fn given_texts_have_their_matrix_and_its_signatures() {
        let texts = ["the cat", "the hat"].map(str::to_owned).to_vec();
        let settings = MatrixSettings { texts, shingle: 3, functions: 5, ..Default::default() };
        let report = study(&settings, 3);
        assert_eq!(report.findings.len(), 3);
        assert!(report.findings.iter().all(|finding| finding.holds));
        // the, he_, e_c, _ca, cat; the, he_, e_h, _ha, hat: 2 of 8 are common.
        assert_eq!(report.table.rows[0][7], Cell::Share(0.25));
        let [(_, characteristic), (_, signature)] = &report.further[..] else { panic!("two") };
        assert_eq!(characteristic.rows.len(), 8);
        assert_eq!(signature.rows.len(), 5);
        assert_eq!(report.data.rows.len(), 8 * (2 + 5) + 5 * 2);
        assert_eq!(characteristic.rows[2][2..5], ["e c".into(), 1_u64.into(), 0_u64.into()]);
    }

    #[test]
    fn invalid_settings_are_refused() {
        let texts = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect();
        let default = MatrixSettings::default;
        for (settings, said) in [
            (MatrixSettings { texts: texts(&["one"]), ..default() }, "texts 1: expected 2 to 20"),
            (MatrixSettings { texts: texts(&["a", "b"]), ..default() }, "as long as a shingle"),
            (MatrixSettings { functions: 101, ..default() }, "from 1 to 100"),
            (MatrixSettings { files: vec!["no/such".into()], ..default() }, "no/such"),
            (MatrixSettings { texts: texts(&["ab", "b"]), shingle: 0, ..default() }, "shingle 0"),
        ] {
            let error = run(&settings, &StudyContext::unwatched(0)).err().expect("refused");
            assert!(error.to_string().contains(said), "{error}");
        }
    }
}
