//! Time to fill the signature matrix, by family of hash functions, and to hash a band.
//!
//! Bergillos, Rambla, Cabeza 2018, sections 5.1 and 8.2; Vilaseca, Lacasa, Martín 2018, figure 16.

use super::matrix::{Keys, Shingled};
use super::{Axis, Cell, Figure, Finding, Kind, Panel, Point, Report, Series, Table, Work};
use crate::error::{Error, Result};
use crate::hash::SplitMix;
use crate::lsh::word;
use crate::methods::{Family, HashFunction, MinHash, minima, shift_xor_hash};
use std::collections::HashSet;
use std::hint::black_box;
use std::time::Instant;

/// Sizes of shingles, in characters.
const SIZES: std::ops::RangeInclusive<u16> = 2..=20;

/// Rows in a band.
const BAND_ROWS: std::ops::RangeInclusive<usize> = 2..=8;

#[derive(Clone, Debug)]
pub(crate) struct Settings {
    /// How often everything is timed.
    pub(crate) runs: usize,
    pub(crate) hashes: usize,
    pub(crate) documents: usize,
    /// Characters of a document.
    pub(crate) characters: usize,
}

impl Default for Settings {
    fn default() -> Self {
        Self { runs: 5, hashes: 200, documents: 10, characters: 1_000 }
    }
}

/// What fills the matrix.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Filler {
    /// (a x + b) mod p, p the least prime that is not below the number of rows: as printed.
    Rows,
    /// Modular is that of 2^61 - 1.
    Of(Family),
    /// floor(m frac(x A)) in floating point, as the formula reads.
    Reals,
}

impl Filler {
    const ALL: [Filler; 9] = [
        Filler::Rows,
        Filler::Of(Family::Jenkins),
        Filler::Of(Family::Multiplicative),
        Filler::Of(Family::Murmur3),
        Filler::Of(Family::Tabulation),
        Filler::Of(Family::Xxh3),
        Filler::Of(Family::Default),
        Filler::Reals,
        Filler::Of(Family::Modular),
    ];

    /// Those of the sources.
    const PRINTED: [Filler; 4] = [
        Filler::Rows,
        Filler::Of(Family::Jenkins),
        Filler::Of(Family::Multiplicative),
        Filler::Of(Family::Murmur3),
    ];

    fn name(self) -> &'static str {
        match self {
            Filler::Rows => "modular",
            Filler::Of(Family::Modular) => "modular, p = 2^61 - 1",
            Filler::Of(family) => family.name(),
            Filler::Reals => "multiplicative, in reals",
        }
    }

    fn drawn(self, rows: u64, hashes: usize, seed: u64) -> Result<Functions> {
        Ok(match self {
            // Rows count from 1, so that the last is below p.
            Filler::Rows => Functions::Exact(MinHash::of_rows(rows + 1, hashes, seed)?),
            Filler::Of(family) => Functions::Exact(MinHash::new(family, hashes, seed)?),
            Filler::Reals => {
                let mut words = SplitMix::new(seed);
                // A multiple of 2^-53 below 1.
                let mut constant = || (words.next() >> 11) as f64 / (1_u64 << 53) as f64;
                Functions::Reals((0..hashes).map(|_| InReals { constant: constant() }).collect())
            }
        })
    }
}

/// The functions of a filler.
enum Functions {
    Exact(MinHash),
    Reals(Vec<InReals>),
}

/// floor(m frac(x A)) with m = 2^32, for rows: 32 of the 53 bits of a number are left.
struct InReals {
    constant: f64,
}

impl HashFunction for InReals {
    #[inline(always)]
    fn hash(&self, key: u64) -> u64 {
        let product = key as f64 * self.constant;
        ((product - product.floor()) * 4_294_967_296.0) as u64
    }
}

impl Functions {
    fn signature(&self, rows: &[u64]) -> Option<Vec<u64>> {
        match self {
            Functions::Exact(functions) => functions.signature(rows),
            Functions::Reals(functions) => minima(functions, rows),
        }
    }
}

/// Times of one thing, in seconds, ascending.
struct Times(Vec<f64>);

impl Times {
    fn of(mut seconds: Vec<f64>) -> Self {
        seconds.sort_unstable_by(f64::total_cmp);
        Self(seconds)
    }

