//! A small characteristic matrix: a row for each element, a column for each set, 1 or 0 in a cell.

use crate::methods::AffineMaps;
use twindex::{Normalization, Whitespace};

/// The preparation of texts: case and white space are folded.
const NORMALIZATION: Normalization =
    Normalization { lower: true, whitespace: Whitespace::Fold, ..Normalization::NONE };

/// The most rows of which all orders are tried: 362,880 of them.
pub(super) const MOST_PERMUTED_ROWS: usize = 9;

/// The characteristic matrix of a few small sets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ToyMatrix {
    pub(super) name: String,
    /// The names of the columns.
    pub(super) sets: Vec<String>,
    /// The elements, from the first row on.
    pub(super) elements: Vec<String>,
    /// The cells, row by row.
    pub(super) cells: Vec<Vec<bool>>,
}

/// The numbers of rows of two columns by what they contain (Vilaseca, Lacasa, Martín 2018, section
/// 4.1: d, c, b and a).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct RowTypes {
    pub(super) both: u64,
    pub(super) first: u64,
    pub(super) second: u64,
    pub(super) neither: u64,
}

impl RowTypes {
    /// d / (b + c + d), the similarity of the two sets; 0 for two empty sets.
    pub(super) fn similarity(&self) -> f64 {
        match self.union() {
            0 => 0.0,
            union => self.both as f64 / union as f64,
        }
    }

    pub(super) fn union(&self) -> u64 {
        self.both + self.first + self.second
    }
}

impl ToyMatrix {
    /// The matrix of sets over all these elements, in this order.
    pub(super) fn of_sets(name: &str, elements: &[&str], sets: &[(&str, &[&str])]) -> Self {
        let row = |element: &&str| sets.iter().map(|(_, set)| set.contains(element)).collect();
        Self {
            name: name.to_owned(),
            sets: sets.iter().map(|(name, _)| (*name).to_owned()).collect(),
            elements: elements.iter().map(|element| (*element).to_owned()).collect(),
            cells: elements.iter().map(row).collect(),
        }
    }

    /// The matrix of the shingles of texts, with rows in the order in which shingles first occur.
    /// The columns are named S1, S2 and so on.
    pub(super) fn of_texts(name: &str, texts: &[String], size: usize) -> Self {
        let shingles = |text: &String| {
            let letters: Vec<char> = NORMALIZATION.apply(text).chars().collect();
            letters.windows(size).map(|shingle| shingle.iter().collect()).collect()
        };
        let sets: Vec<Vec<String>> = texts.iter().map(shingles).collect();
        let mut elements: Vec<String> = Vec::new();
        for shingle in sets.iter().flatten() {
            if !elements.contains(shingle) {
                elements.push(shingle.clone());
            }
        }
        let row = |element: &String| sets.iter().map(|set| set.contains(element)).collect();
        Self {
            name: name.to_owned(),
            sets: (1..=texts.len()).map(|number| format!("S{number}")).collect(),
            cells: elements.iter().map(row).collect(),
            elements,
        }
    }

    /// The matrix with its rows in another order; `None` unless the order has every row once.
    pub(super) fn permuted(&self, name: &str, order: &[&str]) -> Option<Self> {
        let place = |wanted: &&str| self.elements.iter().position(|element| element == wanted);
        let places: Vec<usize> = order.iter().map(place).collect::<Option<_>>()?;
        let mut sorted = places.clone();
        sorted.sort_unstable();
        if !sorted.into_iter().eq(0..self.elements.len()) {
            return None;
        }
        Some(Self {
            name: name.to_owned(),
            sets: self.sets.clone(),
            elements: places.iter().map(|at| self.elements[*at].clone()).collect(),
            cells: places.iter().map(|at| self.cells[*at].clone()).collect(),
        })
    }

    /// The numbers of the rows of a set, from 1 on.
    pub(super) fn rows_of(&self, set: usize) -> impl Iterator<Item = u64> {
        (1..).zip(&self.cells).filter(move |(_, row)| row[set]).map(|(number, _)| number)
    }

    /// The first row of each set, from the top: its minhash value under this order. `None` for an
    /// empty set.
    pub(super) fn first_elements(&self) -> Vec<Option<&str>> {
        let first = |set: usize| {
            let at = self.cells.iter().position(|row| row[set])?;
            self.elements.get(at).map(String::as_str)
        };
        (0..self.sets.len()).map(first).collect()
    }

    pub(super) fn types(&self, a: usize, b: usize) -> RowTypes {
        let count = |kind: (bool, bool)| {
            self.cells.iter().filter(|row| (row[a], row[b]) == kind).count() as u64
        };
        RowTypes {
            both: count((true, true)),
            first: count((true, false)),
            second: count((false, true)),
            neither: count((false, false)),
        }
    }

    /// All pairs of columns.
    pub(super) fn pairs(&self) -> impl Iterator<Item = (usize, usize)> {
        let sets = self.sets.len();
        (0..sets).flat_map(move |a| (a + 1..sets).map(move |b| (a, b)))
    }

