//! The time to fill the signature matrix, by family of hash functions, and to hash a band.
//!
//! Bergillos, Rambla, Cabeza 2018, sections 5.1 and 8.2; Vilaseca, Lacasa, Martín 2018, figure 16.

use super::fill_times::{FilledMatrix, MatrixFiller, fill};
use super::timing::{PartTimes, quartile, seconds};
use super::{
    Axis, Cell, Figure, Finding, Panel, Point, Report, Series, SeriesKind, StudyContext, Table,
};
use crate::methods::{Family, shift_xor_hash};
use std::collections::HashSet;
use std::hint::black_box;
use twindex::internals::SplitMix;
use twindex::internals::word;
use twindex::{Error, Result};

/// The sizes of shingles, in characters.
pub(super) const SIZES: std::ops::RangeInclusive<u16> = 2..=20;

/// The numbers of rows in a band.
const BAND_ROWS: std::ops::RangeInclusive<usize> = 2..=8;

#[derive(Clone, Debug)]
pub(crate) struct HashTimeSettings {
    /// The number of times everything is timed.
    pub(crate) runs: usize,
    pub(crate) hashes: usize,
    pub(crate) documents: usize,
    /// The characters of a document.
    pub(crate) characters: usize,
}

impl Default for HashTimeSettings {
    fn default() -> Self {
        Self { runs: 11, hashes: 200, documents: 10, characters: 1_000 }
    }
}

/// The times to hash bands of a number of rows, and the numbers of distinct hashes.
struct BandTimes {
    rows: usize,
    /// The times of the paper's hash and of the index.
    times: [PartTimes; 2],
    /// The distinct hashes of [`SIMILAR`] bands.
    distinct: [usize; 2],
}

/// The factor by which the growth of the time may differ from that of the number of shingles. It
/// leaves room for other processes.
const AS_FAST: f64 = 1.5;

/// The number of bands that differ only in the last two components, each one of 256 numbers.
const SIMILAR: usize = 1 << 16;

fn band(settings: &HashTimeSettings, rows: usize, seed: u64) -> BandTimes {
    let mut words = SplitMix::new(seed);
    let common: Vec<u64> = (0..rows).map(|_| words.next() % 256).collect();
    // All bands are contiguous, so that memory access does not matter.
    let mut bands = Vec::with_capacity(SIMILAR * rows);
    for last in 0..SIMILAR as u64 {
        bands.extend_from_slice(&common[..rows - 2]);
        bands.extend([last / 256, last % 256]);
    }
    let bands = bands.chunks_exact(rows);
    // A lane of the index takes a byte, and a band of them 8.
    let lanes: Vec<[u8; 8]> = bands
        .clone()
        .map(|band| std::array::from_fn(|lane| band.get(lane).map_or(0, |row| *row as u8)))
        .collect();
    let depth = rows as u32;
    let mut times = [Vec::new(), Vec::new()];
    for _ in 0..settings.runs {
        times[0].push(seconds(|| {
            bands.clone().for_each(|band| {
                black_box(shift_xor_hash(black_box(band)));
            });
        }));
        times[1].push(seconds(|| {
            lanes.iter().for_each(|lanes| {
                black_box(word(black_box(lanes), 0, depth));
            });
        }));
    }
    let hashes: HashSet<u64> = bands.map(shift_xor_hash).collect();
    let by_index: HashSet<u64> = lanes.iter().map(|lanes| word(lanes, 0, depth)).collect();
    BandTimes {
        rows,
        times: times.map(|times| PartTimes::of(vec![times])),
        distinct: [hashes.len(), by_index.len()],
    }
}

pub(crate) fn run(settings: &HashTimeSettings, context: &StudyContext<'_>) -> Result<Report> {
    let longest = usize::from(*SIZES.end());
    for (setting, got, least, expected) in [
        ("runs", settings.runs, 1, "1 or more"),
        ("documents", settings.documents, 1, "1 or more"),
        ("characters", settings.characters, longest, "at least those of the longest shingle, 20"),
    ] {
        if got < least {
            return Err(Error::InvalidSetting { setting, got: got.to_string(), expected });
        }
    }
    let total = (settings.runs + BAND_ROWS.count()) as u64;
    let filled = fill(settings, context.seed, |run| context.at(run as u64, total))?;
    let mut banded = Vec::new();
    for rows in BAND_ROWS {
        context.at((settings.runs + banded.len()) as u64, total)?;
        banded.push(band(settings, rows, context.seed));
    }
    context.at(total, total)?;
    Ok(Report {
        title: TITLE.to_owned(),
        table: short(settings, &filled, &banded),
        further: Vec::new(),
        data: long(settings, &filled, &banded),
        figure: figure(settings, &filled, &banded),
        findings: findings(settings, &filled, &banded),
    })
}

const TITLE: &str = "Time to fill the signature matrix, by family of hash functions";
const BANDERS: [&str; 2] = ["shift and xor", "the index's word"];

