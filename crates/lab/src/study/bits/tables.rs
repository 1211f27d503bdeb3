//! The tables of the study of bits.

use super::law::{Lanes, Layout, TODAY};
use super::measured::{Measured, Place};
use super::words::{BACKGROUND, Word};
use super::{Results, SIMILARITIES, SIZES, SMALL, WIDTHS, bytes_of_document, layouts};
use crate::study::{Cell, Table};
use twindex::{DEFAULT_THRESHOLD, Result};

/// The similarities at which a wrong decision about the threshold is counted.
pub(super) const BELOW: f64 = 0.75;
pub(super) const ABOVE: f64 = 0.85;

/// The thresholds at which pairs that share nothing must not be reported.
pub(super) const LOW_THRESHOLDS: [f64; 3] = [0.1, 0.2, 0.3];

/// The number of unrelated pairs among which false reports are counted: those of one scan of an
/// index with this many documents.
pub(super) const UNRELATED: f64 = 1e6;

/// The error by the law for each size and width, and wrong decisions at the threshold.
pub(super) fn errors() -> Result<Table> {
    let mut columns = strings(&["bytes", "bits", "lanes"]);
    columns.extend(SIMILARITIES.map(at));
    columns.extend(strings(&["false_at_.75", "missed_at_.85"]));
    let mut table = Table { columns, rows: Vec::new() };
    for bytes in SIZES {
        for bits in WIDTHS {
            let layout = Layout::of_bytes(bytes, bits);
            let mut row: Vec<Cell> = vec![count(bytes), count(bits), count(layout.lanes())];
            row.extend(SIMILARITIES.map(|similarity| Cell::Share(layout.error(similarity))));
            row.extend(wrong_decisions(layout)?.map(Cell::Share));
            table.push(row);
        }
    }
    Ok(table)
}

/// The probabilities that a pair below the threshold is estimated to reach it, and one above not.
fn wrong_decisions(layout: Layout) -> Result<[f64; 2]> {
    let below = layout.reported(BELOW, DEFAULT_THRESHOLD)?;
    Ok([below, 1.0 - layout.reported(ABOVE, DEFAULT_THRESHOLD)?])
}

pub(super) fn further(results: &Results) -> Result<Vec<(String, Table)>> {
    let named = |name: String, table| (name, table);
    let Results { settings, .. } = results;
    Ok(vec![
        named(format!("Bytes for the error of {TODAY} bits"), storage()),
        named(
            format!("Measured with {} pairs of {} elements", settings.pairs, settings.elements),
            measured(results),
        ),
        named("Words of the bands, and those that meet in one".to_owned(), words()),
        named(format!("Signatures, beside {TODAY}"), signatures()?),
        named(
            "Measured error at the threshold, by elements of both sets".to_owned(),
            small(results)?,
        ),
    ])
}

/// The bytes that each width needs for today's error.
fn storage() -> Table {
    let mut columns = strings(&["bits"]);
    columns.extend(SIMILARITIES.map(at));
    let mut table = Table { columns, rows: Vec::new() };
    for bits in WIDTHS {
        let mut row = vec![count(bits)];
        let tenths = |bytes: f64| Cell::Number((bytes * 10.0).round() / 10.0);
        row.extend(SIMILARITIES.map(|j| tenths(bytes_for_error_of_today(bits, j))));
        table.push(row);
    }
    table
}

/// The bytes for which lanes of this many bits have today's error at this similarity.
pub(super) fn bytes_for_error_of_today(bits: u32, similarity: f64) -> f64 {
    f64::from(TODAY.bytes()) * super::law::storage_factor(bits, similarity)
        / super::law::storage_factor(8, similarity)
}

