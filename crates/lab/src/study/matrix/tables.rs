//! The tables and the figure of the study of small matrices.

use super::{DRAWN, SignedMatrix};
use crate::study::{Axis, Cell, Figure, Panel, Point, Series, SeriesKind, Table};

/// The most pairs whose estimates are drawn: there are eight colours.
const DRAWN_PAIRS: usize = 7;

/// A row for each pair of sets of each matrix.
pub(super) fn pairs(all: &[SignedMatrix]) -> Table {
    let mut table = Table::new(&[
        "matrix",
        "a",
        "b",
        "both",
        "only_a",
        "only_b",
        "neither",
        "similarity",
        "equal",
        "functions",
        "estimate",
        "agreeing_orders",
        "orders",
    ]);
    for signed in all {
        let matrix = signed.matrix();
        for (a, b) in matrix.pairs() {
            let types = matrix.types(a, b);
            let equal = signed.equal(a, b, signed.printed);
            let orders = matrix.agreeing_orders(a, b);
            let order =
                |part: fn((u64, u64)) -> u64| orders.map_or(Cell::Empty, |o| part(o).into());
            table.push(vec![
                matrix.name.as_str().into(),
                matrix.sets[a].as_str().into(),
                matrix.sets[b].as_str().into(),
                types.both.into(),
                types.first.into(),
                types.second.into(),
                types.neither.into(),
                Cell::Share(types.similarity()),
                equal.into(),
                signed.printed.into(),
                Cell::Share(equal as f64 / signed.printed as f64),
                order(|(agreeing, _)| agreeing),
                order(|(_, all)| all),
            ]);
        }
    }
    table
}

/// The characteristic matrix with the values of the functions, then the signature matrix, of each.
pub(super) fn matrices(all: &[SignedMatrix]) -> Vec<(String, Table)> {
    let mut tables = Vec::new();
    for signed in all {
        let matrix = signed.matrix();
        let sets: Vec<&str> = matrix.sets.iter().map(String::as_str).collect();
        let functions: Vec<String> = (1..=signed.printed).map(|map| format!("z{map}")).collect();
        let mut columns = vec!["matrix", "row", "element"];
        columns.extend(&sets);
        columns.extend(functions.iter().map(String::as_str));
        let mut characteristic = Table::new(&columns);
        for (at, row) in matrix.cells.iter().enumerate() {
            let mut cells: Vec<Cell> = vec![matrix.name.as_str().into(), (at + 1).into()];
            cells.push(matrix.elements[at].as_str().into());
            cells.extend(row.iter().map(|is_in| Cell::Count((*is_in).into())));
            let value = |map| signed.maps.value(map, at as u64 + 1).into();
            cells.extend((0..signed.printed).map(value));
            characteristic.push(cells);
        }
        let mut columns = vec!["matrix", "function"];
        columns.extend(&sets);
        let mut signature = Table::new(&columns);
        for (map, row) in signed.signatures.iter().take(signed.printed).enumerate() {
            let mut cells = vec![matrix.name.as_str().into(), signed.formula(map).into()];
            cells.extend(row.iter().map(|least| least.map_or(Cell::Empty, Cell::from)));
            signature.push(cells);
        }
        tables.push((
            format!("{}: characteristic matrix and functions", matrix.name),
            characteristic,
        ));
        tables.push((format!("{}: signature matrix", matrix.name), signature));
    }
    tables
}

/// Every printed cell of every matrix.
pub(super) fn cells(all: &[SignedMatrix]) -> Table {
    let mut table = Table::new(&["matrix", "kind", "row", "column", "value"]);
    for signed in all {
        let matrix = signed.matrix();
        let mut push = |kind: &str, row: &str, column: String, value: Cell| {
            table.push(vec![
                matrix.name.as_str().into(),
                kind.into(),
                row.into(),
                column.into(),
                value,
            ]);
        };
        for (at, row) in matrix.cells.iter().enumerate() {
            let element = &matrix.elements[at];
            for (set, is_in) in matrix.sets.iter().zip(row) {
                push("characteristic", element, set.clone(), Cell::Count((*is_in).into()));
            }
            for map in 0..signed.printed {
                let value = signed.maps.value(map, at as u64 + 1);
                push("function", element, signed.formula(map), value.into());
            }
        }
        for (map, row) in signed.signatures.iter().take(signed.printed).enumerate() {
            for (set, least) in matrix.sets.iter().zip(row) {
                let value = least.map_or(Cell::Empty, Cell::from);
                push("signature", &signed.formula(map), set.clone(), value);
            }
        }
    }
    table
}

/// For each matrix its ones, and the estimates over the number of functions.
pub(super) fn figure(all: &[SignedMatrix], title: &str) -> Figure {
    let panels = all.iter().flat_map(|signed| [ones(signed), estimates(signed)]).collect();
    Figure { title: title.to_owned(), panels }
}

fn ones(signed: &SignedMatrix) -> Panel {
    let matrix = signed.matrix();
    let points = (0..matrix.sets.len())
        .flat_map(|set| matrix.rows_of(set).map(move |row| Point::new(set as f64, row as f64)));
    Panel {
        title: matrix.name.clone(),
        x: Axis::of_names("set", matrix.sets.clone()),
        y: Axis::linear("row").within(0.5, matrix.elements.len() as f64 + 0.5).whole(),
        series: vec![Series::new("1 in the characteristic matrix", SeriesKind::Dots, points)],
    }
}

fn estimates(signed: &SignedMatrix) -> Panel {
    let matrix = signed.matrix();
    let mut series = Vec::new();
    // Pairs with an empty set have no estimate.
    let pairs = matrix
        .pairs()
        .filter(|(a, b)| [a, b].into_iter().all(|set| matrix.rows_of(*set).next().is_some()));
    for (a, b) in pairs.take(DRAWN_PAIRS) {
        let name = format!("{}, {}", matrix.sets[a], matrix.sets[b]);
        let exact = matrix.types(a, b).similarity();
        let ends = [1.0, DRAWN as f64].map(|x| Point::new(x, exact));
        let points =
            (1..=DRAWN).map(|k| Point::new(k as f64, signed.equal(a, b, k) as f64 / k as f64));
        series.push(Series::new(name.clone(), SeriesKind::Line, points));
        series.push(Series::new(name, SeriesKind::Dashed, ends));
    }
    Panel {
        title: format!("{}: estimates; dashed: exact", matrix.name),
        x: Axis::linear("number of functions").within(0.0, DRAWN as f64).whole(),
        y: Axis::linear("similarity").within(0.0, 1.0),
        series,
    }
}