/// The median time of a filler over all sizes, in nanoseconds for each shingle and function.
fn nanoseconds(settings: &HashTimeSettings, filled: &[FilledMatrix], filler: MatrixFiller) -> f64 {
    let Some(at) = MatrixFiller::ALL.iter().position(|other| *other == filler) else {
        return f64::NAN;
    };
    let calls = |one: &FilledMatrix| (one.entries * settings.hashes as u64) as f64;
    let mut each: Vec<f64> =
        filled.iter().map(|one| 1e9 * one.times[at].median() / calls(one)).collect();
    each.sort_unstable_by(f64::total_cmp);
    quartile(&each, 2)
}

fn short(settings: &HashTimeSettings, filled: &[FilledMatrix], banded: &[BandTimes]) -> Table {
    let mut table =
        Table::new(&["what", "size", "milliseconds", "nanoseconds_each", "distinct_of_65536"]);
    for (at, filler) in MatrixFiller::ALL.into_iter().enumerate() {
        for one in filled.iter().filter(|one| [2, 9, 20].contains(&one.size)) {
            let time = one.times[at].median();
            table.push(vec![
                filler.name().into(),
                u64::from(one.size).into(),
                (time * 1e3).into(),
                (time * 1e9 / (one.entries * settings.hashes as u64) as f64).into(),
                Cell::Empty,
            ]);
        }
    }
    for (at, name) in BANDERS.into_iter().enumerate() {
        for one in banded.iter().filter(|one| [2, 4, 8].contains(&one.rows)) {
            let time = one.times[at].median();
            table.push(vec![
                name.into(),
                one.rows.into(),
                (time * 1e3).into(),
                (time * 1e9 / SIMILAR as f64).into(),
                one.distinct[at].into(),
            ]);
        }
    }
    table
}

fn long(settings: &HashTimeSettings, filled: &[FilledMatrix], banded: &[BandTimes]) -> Table {
    let mut table = Table::new(&[
        "what",
        "size",
        "matrix_rows",
        "calls",
        "milliseconds",
        "lower_quartile",
        "upper_quartile",
        "distinct_of_65536",
    ]);
    for one in filled {
        for (filler, times) in MatrixFiller::ALL.iter().zip(&one.times) {
            let calls = one.entries * settings.hashes as u64;
            let mut row: Vec<Cell> = vec![filler.name().into(), u64::from(one.size).into()];
            row.extend([one.rows.into(), calls.into()]);
            row.extend(times.cells(1e3));
            row.push(Cell::Empty);
            table.push(row);
        }
    }
    for one in banded {
        for (at, name) in BANDERS.into_iter().enumerate() {
            let mut row: Vec<Cell> = vec![name.into(), one.rows.into(), Cell::Empty];
            row.push(SIMILAR.into());
            row.extend(one.times[at].cells(1e3));
            row.push(one.distinct[at].into());
            table.push(row);
        }
    }
    table
}

fn figure(settings: &HashTimeSettings, filled: &[FilledMatrix], banded: &[BandTimes]) -> Figure {
    // The last filler, modular with another p, is only in the tables: more than eight lines would
    // be hard to distinguish.
    let drawn = MatrixFiller::ALL.len() - 1;
    let panel = |title: String, y: &str, factor: &dyn Fn(&FilledMatrix) -> f64| Panel {
        title,
        x: Axis::linear("shingle size (characters)").whole(),
        y: Axis::log(y),
        series: (0..drawn)
            .map(|at| {
                let point = |one: &FilledMatrix| one.times[at].point(one.size.into(), factor(one));
                Series::new(
                    MatrixFiller::ALL[at].name(),
                    SeriesKind::Line,
                    filled.iter().map(point),
                )
            })
            .collect(),
    };
    let title = format!("{} documents, {} functions", settings.documents, settings.hashes);
    let matrix = panel(title, "time (ms): median, band: quartiles", &|_| 1e3);
    let of_one = "Of a shingle and function".to_owned();
    let each = panel(of_one, "time (ns): median, band: quartiles", &|one| {
        1e9 / (one.entries * settings.hashes as u64) as f64
    });
    let banders = |title: &str, y: Axis, point: &dyn Fn(&BandTimes, usize) -> Point| Panel {
        title: title.to_owned(),
        x: Axis::linear("rows in a band").whole(),
        y,
        series: BANDERS
            .into_iter()
            .enumerate()
            .map(|(at, name)| {
                Series::new(name, SeriesKind::Line, banded.iter().map(|one| point(one, at)))
            })
            .collect(),
    };
    let time =
        banders("Hash of a band", Axis::log("time (ns): median, band: quartiles"), &|one, at| {
            one.times[at].point(one.rows as f64, 1e9 / SIMILAR as f64)
        });
    let distinct = banders(
        "65,536 bands that differ in two rows",
        Axis::linear("told apart (share)").within(0.0, 1.05),
        &|one, at| Point::new(one.rows as f64, one.distinct[at] as f64 / SIMILAR as f64),
    );
    Figure { title: TITLE.to_owned(), panels: vec![matrix, each, time, distinct] }
}