    /// Fills the signature matrix by the loop over rows that the sources print: every cell begins
    /// as missing, and each row with a 1 lowers it. A row of the result belongs to a map.
    pub(super) fn signatures(&self, maps: &AffineMaps) -> Vec<Vec<Option<u64>>> {
        let mut signatures = vec![vec![None; self.sets.len()]; maps.len()];
        for (number, row) in (1..).zip(&self.cells) {
            for (map, least) in signatures.iter_mut().enumerate() {
                let value = maps.value(map, number);
                for (least, _) in least.iter_mut().zip(row).filter(|(_, is_in)| **is_in) {
                    *least = Some(least.map_or(value, |old: u64| old.min(value)));
                }
            }
        }
        signatures
    }

    /// The value of a map at the first row of a set in the order of the values, found by sorting
    /// all rows. It is what [`signatures`](Self::signatures) must find.
    pub(super) fn first_by_sorting(
        &self,
        maps: &AffineMaps,
        map: usize,
        set: usize,
    ) -> Option<u64> {
        let mut order: Vec<(u64, &Vec<bool>)> =
            (1..).zip(&self.cells).map(|(number, row)| (maps.value(map, number), row)).collect();
        order.sort_by_key(|(value, _)| *value);
        order.into_iter().find(|(_, row)| row[set]).map(|(value, _)| value)
    }

    /// The number of orders of the rows in which both sets have the same first row, and of all
    /// orders; `None` if there are too many rows.
    pub(super) fn agreeing_orders(&self, a: usize, b: usize) -> Option<(u64, u64)> {
        let rows = self.cells.len();
        if rows > MOST_PERMUTED_ROWS {
            return None;
        }
        let mut order: Vec<usize> = (0..rows).collect();
        let (mut agreeing, mut all) = (0, 0);
        loop {
            let first = order.iter().map(|at| &self.cells[*at]).find(|row| row[a] || row[b]);
            agreeing += u64::from(first.is_some_and(|row| row[a] && row[b]));
            all += 1;
            if !next_order(&mut order) {
                return Some((agreeing, all));
            }
        }
    }
}

/// Puts the next order of numbers in the place of this one; false after the last.
fn next_order(order: &mut [usize]) -> bool {
    let Some(at) = (1..order.len()).rev().find(|at| order[at - 1] < order[*at]) else {
        return false;
    };
    let next = (at..order.len()).rev().find(|next| order[*next] > order[at - 1]).unwrap_or(at);
    order.swap(at - 1, next);
    order[at..].reverse();
    true
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn every_order_comes_once() {
        let mut order = vec![0, 1, 2, 3];
        let mut seen = BTreeSet::from([order.clone()]);
        while next_order(&mut order) {
            assert!(seen.insert(order.clone()), "{order:?} again");
        }
        assert_eq!(seen.len(), 24);
        assert!(!next_order(&mut []));
    }

    #[test]
    fn texts_give_their_shingles_in_the_order_of_appearance() {
        let texts = ["Abab".to_owned(), "b  a".to_owned(), String::new()];
        let matrix = ToyMatrix::of_texts("m", &texts, 2);
        assert_eq!(matrix.elements, ["ab", "ba", "b ", " a"]);
        let cells = [[1, 0, 0], [1, 0, 0], [0, 1, 0], [0, 1, 0]];
        assert_eq!(matrix.cells, cells.map(|row| row.map(|cell| cell == 1).to_vec()));
        assert_eq!(matrix.first_elements(), [Some("ab"), Some("b "), None]);
        assert_eq!(matrix.types(0, 1).similarity(), 0.0);
        assert_eq!(matrix.types(2, 2).similarity(), 0.0);
        assert!(matrix.permuted("p", &["ab", "ba", "b "]).is_none());
        assert!(matrix.permuted("p", &["ab", "ba", "b ", "b "]).is_none());
    }

    /// A worked example by hand: rows 1 to 5, maps i + 1 mod 5 and 3 i + 1 mod 5.
    #[test]
    fn signatures_are_the_least_values_by_hand() {
        let sets: [(&str, &[&str]); 3] =
            [("A", &["1", "4"]), ("B", &["3"]), ("C", &["2", "4", "5"])];
        let matrix = ToyMatrix::of_sets("m", &["1", "2", "3", "4", "5"], &sets);
        let maps = AffineMaps::new(5, vec![(1, 1), (3, 1)]).expect("valid");
        // The values of the rows are 2 3 4 5 1 and 4 2 5 3 1.
        let expected = [[2, 4, 1], [3, 5, 1]].map(|row| row.map(Some).to_vec());
        assert_eq!(matrix.signatures(&maps), expected);
        for (map, row) in expected.iter().enumerate() {
            for (set, value) in row.iter().enumerate() {
                assert_eq!(matrix.first_by_sorting(&maps, map, set), *value);
                let of_method = maps.minima(matrix.rows_of(set)).map(|minima| minima[map]);
                assert_eq!(of_method, *value);
            }
        }
    }

    #[test]
    fn the_share_of_agreeing_orders_is_the_similarity() {
        let texts = ["abcd".to_owned(), "bcdx".to_owned()];
        let matrix = ToyMatrix::of_texts("m", &texts, 2);
        assert_eq!(matrix.agreeing_orders(0, 1), Some((12, 24)), "2 of 4 rows are common");
        let long = ToyMatrix::of_texts("m", &["abcdefghijkl".to_owned()], 2);
        assert_eq!(long.agreeing_orders(0, 0), None);
    }
}