    fn median(&self) -> f64 {
        self.0.get(self.0.len() / 2).copied().unwrap_or(f64::NAN)
    }

    fn point(&self, x: f64, factor: f64) -> Point {
        let end = |time: Option<&f64>| time.map_or(f64::NAN, |time| time * factor);
        Point::spread(x, self.median() * factor, end(self.0.first()), end(self.0.last()))
    }

    fn cells(&self, factor: f64) -> [Cell; 3] {
        let end = |time: Option<&f64>| time.map_or(Cell::Empty, |time| (time * factor).into());
        [(self.median() * factor).into(), end(self.0.first()), end(self.0.last())]
    }
}

/// A matrix of documents, each by the rows that it has, with the times to fill the signature matrix of each
/// filler.
struct Filled {
    size: u16,
    rows: u64,
    /// Rows of all documents, one document after the other: the ones in the matrix.
    entries: u64,
    times: Vec<Times>,
}

/// Times of hashing bands of so many rows, and how many of the similar bands are told apart.
struct Banded {
    rows: usize,
    /// Of a band, by the hash of the source and by the index.
    times: [Times; 2],
    /// Among [`SIMILAR`] distinct bands.
    distinct: [usize; 2],
}

/// Bands that are equal but for the last two components, of which each is any of 256 numbers.
const SIMILAR: usize = 1 << 16;

fn seconds(work: impl FnOnce()) -> f64 {
    let begun = Instant::now();
    work();
    begun.elapsed().as_secs_f64()
}

fn fill(settings: &Settings, size: u16, seed: u64) -> Result<Filled> {
    let text = Shingled::new(size, settings.documents * settings.characters)?;
    let (keys, rows) = text.keys(Keys::Alphabetical);
    let documents: Vec<Vec<u64>> = keys
        .chunks(settings.characters)
        .map(|keys| {
            let mut rows = keys.to_vec();
            rows.sort_unstable();
            rows.dedup();
            rows
        })
        .collect();
    let entries = documents.iter().map(|rows| rows.len() as u64).sum();
    let functions: Vec<Functions> = Filler::ALL
        .into_iter()
        .map(|filler| filler.drawn(rows, settings.hashes, seed))
        .collect::<Result<_>>()?;
    let mut times = vec![Vec::new(); functions.len()];
    // One after the other in each run, so that what slows the machine for a while slows all of them.
    for _ in 0..settings.runs {
        for (functions, times) in functions.iter().zip(&mut times) {
            times.push(seconds(|| {
                for rows in &documents {
                    black_box(functions.signature(black_box(rows)));
                }
            }));
        }
    }
    Ok(Filled { size, rows, entries, times: times.into_iter().map(Times::of).collect() })
}

fn band(settings: &Settings, rows: usize, seed: u64) -> Banded {
    let mut words = SplitMix::new(seed);
    let common: Vec<u64> = (0..rows).map(|_| words.next() % 256).collect();
    let mut bands = Vec::with_capacity(SIMILAR);
    for last in 0..SIMILAR {
        let mut band = common.clone();
        band[rows - 2] = last as u64 / 256;
        band[rows - 1] = last as u64 % 256;
        bands.push(band);
    }
    // The lanes of the index take a byte, and a band of them 8.
    let lanes: Vec<[u8; 8]> = bands
        .iter()
        .map(|band| std::array::from_fn(|lane| band.get(lane).map_or(0, |row| *row as u8)))
        .collect();
    let depth = rows as u32;
    let mut times = [Vec::new(), Vec::new()];
    for _ in 0..settings.runs {
        times[0].push(seconds(|| {
            bands.iter().for_each(|band| {
                black_box(shift_xor_hash(black_box(band)));
            });
        }));
        times[1].push(seconds(|| {
            lanes.iter().for_each(|lanes| {
                black_box(word(black_box(lanes), 0, depth));
            });
        }));
    }
    let hashes: HashSet<u64> = bands.iter().map(|band| shift_xor_hash(band)).collect();
    let by_index: HashSet<u64> = lanes.iter().map(|lanes| word(lanes, 0, depth)).collect();
    Banded { rows, times: times.map(Times::of), distinct: [hashes.len(), by_index.len()] }
}