fn findings(
    settings: &HashTimeSettings,
    filled: &[FilledMatrix],
    banded: &[BandTimes],
) -> Vec<Finding> {
    let each = |filler| nanoseconds(settings, filled, filler);
    let mut printed = MatrixFiller::PRINTED.map(|filler| (each(filler), filler));
    printed.sort_by(|a, b| a.0.total_cmp(&b.0));
    let listed = printed.map(|(time, filler)| format!("{} {time:.2}", filler.name())).join(", ");
    let fastest = printed[0];
    let modular = each(MatrixFiller::Rows);
    let mut findings = vec![
        Finding::new(
            "modular is the fastest of the printed families (Bergillos and others 2018)",
            fastest.1 == MatrixFiller::Rows,
            format!(
                "the fastest is {}; ns for each shingle and function: {listed}; multiplicative in \
                 floating point {:.2}",
                fastest.1.name(),
                each(MatrixFiller::Reals),
            ),
        ),
        Finding::new(
            "modular is faster than Jenkins' mix (Vilaseca and others 2018) and Murmur3 \
             (Bergillos and others 2018)",
            modular < each(MatrixFiller::Of(Family::Jenkins))
                && modular < each(MatrixFiller::Of(Family::Murmur3)),
            format!("{listed} ns"),
        ),
        Finding::new(
            "the default sketch takes at most a fifth of the time of any other",
            MatrixFiller::ALL
                .into_iter()
                .filter(|filler| *filler != MatrixFiller::Of(Family::Default))
                .all(|filler| each(filler) >= 5.0 * each(MatrixFiller::Of(Family::Default))),
            format!(
                "{:.4} ns for each shingle and function, {} {:.2}",
                each(MatrixFiller::Of(Family::Default)),
                fastest.1.name(),
                fastest.0
            ),
        ),
    ];
    if let (Some(first), Some(last)) = (filled.first(), filled.last()) {
        let ratio = last.times[0].median() / first.times[0].median();
        let entries = last.entries as f64 / first.entries as f64;
        findings.push(Finding::new(
            "the time grows with the size of shingles, as their number does",
            entries > 1.0 && (1.0 / AS_FAST..=AS_FAST).contains(&(ratio / entries)),
            format!(
                "from {} to {} characters, {entries:.2} times the shingles take {ratio:.2} times \
                 the time of modular",
                first.size, last.size
            ),
        ));
    }
    let told = |at: usize| banded.iter().map(|one| one.distinct[at]).max().unwrap_or(0);
    findings.push(Finding::new(
        "the index distinguishes all bands, shift and xor less than half of bands that differ in \
         two small numbers",
        banded.iter().all(|one| one.distinct[1] == SIMILAR) && told(0) * 2 < SIMILAR,
        format!(
            "shift and xor distinguishes at most {} of {SIMILAR}, the index {}",
            told(0),
            told(1)
        ),
    ));
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks only what does not depend on the machine and on optimisation.
    #[test]
    fn every_family_and_size_is_timed_and_hashes_of_bands_are_counted() {
        let settings = HashTimeSettings { runs: 1, hashes: 2, documents: 2, characters: 100 };
        let report = run(&settings, &StudyContext::unwatched(1)).expect("valid settings");
        assert_eq!(report.data.rows.len(), 19 * 9 + 7 * 2);
        assert_eq!(report.table.rows.len(), 3 * 9 + 3 * 2);
        assert_eq!(report.figure.panels.len(), 4);
        let points = report.figure.panels.iter().flat_map(|panel| &panel.series);
        assert!(points.flat_map(|series| &series.points).all(|point| point.y > 0.0));
        assert!(report.findings[4].holds, "{}", report.findings[4].seen);
    }

    /// A Python program counted 16,711 hashes of all pairs of numbers below 256.
    #[test]
    fn bands_of_two_have_the_distinct_hashes_of_another_program() {
        let settings = HashTimeSettings { runs: 1, ..HashTimeSettings::default() };
        let banded = band(&settings, 2, 3);
        assert_eq!(banded.distinct, [16_711, SIMILAR]);
    }

    #[test]
    fn settings_without_any_work_are_refused() {
        for settings in [
            HashTimeSettings { runs: 0, ..HashTimeSettings::default() },
            HashTimeSettings { hashes: 0, ..HashTimeSettings::default() },
            HashTimeSettings { documents: 0, ..HashTimeSettings::default() },
            HashTimeSettings { characters: 9, ..HashTimeSettings::default() },
        ] {
            assert!(run(&settings, &StudyContext::unwatched(0)).is_err(), "{settings:?}");
        }
    }
}
