//! Work on whole columns: digests, comparisons of many pairs, and which documents are kept. The
//! module `twindex.kernel` is made of it.

use crate::arrow::{ArrowInput, Table};
use crate::error::{invalid, no_texts, raise};
use crate::numbers::number;
use crate::process::detached;
use crate::rows::signature_column;
use arrow_array::cast::AsArray;
use arrow_array::types::UInt64Type;
use arrow_array::{Array, ArrayRef, Float64Array, UInt64Array};
use arrow_schema::DataType;
use pyo3::prelude::*;
use rayon::prelude::*;
use std::collections::HashSet;
use std::sync::Arc;
use twindex::{Agreement, Overlap, equal_lanes};
use twindex_columns::TextColumn;
use xxhash_rust::xxh3::xxh3_128;

/// The bytes after the lanes of a signature: the size of the set.
const SIZE_BYTES: usize = 4;

/// A column as one array.
fn single(column: &Bound<'_, PyAny>, what: &str) -> PyResult<ArrayRef> {
    let wanted = || invalid(format!("{what}: expected one array that speaks Arrow"));
    let mut input = ArrowInput::new(column)?.ok_or_else(wanted)?;
    match (input.next()?, input.next()?) {
        (Some(batch), None) => Ok(batch.array().clone()),
        _ => Err(wanted()),
    }
}

/// A column of whole numbers, none of them null.
fn numbers(column: &Bound<'_, PyAny>, what: &str) -> PyResult<UInt64Array> {
    let array = single(column, what)?;
    match array.data_type() {
        DataType::UInt64 if array.null_count() == 0 => {
            Ok(array.as_primitive::<UInt64Type>().clone())
        }
        other => Err(invalid(format!("{what}: expected uint64 without nulls, got {other}"))),
    }
}

/// Pairs of rows of two columns, given by their places.
struct Places {
    a: UInt64Array,
    b: UInt64Array,
}

