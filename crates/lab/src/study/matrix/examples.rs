//! The matrices that the sources print, and the sets that they are the matrices of.

use super::toy_matrix::ToyMatrix;

/// A matrix of a source, with the cells as printed.
pub(super) struct SourceMatrix {
    pub(super) matrix: ToyMatrix,
    /// The rows as printed: an element, and a 1 or a 0 for each set.
    pub(super) printed: &'static [(&'static str, &'static str)],
}

/// The order of rows of Vilaseca, Lacasa, Martín 2018, example 4.3.
pub(super) const ORDER: [&str; 6] = ["di", "da", "ia", "na", "ad", "al"];

/// The minhash values that the example prints for this order.
pub(super) const FIRST_OF_ORDER: [&str; 2] = ["da", "di"];

/// The sets of Bergillos, Rambla, Cabeza 2018, section 2, and their printed similarity, in
/// hundredths.
const FIRST: &[&str] = &["0", "1", "2", "5", "6"];
const SECOND: &[&str] = &["0", "2", "3", "4", "5", "7", "9"];
const UNION: &[&str] = &["0", "1", "2", "3", "4", "5", "6", "7", "9"];
pub(super) const HUNDREDTHS: f64 = 33.0;

pub(super) const NADAL: &str = "Nadal, Nadia";
pub(super) const NUMBERS: &str = "A, B";

/// All examples. [`NADAL`] is the first.
pub(super) fn all() -> Vec<SourceMatrix> {
    let words = ToyMatrix::of_texts(NADAL, &["Nadal".to_owned(), "Nadia".to_owned()], 2);
    let permuted = words.permuted("Nadal, Nadia in another order", &ORDER);
    let mut examples = vec![SourceMatrix {
        matrix: words,
        // Vilaseca, Lacasa, Martín 2018, example 4.1.
        printed: &[
            ("na", "11"),
            ("ad", "11"),
            ("da", "10"),
            ("al", "10"),
            ("di", "01"),
            ("ia", "01"),
        ],
    }];
    examples.extend(permuted.map(|matrix| SourceMatrix {
        matrix,
        // Figure 4.3 of the same.
        printed: &[
            ("di", "01"),
            ("da", "10"),
            ("ia", "01"),
            ("na", "11"),
            ("ad", "11"),
            ("al", "10"),
        ],
    }));
    examples.push(SourceMatrix {
        matrix: ToyMatrix::of_sets(
            "types of rows",
            &["a", "b", "c", "d"],
            &[("S1", &["c", "d"]), ("S2", &["b", "d"])],
        ),
        // The second figure 4.1 of the same.
        printed: &[("a", "00"), ("b", "01"), ("c", "10"), ("d", "11")],
    });
    examples.push(SourceMatrix {
        matrix: ToyMatrix::of_sets(
            "representation matrix",
            &["1", "2", "i", "n"],
            &[
                ("S1", &["1", "i"]),
                ("S2", &[]),
                ("Sh", &["2", "i"]),
                ("Sk", &["1", "i"]),
                ("Sp", &["1", "i", "n"]),
            ],
        ),
        // Dembele, Lo 2015, table 1, without the rows and columns that it leaves out. Table 1 of
        // Dembele, Lo 2017 has the same cells.
        printed: &[("1", "10011"), ("2", "00100"), ("i", "10111"), ("n", "00001")],
    });
    examples.push(SourceMatrix {
        matrix: ToyMatrix::of_sets(NUMBERS, UNION, &[("A", FIRST), ("B", SECOND)]),
        // Bergillos, Rambla, Cabeza 2018, section 2: the elements of the union. It prints no cells.
        printed: &[],
    });
    examples
}

impl SourceMatrix {
    /// The number of printed cells, and those that differ, each with its row and column.
    pub(super) fn compared(&self) -> (usize, Vec<String>) {
        let (mut cells, mut others) = (0, Vec::new());
        let matrix = &self.matrix;
        if !self.printed.is_empty() && self.printed.len() != matrix.elements.len() {
            others.push(format!("{}: {} rows", matrix.name, matrix.elements.len()));
        }
        for (at, (element, row)) in self.printed.iter().enumerate() {
            if matrix.elements.get(at).map(String::as_str) != Some(element) {
                others.push(format!("{}: row {} is not {element}", matrix.name, at + 1));
                continue;
            }
            for (set, printed) in row.chars().enumerate() {
                cells += 1;
                if matrix.cells[at].get(set).copied() != Some(printed == '1') {
                    others.push(format!("{}: row {element}, column {}", matrix.name, set + 1));
                }
            }
        }
        (cells, others)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_printed_cell_is_reproduced() {
        let compared: Vec<(usize, Vec<String>)> =
            all().iter().map(SourceMatrix::compared).collect();
        let cells: Vec<usize> = compared.iter().map(|(cells, _)| *cells).collect();
        assert_eq!(cells, [12, 12, 8, 20, 0]);
        assert!(compared.iter().all(|(_, others)| others.is_empty()), "{compared:?}");
    }

    #[test]
    fn each_changed_cell_and_row_is_noticed() {
        for example in 0..4 {
            let rows = all()[example].matrix.elements.len();
            for row in 0..rows {
                for set in 0..all()[example].matrix.sets.len() {
                    let mut changed = all().swap_remove(example);
                    changed.matrix.cells[row][set] ^= true;
                    assert_eq!(changed.compared().1.len(), 1);
                }
                let mut changed = all().swap_remove(example);
                changed.matrix.elements[row] = "another".to_owned();
                assert_eq!(changed.compared().1.len(), 1);
            }
        }
    }
}
