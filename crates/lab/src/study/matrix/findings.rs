//! The findings of the study of small matrices.

use super::SignedMatrix;
use super::examples::{FIRST_OF_ORDER, HUNDREDTHS, NADAL, NUMBERS, ORDER, SourceMatrix};
use crate::methods::{HashFunction, Prime, PrintedModular};
use crate::study::Finding;
use std::collections::BTreeSet;
use twindex::{Overlap, Result};

/// The findings; those on the printed examples only with `of_sources`.
pub(super) fn all(all: &[SignedMatrix], of_sources: bool) -> Result<Vec<Finding>> {
    let mut findings = Vec::new();
    if of_sources {
        let sources: Vec<&SourceMatrix> = all.iter().map(|signed| &signed.source).collect();
        findings.extend([printed_cells(&sources), printed_order(&sources)]);
        findings.extend([printed_similarity(&sources), printed_function(6)?]);
    }
    findings.extend([similarity_by_types(all), first_rows(all)]);
    findings.extend(all_orders(all));
    Ok(findings)
}

fn printed_cells(sources: &[&SourceMatrix]) -> Finding {
    let (mut cells, mut matrices, mut others) = (0, 0, Vec::new());
    for source in sources.iter().filter(|source| !source.printed.is_empty()) {
        let (compared, differing) = source.compared();
        cells += compared;
        matrices += 1;
        others.extend(differing);
    }
    Finding::new(
        "every cell of the sources' matrices is as printed",
        others.is_empty() && cells > 0,
        if others.is_empty() {
            format!("all {cells} cells of {matrices} matrices")
        } else {
            others.join("; ")
        },
    )
}

/// The minhash values of example 4.3 of Vilaseca and others.
fn printed_order(sources: &[&SourceMatrix]) -> Finding {
    let words = sources.iter().find(|source| source.matrix.name == NADAL);
    let permuted = words.and_then(|source| source.matrix.permuted("permuted", &ORDER));
    let first = permuted.as_ref().map_or(Vec::new(), |matrix| matrix.first_elements());
    Finding::new(
        format!(
            "in the order {}, the first rows are {}",
            ORDER.join(", "),
            FIRST_OF_ORDER.join(", ")
        ),
        first == FIRST_OF_ORDER.map(Some),
        first.iter().map(|element| element.unwrap_or("none")).collect::<Vec<_>>().join(", "),
    )
}

/// The similarity of section 2 of Bergillos and others.
fn printed_similarity(sources: &[&SourceMatrix]) -> Finding {
    let numbers = sources.iter().find(|source| source.matrix.name == NUMBERS);
    let types = numbers.map(|source| source.matrix.types(0, 1));
    let similarity = types.map_or(f64::NAN, |types| types.similarity());
    let (both, union) = types.map_or((0, 0), |types| (types.both, types.union()));
    Finding::new(
        "the sets A and B of Bergillos and others have the similarity 0.33",
        (100.0 * similarity).round() == HUNDREDTHS,
        format!("{both} of {union} elements, {similarity:.4}"),
    )
}

/// (k p + m) mod z of Vilaseca and others, for the rows of their example.
fn printed_function(rows: u64) -> Result<Finding> {
    let (mut told, mut wrong) = (Vec::new(), false);
    let mut number = 2;
    while number < rows {
        let prime = Prime::at_least(number)?;
        let p = u64::from(prime.get());
        if p >= rows {
            break;
        }
        let function = PrintedModular::of_numbers(prime, 1, rows)?;
        let values: BTreeSet<u64> = (0..rows).map(|row| function.hash(row)).collect();
        let expected = if rows.is_multiple_of(p) { rows / p } else { rows };
        wrong |= values.len() as u64 != expected;
        told.push(format!("{} with p = {p}", values.len()));
        number = p + 1;
    }
    Ok(Finding::new(
        "(k p + m) mod z of Vilaseca and others permutes the z rows only if p does not divide z",
        !wrong && !told.is_empty(),
        format!("of {rows} rows, different values: {}", told.join(", ")),
    ))
}