/// Bias and error of the greatest signatures, with the low bits of each lane.
fn measured(results: &Results) -> Table {
    let mut table =
        Table::new(&["bits", "lanes", "similarity", "bias", "bias_by_chance", "error", "law"]);
    let largest = |one: &&Measured| one.place == Place::Low && one.layout.bytes() == SIZES[2];
    for one in results.single.iter().filter(largest) {
        let law = one.law();
        let chance = law.map(|law| 4.0 * law / f64::from(one.draw.pairs).sqrt());
        table.push(vec![
            count(one.layout.first.bits),
            count(one.layout.lanes()),
            Cell::Share(one.draw.similarity()),
            fine(one.bias),
            chance.map_or(Cell::Empty, fine),
            fine(one.error),
            law.map_or(Cell::Empty, fine),
        ]);
    }
    // By width, then similarity: they were drawn the other way round.
    let order = |row: &Vec<Cell>| match row[0] {
        Cell::Count(bits) => bits,
        _ => 0,
    };
    table.rows.sort_by_key(order);
    table
}

fn words() -> Table {
    let mut table = Table::new(&[
        "bits",
        "lanes",
        "word_bits",
        "random_1e6",
        "random_1e8",
        "language_1e6",
        "language_1e8",
        "bands",
        "lanes_of_bands",
    ]);
    for word in Word::all(&WIDTHS) {
        table.push(vec![
            count(word.bits),
            count(word.depth),
            count(word.bits * word.depth),
            word.candidates(1e6, 0.0).into(),
            word.candidates(1e8, 0.0).into(),
            word.candidates(1e6, BACKGROUND).into(),
            word.candidates(1e8, BACKGROUND).into(),
            word.bands().into(),
            (word.bands() * word.depth as usize).into(),
        ]);
    }
    table
}

/// The layouts: bytes, errors relative to today's, wrong decisions, and reports in vain.
fn signatures() -> Result<Table> {
    let mut columns = strings(&["lanes x bits", "bytes", "document"]);
    columns.extend(relative_similarities().map(at));
    columns.extend(strings(&["false_at_.75", "missed_at_.85"]));
    columns.extend(LOW_THRESHOLDS.map(|threshold| format!("vain_at_{}", short(threshold))));
    let mut table = Table { columns, rows: Vec::new() };
    for layout in layouts()? {
        let document = bytes_of_document(layout)?.round();
        let mut row =
            vec![layout.to_string().into(), count(layout.bytes()), Cell::Count(document as u64)];
        row.extend(
            relative_similarities()
                .map(|similarity| Cell::Share(layout.error(similarity) / TODAY.error(similarity))),
        );
        row.extend(wrong_decisions(layout)?.map(Cell::Share));
        for threshold in LOW_THRESHOLDS {
            row.push((UNRELATED * layout.reported(0.0, threshold)?).into());
        }
        table.push(row);
    }
    Ok(table)
}

/// The similarities at which errors of layouts are compared: those of scans and of containment as
/// well.
fn relative_similarities() -> [f64; 6] {
    [0.1, 0.3, 0.5, 0.7, 0.8, 0.9]
}

fn small(results: &Results) -> Result<Table> {
    let elements = || SMALL.into_iter().chain([results.settings.elements]);
    let mut columns = strings(&["lanes x bits", "bytes"]);
    columns.extend(elements().map(|elements| elements.to_string()));
    columns.push("law".to_owned());
    let mut table = Table { columns, rows: Vec::new() };
    for layout in layouts()? {
        let mut row: Vec<Cell> = vec![layout.to_string().into(), count(layout.bytes())];
        row.extend(elements().map(|elements| {
            results.error_at_threshold(layout, elements).map_or(Cell::Empty, Cell::Share)
        }));
        row.push(Cell::Share(layout.error(DEFAULT_THRESHOLD)));
        table.push(row);
    }
    Ok(table)
}

fn strings(names: &[&str]) -> Vec<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}

fn count(number: u32) -> Cell {
    Cell::Count(number.into())
}

/// A value of which five decimals matter.
fn fine(value: f64) -> Cell {
    Cell::Number((value * 1e5).round() / 1e5 + 0.0)
}

fn at(similarity: f64) -> String {
    format!("J={}", short(similarity))
}

/// A number below 1 without its zero.
fn short(number: f64) -> String {
    number.to_string().trim_start_matches('0').to_owned()
}

/// The lanes of one width that reach today's error at the default threshold.
pub(super) fn lanes_for_error_of_today(bits: u32) -> u32 {
    Layout::reaching(Lanes::new(0, bits), bits, TODAY, DEFAULT_THRESHOLD).lanes()
}