impl Places {
    fn new(
        (a, of_a): (&Bound<'_, PyAny>, usize),
        (b, of_b): (&Bound<'_, PyAny>, usize),
    ) -> PyResult<Self> {
        let (a, b) = (numbers(a, "a_places")?, numbers(b, "b_places")?);
        if a.len() != b.len() {
            return Err(invalid(format!("{} places of a, but {} of b", a.len(), b.len())));
        }
        let within = |places: &UInt64Array, rows: usize| {
            places.values().iter().all(|place| *place < rows as u64)
        };
        if within(&a, of_a) && within(&b, of_b) {
            Ok(Self { a, b })
        } else {
            Err(invalid("a place is beyond the end of its column"))
        }
    }

    fn get(&self, pair: usize) -> (usize, usize) {
        (self.a.value(pair) as usize, self.b.value(pair) as usize)
    }
}

/// The XXH3 digests of 128 bits of the values of a column, binary or text, as two columns `high`
/// and `low`. The last `without` bytes of each value do not count. A null has the digest 0.
#[pyfunction]
#[pyo3(signature = (column, *, without=0))]
pub(crate) fn digests(
    py: Python<'_>,
    column: &Bound<'_, PyAny>,
    #[pyo3(from_py_with = number)] without: usize,
) -> PyResult<Table> {
    let array = single(column, "column")?;
    let binary = match array.data_type() {
        DataType::Utf8 => {
            Arc::new(arrow_array::BinaryArray::from(array.as_string::<i32>().clone()))
        }
        DataType::LargeUtf8 => {
            Arc::new(arrow_array::LargeBinaryArray::from(array.as_string::<i64>().clone()))
                as ArrayRef
        }
        _ => array,
    };
    let values = signature_column("column", &binary)?;
    let digest = |row| {
        let value: Option<&[u8]> = values.get(row);
        value.map_or(0, |value| xxh3_128(&value[..value.len().saturating_sub(without)]))
    };
    let all: Vec<u128> = detached(py, || (0..binary.len()).into_par_iter().map(digest).collect());
    let high: UInt64Array = all.iter().map(|digest| (digest >> 64) as u64).collect();
    let low: UInt64Array = all.iter().map(|digest| *digest as u64).collect();
    Table::new(vec![("high", Arc::new(high)), ("low", Arc::new(low))])
}

/// Compares pairs of signatures: for each pair, row `a_places[i]` of column `a` with row
/// `b_places[i]` of column `b`. Returns the pairs with at least `least` equal lanes: their places
/// `pair` in the list, the estimated `similarity`, and its interval from `low` to `high`.
#[pyfunction]
#[pyo3(signature = (a, a_places, b, b_places, *, least, confidence=0.95))]
pub(crate) fn compare_signatures(
    py: Python<'_>,
    a: &Bound<'_, PyAny>,
    a_places: &Bound<'_, PyAny>,
    b: &Bound<'_, PyAny>,
    b_places: &Bound<'_, PyAny>,
    #[pyo3(from_py_with = number)] least: usize,
    #[pyo3(from_py_with = number)] confidence: f64,
) -> PyResult<Table> {
    let (a, b) = (single(a, "a")?, single(b, "b")?);
    let places = Places::new((a_places, a.len()), (b_places, b.len()))?;
    let (a, b) = (signature_column("a", &a)?, signature_column("b", &b)?);
    let similar = |pair: usize| {
        let (x, y) = places.get(pair);
        let x = a.get(x)?.split_last_chunk::<SIZE_BYTES>()?.0;
        let y = b.get(y)?.split_last_chunk::<SIZE_BYTES>()?.0;
        let comparable = x.len() == y.len() && !x.is_empty();
        let equal = if comparable { equal_lanes(x, y) } else { return None };
        (equal >= least).then(|| (pair as u64, Agreement::new(equal, x.len())))
    };
    let found: twindex::Result<Vec<_>> = detached(py, || {
        let found = (0..places.a.len()).into_par_iter().with_min_len(1 << 10).filter_map(similar);
        let found = found.map(|(pair, agreement)| Ok((pair, agreement.estimate_at(confidence)?)));
        found.collect()
    });
    let found = found.map_err(raise)?;
    let column = |of: fn(&twindex::Estimate) -> f64| -> ArrayRef {
        Arc::new(found.iter().map(|(_, estimate)| Some(of(estimate))).collect::<Float64Array>())
    };
    let pairs: UInt64Array = found.iter().map(|(pair, _)| *pair).collect();
    Table::new(vec![
        ("pair", Arc::new(pairs)),
        ("similarity", column(|estimate| estimate.similarity)),
        ("low", column(|estimate| estimate.low)),
        ("high", column(|estimate| estimate.high)),
    ])
}

/// The exact similarities of pairs of texts, given as for `compare_signatures`.
pub(crate) fn compare_texts(
    py: Python<'_>,
    sketcher: &twindex::Sketcher,
    (a, a_places): (&Bound<'_, PyAny>, &Bound<'_, PyAny>),
    (b, b_places): (&Bound<'_, PyAny>, &Bound<'_, PyAny>),
) -> PyResult<Table> {
    if sketcher.is_weighted() {
        return Err(no_texts());
    }
    let (a, b) = (single(a, "a")?, single(b, "b")?);
    let places = Places::new((a_places, a.len()), (b_places, b.len()))?;
    let texts = |array: &ArrayRef| {
        TextColumn::new(array).map_err(|error| invalid(format!("the column {error}")))
    };
    let (a, b) = (texts(&a)?, texts(&b)?);
    let hashes = |column: &TextColumn, row| {
        column.get(row).map(|text| sketcher.shingler().set(text.unwrap_or_default()))
    };
    // Pairs with one text in common mostly follow each other.
    let pairs: Vec<usize> = (0..places.a.len()).collect();
    let compared: Result<Vec<Vec<f64>>, &str> = detached(py, || {
        let groups = pairs.chunk_by(|one, other| places.get(*one).0 == places.get(*other).0);
        let groups: Vec<&[usize]> = groups.collect();
        let of_group = |group: &&[usize]| {
            let Some(first) = group.first() else { return Ok(Vec::new()) };
            let left = hashes(&a, places.get(*first).0)?;
            let right = |pair: &usize| hashes(&b, places.get(*pair).1);
            let compared =
                group.iter().map(|pair| Ok(Overlap::of_sets(&left, &right(pair)?).similarity()));
            compared.collect()
        };
        groups.par_iter().map(of_group).collect()
    });
    let similarities: Float64Array =
        compared.map_err(invalid)?.into_iter().flatten().map(Some).collect();
    Table::new(vec![("similarity", Arc::new(similarities))])
}

/// Which documents are removed if each is kept unless a similar one before it is kept. `a` and `b`
/// are the numbers of similar documents, `a` before `b`. `waiting` are documents that must not be
/// kept yet, because not all that could be similar have been compared; documents that depend on
/// them stay undecided. Returns the removed ones, ascending, in a column `doc`.
#[pyfunction]
pub(crate) fn greedy(
    py: Python<'_>,
    a: &Bound<'_, PyAny>,
    b: &Bound<'_, PyAny>,
    waiting: &Bound<'_, PyAny>,
) -> PyResult<Table> {
    let (a, b) = (numbers(a, "a")?, numbers(b, "b")?);
    if a.len() != b.len() || a.values().iter().zip(b.values()).any(|(a, b)| a >= b) {
        return Err(invalid("a and b: expected pairs of which the first is less"));
    }
    let waiting = numbers(waiting, "waiting")?;
    let removed = detached(py, || {
        let mut pairs: Vec<(u64, u64)> =
            b.values().iter().copied().zip(a.values().iter().copied()).collect();
        pairs.par_sort_unstable();
        let mut undecided: HashSet<u64> = waiting.values().iter().copied().collect();
        let mut gone: HashSet<u64> = HashSet::new();
        let mut removed = Vec::new();
        // Whatever comes before a document is decided before it, because pairs are in its order.
        for of_one in pairs.chunk_by(|one, other| one.0 == other.0) {
            let Some((doc, _)) = of_one.first().copied() else { continue };
            let kept = |before: u64| !gone.contains(&before) && !undecided.contains(&before);
            if of_one.iter().any(|(_, before)| kept(*before)) {
                removed.push(doc);
                gone.insert(doc);
                undecided.remove(&doc);
            } else if of_one.iter().any(|(_, before)| undecided.contains(before)) {
                undecided.insert(doc);
            }
        }
        removed
    });
    Table::new(vec![("doc", Arc::new(UInt64Array::from(removed)))])
}

/// The connected components of the graph of similar documents. `a` and `b` are the numbers of
/// similar documents. Returns all of these, ascending, in a column `doc`, and the least document of
/// the component of each in a column `first`.
#[pyfunction]
pub(crate) fn components(
    py: Python<'_>,
    a: &Bound<'_, PyAny>,
    b: &Bound<'_, PyAny>,
) -> PyResult<Table> {
    let (a, b) = (numbers(a, "a")?, numbers(b, "b")?);
    if a.len() != b.len() {
        return Err(invalid(format!("{} numbers in a, but {} in b", a.len(), b.len())));
    }
    let (docs, firsts) = detached(py, || {
        let mut docs: Vec<u64> = a.values().iter().chain(b.values()).copied().collect();
        docs.par_sort_unstable();
        docs.dedup();
        // Places stand for documents; a parent never comes after its child.
        let mut parents: Vec<usize> = (0..docs.len()).collect();
        let place = |doc: &u64| docs.partition_point(|other| other < doc);
        for (x, y) in a.values().iter().zip(b.values()) {
            let (x, y) = (root(&mut parents, place(x)), root(&mut parents, place(y)));
            parents[x.max(y)] = x.min(y);
        }
        let firsts: Vec<u64> =
            (0..docs.len()).map(|place| docs[root(&mut parents, place)]).collect();
        (docs, firsts)
    });
    let column = |numbers: Vec<u64>| -> ArrayRef { Arc::new(UInt64Array::from(numbers)) };
    Table::new(vec![("doc", column(docs)), ("first", column(firsts))])
}

/// The root of a tree, with path halving (R. E. Tarjan, *Efficiency of a Good But Not Linear Set
/// Union Algorithm*, 1975).
fn root(parents: &mut [usize], mut place: usize) -> usize {
    while parents[place] != place {
        parents[place] = parents[parents[place]];
        place = parents[place];
    }
    place
}