pub(crate) fn run(settings: &Settings, work: &Work<'_>) -> Result<Report> {
    for (setting, got) in [
        ("runs", settings.runs),
        ("documents", settings.documents),
        ("characters", settings.characters / usize::from(*SIZES.end())),
    ] {
        if got == 0 {
            let expected = "1 or more; characters, more than the greatest shingle has";
            return Err(Error::InvalidSetting { setting, got: got.to_string(), expected });
        }
    }
    let total = (SIZES.count() + BAND_ROWS.count()) as u64;
    let (mut filled, mut banded) = (Vec::new(), Vec::new());
    for size in SIZES {
        work.at(filled.len() as u64, total)?;
        filled.push(fill(settings, size, work.seed)?);
    }
    for rows in BAND_ROWS {
        work.at((filled.len() + banded.len()) as u64, total)?;
        banded.push(band(settings, rows, work.seed));
    }
    work.at(total, total)?;
    Ok(Report {
        title: TITLE.to_owned(),
        table: short(settings, &filled, &banded),
        data: long(settings, &filled, &banded),
        figure: figure(settings, &filled, &banded),
        findings: findings(settings, &filled, &banded),
    })
}

const TITLE: &str = "Time to fill the signature matrix, by family of hash functions";
const BANDERS: [&str; 2] = ["shift and xor", "the index's word"];

/// The median of a filler, in nanoseconds for each shingle and function, over all sizes.
fn nanoseconds(settings: &Settings, filled: &[Filled], filler: Filler) -> f64 {
    let Some(at) = Filler::ALL.iter().position(|other| *other == filler) else { return f64::NAN };
    let calls = |one: &Filled| (one.entries * settings.hashes as u64) as f64;
    let each = filled.iter().map(|one| 1e9 * one.times[at].median() / calls(one));
    Times::of(each.collect()).median()
}