fn similarity_by_types(all: &[SignedMatrix]) -> Finding {
    let (mut pairs, mut equal) = (0, 0);
    for matrix in all.iter().map(SignedMatrix::matrix) {
        for (a, b) in matrix.pairs() {
            let rows = |set: usize| matrix.rows_of(set).collect::<Vec<u64>>();
            let overlap = Overlap::of_sets(&rows(a), &rows(b));
            pairs += 1;
            equal += usize::from(matrix.types(a, b).similarity() == overlap.similarity());
        }
    }
    Finding::new(
        "rows with two ones, divided by rows with any, are the similarity of the sets",
        equal == pairs,
        format!("{equal} of {pairs} pairs"),
    )
}

fn first_rows(all: &[SignedMatrix]) -> Finding {
    let (mut values, mut equal) = (0, 0);
    for signed in all {
        for (map, row) in signed.signatures.iter().enumerate() {
            for (set, least) in row.iter().enumerate() {
                values += 1;
                let first = signed.matrix().first_by_sorting(&signed.maps, map, set);
                equal += usize::from(first == *least);
            }
        }
    }
    Finding::new(
        "one pass over the rows finds for each function the first row of a set in permuted order",
        equal == values,
        format!("{equal} of {values} values"),
    )
}

/// The proof of Vilaseca and others, section 4.2.1, by trying all orders. `None` if every matrix
/// has too many rows.
fn all_orders(all: &[SignedMatrix]) -> Option<Finding> {
    let (mut pairs, mut equal, mut orders) = (0, 0, 0);
    for matrix in all.iter().map(SignedMatrix::matrix) {
        for (a, b) in matrix.pairs() {
            let types = matrix.types(a, b);
            let Some((agreeing, tried)) = matrix.agreeing_orders(a, b) else { continue };
            pairs += 1;
            orders += tried;
            // Counts, so that nothing is rounded.
            equal += usize::from(agreeing * types.union() == types.both * tried);
        }
    }
    (pairs > 0).then(|| {
        Finding::new(
            "of all orders of the rows, exactly the share J has the same first row in both sets",
            equal == pairs,
            format!("{equal} of {pairs} pairs, by {orders} orders"),
        )
    })
}

#[cfg(test)]
mod tests {
    use super::super::examples;
    use super::*;
    use crate::methods::AffineMaps;

    #[test]
    fn findings_on_the_sources_fail_for_other_cells() {
        let fails = |change: &dyn Fn(&mut Vec<SourceMatrix>),
                     finding: fn(&[&SourceMatrix]) -> Finding| {
            let mut sources = examples::all();
            assert!(finding(&sources.iter().collect::<Vec<_>>()).holds);
            change(&mut sources);
            assert!(!finding(&sources.iter().collect::<Vec<_>>()).holds);
        };
        fails(&|sources| sources[3].matrix.cells[2][1] = true, printed_cells);
        fails(&|sources| sources.truncate(0), printed_cells);
        fails(&|sources| sources[0].matrix.cells[4][0] = true, printed_order);
        fails(&|sources| sources[4].matrix.cells[0][0] = false, printed_similarity);
        assert!(printed_function(6).expect("valid").seen.contains("3 with p = 2, 2 with p = 3"));
    }

    #[test]
    fn findings_on_any_matrix_fail_for_other_values() {
        let signed = || {
            let source = examples::all().swap_remove(0);
            let maps = AffineMaps::units(4, 6, 1).expect("valid");
            let signatures = source.matrix.signatures(&maps);
            vec![SignedMatrix { source, maps, signatures, printed: 4 }]
        };
        let mut changed = signed();
        assert!(first_rows(&changed).holds && similarity_by_types(&changed).holds);
        changed[0].signatures[3][1] = Some(6);
        assert!(!first_rows(&changed).holds);
        let finding = all_orders(&signed()).expect("few rows");
        assert!(finding.holds && finding.seen == "1 of 1 pairs, by 720 orders", "{}", finding.seen);
    }
}