fn short(settings: &Settings, filled: &[Filled], banded: &[Banded]) -> Table {
    let mut table =
        Table::new(&["what", "size", "milliseconds", "nanoseconds_each", "distinct_of_65536"]);
    for (at, filler) in Filler::ALL.into_iter().enumerate() {
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

fn long(settings: &Settings, filled: &[Filled], banded: &[Banded]) -> Table {
    let mut table = Table::new(&[
        "what",
        "size",
        "matrix_rows",
        "calls",
        "milliseconds",
        "least_milliseconds",
        "greatest_milliseconds",
        "distinct_of_65536",
    ]);
    for one in filled {
        for (filler, times) in Filler::ALL.iter().zip(&one.times) {
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

fn figure(settings: &Settings, filled: &[Filled], banded: &[Banded]) -> Figure {
    // The last, modular with another p, is in the tables alone: eight lines are as many as can be told apart.
    let drawn = Filler::ALL.len() - 1;
    let panel = |title: String, y: &str, factor: &dyn Fn(&Filled) -> f64| Panel {
        title,
        x: Axis::linear("shingle size (characters)"),
        y: Axis::log(y),
        series: (0..drawn)
            .map(|at| {
                let point = |one: &Filled| one.times[at].point(one.size.into(), factor(one));
                Series::new(Filler::ALL[at].name(), Kind::Line, filled.iter().map(point))
            })
            .collect(),
    };
    let title = format!("{} documents, {} functions", settings.documents, settings.hashes);
    let matrix = panel(title, "time (ms)", &|_| 1e3);
    let each = panel("Of a shingle and function".to_owned(), "time (ns)", &|one| {
        1e9 / (one.entries * settings.hashes as u64) as f64
    });
    let banders = |title: &str, y: Axis, point: &dyn Fn(&Banded, usize) -> Point| Panel {
        title: title.to_owned(),
        x: Axis::linear("rows in a band"),
        y,
        series: BANDERS
            .into_iter()
            .enumerate()
            .map(|(at, name)| {
                Series::new(name, Kind::Line, banded.iter().map(|one| point(one, at)))
            })
            .collect(),
    };
    let time = banders("Hash of a band", Axis::log("time (ns)"), &|one, at| {
        one.times[at].point(one.rows as f64, 1e9 / SIMILAR as f64)
    });
    let distinct = banders(
        "65,536 bands that differ in two rows",
        Axis::linear("told apart (share)").from_to(0.0, 1.05),
        &|one, at| Point::new(one.rows as f64, one.distinct[at] as f64 / SIMILAR as f64),
    );
    Figure { title: TITLE.to_owned(), panels: vec![matrix, each, time, distinct] }
}

fn findings(settings: &Settings, filled: &[Filled], banded: &[Banded]) -> Vec<Finding> {
    let each = |filler| nanoseconds(settings, filled, filler);
    let mut printed = Filler::PRINTED.map(|filler| (each(filler), filler));
    printed.sort_by(|a, b| a.0.total_cmp(&b.0));
    let listed = printed.map(|(time, filler)| format!("{} {time:.2}", filler.name())).join(", ");
    let fastest = printed[0];
    let modular = each(Filler::Rows);
    let mut findings = vec![
        Finding::new(
            "modular is the fastest of the printed families (E)",
            fastest.1 == Filler::Rows,
            format!(
                "{} is; ns for each shingle and function: {listed}; multiplicative by the formula in reals {:.2}",
                fastest.1.name(),
                each(Filler::Reals),
            ),
        ),
        Finding::new(
            "modular takes less than Jenkins' mix (C) and Murmur3 (E)",
            modular < each(Filler::Of(Family::Jenkins))
                && modular < each(Filler::Of(Family::Murmur3)),
            format!("{listed} ns"),
        ),
        Finding::new(
            "the default sketch is far below all: a fifth of the fastest or less",
            Filler::ALL
                .into_iter()
                .filter(|filler| *filler != Filler::Of(Family::Default))
                .all(|filler| each(filler) >= 5.0 * each(Filler::Of(Family::Default))),
            format!(
                "{:.4} ns for each shingle and function, {} {:.2}",
                each(Filler::Of(Family::Default)),
                fastest.1.name(),
                fastest.0
            ),
        ),
    ];
    if let (Some(first), Some(last)) = (filled.first(), filled.last()) {
        let ratio = last.times[0].median() / first.times[0].median();
        let entries = last.entries as f64 / first.entries as f64;
        findings.push(Finding::new(
            "time grows with the size of shingles, as their number does",
            ratio > 1.0 && entries > 1.0,
            format!(
                "from {} to {} characters {entries:.2} times the shingles, {ratio:.2} times the time of modular",
                first.size, last.size
            ),
        ));
    }
    let told = |at: usize| banded.iter().map(|one| one.distinct[at]).max().unwrap_or(0);
    findings.push(Finding::new(
        "the index tells all bands apart, shift and xor not half of those that differ in two small numbers",
        banded.iter().all(|one| one.distinct[1] == SIMILAR) && told(0) * 2 < SIMILAR,
        format!("shift and xor tells {} of {SIMILAR} apart at most, the index {}", told(0), told(1)),
    ));
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Only what does not depend on the machine and on optimisation.
    #[test]
    fn every_filler_and_size_is_timed_and_bands_are_counted() {
        let settings = Settings { runs: 1, hashes: 2, documents: 2, characters: 100 };
        let report = run(&settings, &Work::unwatched(1)).expect("valid settings");
        assert_eq!(report.data.rows.len(), 19 * 9 + 7 * 2);
        assert_eq!(report.table.rows.len(), 3 * 9 + 3 * 2);
        assert_eq!(report.figure.panels.len(), 4);
        let points = report.figure.panels.iter().flat_map(|panel| &panel.series);
        assert!(points.flat_map(|series| &series.points).all(|point| point.y > 0.0));
        assert!(report.findings[4].holds, "{}", report.findings[4].seen);
    }

    /// Counted in Python: all pairs of numbers below 256 have 16,711 hashes.
    #[test]
    fn a_band_of_two_is_told_apart_as_often_as_counted_elsewhere() {
        let settings = Settings { runs: 1, ..Settings::default() };
        let banded = band(&settings, 2, 3);
        assert_eq!(banded.distinct, [16_711, SIMILAR]);
    }

    #[test]
    fn settings_without_any_work_are_refused() {
        for settings in [
            Settings { runs: 0, ..Settings::default() },
            Settings { hashes: 0, ..Settings::default() },
            Settings { documents: 0, ..Settings::default() },
            Settings { characters: 9, ..Settings::default() },
        ] {
            assert!(run(&settings, &Work::unwatched(0)).is_err(), "{settings:?}");
        }
    }
}
