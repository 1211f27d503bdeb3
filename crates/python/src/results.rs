//! What questions return: matches with their similarities.

use crate::arrow::{Table, count_of, index_of, item, iterate, stream_capsule};
use crate::error::invalid;
use arrow_array::{
    ArrayRef, BooleanArray, Float64Array, LargeStringArray, RecordBatch, RecordBatchIterator,
};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyCapsule, PyIterator};
use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;
use std::time::SystemTime;

/// A document that is similar to what was asked about.
#[pyclass(frozen, module = "twindex")]
#[derive(Clone)]
pub(crate) struct Match {
    found: twindex::Match,
}

impl Match {
    pub(crate) fn new(found: twindex::Match) -> Self {
        Self { found }
    }
}

#[pymethods]
impl Match {
    /// The id of the document.
    #[getter]
    fn id(&self) -> &str {
        &self.found.id
    }

    /// The Jaccard similarity, from 0 to 1.
    #[getter]
    fn similarity(&self) -> f64 {
        self.found.similarity
    }

    /// The lower end of the interval of the similarity.
    #[getter]
    fn low(&self) -> f64 {
        self.found.low
    }

    /// The upper end of the interval of the similarity.
    #[getter]
    fn high(&self) -> f64 {
        self.found.high
    }

    /// Whether the similarity was computed from stored texts rather than estimated.
    #[getter]
    fn exact(&self) -> bool {
        self.found.exact
    }

    /// The share of the query that is in the document, of a query for containment.
    #[getter]
    fn containment(&self) -> Option<f64> {
        self.found.containment.map(|containment| containment.share)
    }

    /// The interval of the containment: its lower and its upper end.
    #[getter]
    fn containment_interval(&self) -> Option<(f64, f64)> {
        self.found.containment.map(|containment| (containment.low, containment.high))
    }

    fn __eq__(&self, other: &Bound<'_, PyAny>) -> bool {
        other.cast::<Self>().is_ok_and(|other| other.get().found == self.found)
    }

    fn __hash__(&self) -> u64 {
        hashed(&(&self.found.id, self.found.similarity.to_bits()))
    }

    fn __repr__(&self) -> String {
        let twindex::Match { id, similarity, low, high, exact, containment, .. } = &self.found;
        let containment = containment.map(|share| format!(", containment={:.4}", share.share));
        let containment = containment.unwrap_or_default();
        if *exact {
            format!("Match({id:?}, {similarity:.4}, exact{containment})")
        } else {
            format!("Match({id:?}, {similarity:.4} [{low:.4}, {high:.4}]{containment})")
        }
    }
}

/// The documents that a query found, the most similar first. A sequence of `Match`.
#[pyclass(frozen, sequence, module = "twindex")]
pub(crate) struct Matches {
    found: twindex::Matches,
    matches: Vec<twindex::Match>,
    /// Whether the query was one for containment.
    containment: bool,
}

impl Matches {
    pub(crate) fn new(found: twindex::Matches, containment: bool) -> Self {
        let matches = found.iter().cloned().collect();
        Self { found, matches, containment }
    }
}

#[pymethods]
impl Matches {
    /// The probability that a document at the threshold was found, at least.
    #[getter]
    fn recall(&self) -> f64 {
        self.found.recall
    }

    /// The number of documents that were compared.
    #[getter]
    fn candidates(&self) -> u64 {
        self.found.candidates
    }

    /// The number of matches that were found and not returned.
    #[getter]
    fn left_out(&self) -> u64 {
        self.found.left_out
    }

    /// Whether `max_candidates` may have left out candidates, so that similar documents may be
    /// missing.
    #[getter]
    fn limited(&self) -> bool {
        self.found.limited
    }

    fn __len__(&self) -> usize {
        self.matches.len()
    }

    fn __iter__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyIterator>> {
        iterate(slf)
    }

    /// The place of the first item that is equal to a value.
    fn index(slf: &Bound<'_, Self>, value: &Bound<'_, PyAny>) -> PyResult<usize> {
        index_of(slf, value)
    }

    /// The number of items that are equal to a value.
    fn count(slf: &Bound<'_, Self>, value: &Bound<'_, PyAny>) -> PyResult<usize> {
        count_of(slf, value)
    }

    fn __getitem__<'py>(
        &self,
        py: Python<'py>,
        place: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        item(py, place, self.matches.len(), |at| {
            self.matches.get(at).map(|found| Match::new(found.clone()))
        })
    }

    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        drop(requested_schema);
        let mut columns = scores(&self.matches, self.containment);
        columns.insert(0, ("id", ids(self.matches.iter().map(|found| &*found.id))));
        single_batch(py, columns)
    }

    fn __repr__(&self) -> String {
        let first: Vec<String> =
            self.matches.iter().take(3).map(|found| Match::new(found.clone()).__repr__()).collect();
        let more = if self.matches.len() > 3 { ", ..." } else { "" };
        let (count, first) = (self.matches.len(), first.join(", "));
        match count {
            1 => format!("<1 match: [{first}]>"),
            _ => format!("<{count} matches: [{first}{more}]>"),
        }
    }
}

/// The hash of an object of Python, in one process.
pub(crate) fn hashed(value: &impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}

/// A capsule of one batch of columns.
pub(crate) fn single_batch<'py>(
    py: Python<'py>,
    columns: Vec<(&str, ArrayRef)>,
) -> PyResult<Bound<'py, PyCapsule>> {
    let batch = RecordBatch::try_from_iter(columns);
    let batch = batch.map_err(|error| invalid(error.to_string()))?;
    let schema = batch.schema();
    stream_capsule(py, RecordBatchIterator::new([Ok(batch)], schema))
}

/// A column of strings.
pub(crate) fn ids<'i>(ids: impl Iterator<Item = &'i str>) -> ArrayRef {
    Arc::new(LargeStringArray::from_iter_values(ids))
}

fn scores(matches: &[twindex::Match], containment: bool) -> Vec<(&'static str, ArrayRef)> {
    let numbers = |of: fn(&twindex::Match) -> f64| -> ArrayRef {
        Arc::new(Float64Array::from_iter_values(matches.iter().map(of)))
    };
    let exact = matches.iter().map(|found| Some(found.exact));
    let mut columns: Vec<(&'static str, ArrayRef)> = vec![
        ("similarity", numbers(|found| found.similarity)),
        ("low", numbers(|found| found.low)),
        ("high", numbers(|found| found.high)),
        ("exact", Arc::new(exact.collect::<BooleanArray>())),
    ];
    if containment {
        columns.push((
            "containment",
            numbers(|found| found.containment.map_or(0.0, |containment| containment.share)),
        ));
    }
    columns
}

/// What an index knows of a document.
#[pyclass(frozen, module = "twindex")]
pub(crate) struct Document {
    info: twindex::DocumentInfo,
}

impl Document {
    pub(crate) fn new(info: twindex::DocumentInfo) -> Self {
        Self { info }
    }
}

#[pymethods]
impl Document {
    /// The id of the document.
    #[getter]
    fn id(&self) -> &str {
        &self.info.id
    }

    /// The length of its text in bytes of UTF-8; 0 if it was given by its signature.
    #[getter]
    fn text_bytes(&self) -> u64 {
        self.info.text_bytes
    }

    /// The number of its distinct shingles, an estimate within 0.4 %.
    #[getter]
    fn shingles(&self) -> f64 {
        self.info.shingles
    }

    /// When it was inserted, to the second.
    #[getter]
    fn inserted(&self) -> SystemTime {
        self.info.inserted
    }

    /// Its signature: a byte for each lane, and 4 for the size of its set.
    #[getter]
    fn signature<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.info.signature.to_bytes())
    }

    fn __repr__(&self) -> String {
        let twindex::DocumentInfo { id, text_bytes, shingles, .. } = &self.info;
        format!("Document({id:?}, {text_bytes} bytes, {shingles} shingles)")
    }
}

/// What an insertion of many documents did.
#[pyclass(frozen, module = "twindex", get_all, eq)]
#[derive(Clone, Copy, Default, PartialEq)]
pub(crate) struct Inserted {
    /// The number of documents whose ids were new.
    pub(crate) added: u64,
    /// The number of documents that replaced one with the same id and another text.
    pub(crate) replaced: u64,
    /// The number of documents that the index had already, with the same text.
    pub(crate) unchanged: u64,
    /// The number of documents left out because the index has their id with another text.
    pub(crate) skipped: u64,
}

impl Inserted {
    pub(crate) fn count(&mut self, outcome: twindex::Inserted) {
        match outcome {
            twindex::Inserted::Added => self.added += 1,
            twindex::Inserted::Replaced => self.replaced += 1,
            twindex::Inserted::Unchanged => self.unchanged += 1,
            twindex::Inserted::Skipped => self.skipped += 1,
        }
    }
}

#[pymethods]
impl Inserted {
    fn __repr__(&self) -> String {
        let Self { added, replaced, unchanged, skipped } = self;
        format!(
            "Inserted(added={added}, replaced={replaced}, unchanged={unchanged}, \
             skipped={skipped})"
        )
    }
}

/// The word for what an insertion did.
pub(crate) fn word(outcome: twindex::Inserted) -> &'static str {
    match outcome {
        twindex::Inserted::Added => "added",
        twindex::Inserted::Replaced => "replaced",
        twindex::Inserted::Unchanged => "unchanged",
        twindex::Inserted::Skipped => "skipped",
    }
}

/// The outcome of a deduplication, a row for each document.
#[derive(Default)]
pub(crate) struct Deduplicated {
    ids: Vec<String>,
    originals: Vec<Option<(Original, Option<f64>)>>,
    /// The rows without an id, which are named by their numbers.
    unnamed: Vec<usize>,
    /// The hashes of the ids so far.
    seen: HashSet<u64>,
    repeated: Option<String>,
}

/// The document that another one is a duplicate of.
enum Original {
    Id(String),
    /// An earlier row, by its number.
    Row(usize),
}

impl Deduplicated {
    /// Adds a document of an index. Remembers the first id that comes twice.
    pub(crate) fn push(&mut self, id: String, outcome: twindex::Outcome) {
        if self.repeated.is_none() && !self.seen.insert(hashed(&id)) {
            self.repeated = Some(id.clone());
        }
        self.add(id, outcome);
    }

    /// Adds a document whose id cannot come twice.
    pub(crate) fn add(&mut self, id: String, outcome: twindex::Outcome) {
        self.originals.push(match outcome {
            twindex::Outcome::Duplicate { of, .. } => {
                Some((Original::Id(of.id), Some(of.similarity)))
            }
            // The index keeps what it has under this id.
            twindex::Outcome::Inserted(twindex::Inserted::Skipped) => {
                Some((Original::Id(id.clone()), None))
            }
            _ => None,
        });
        self.ids.push(id);
    }

    /// Like `push`, for documents that are named by the numbers of their rows, and rows that may
    /// give an id.
    pub(crate) fn push_numbered(
        &mut self,
        number: String,
        id: Option<String>,
        outcome: twindex::Outcome,
    ) {
        let own = matches!(outcome, twindex::Outcome::Duplicate { against: None, .. });
        if id.is_none() {
            self.unnamed.push(self.ids.len());
        }
        self.add(id.unwrap_or(number), outcome);
        if own
            && let Some(Some((original, _))) = self.originals.last_mut()
            && let Original::Id(number) = original
            && let Ok(row) = number.parse()
        {
            *original = Original::Row(row);
        }
    }

    /// Gives rows without an id names that no row has as its id.
    fn name_rows(&mut self) {
        let unnamed = std::mem::take(&mut self.unnamed);
        let mut numbers = unnamed.iter().copied().peekable();
        let is_given = |row: &usize| numbers.next_if_eq(row).is_none();
        let given = (0..self.ids.len()).filter(is_given).filter_map(|row| self.ids.get(row));
        let given: HashSet<String> = given.cloned().collect();
        for row in unnamed {
            let Some(name) = self.ids.get_mut(row) else { continue };
            while given.contains(name) {
                name.insert(0, '#');
            }
        }
    }

    fn name<'d>(&'d self, original: &'d Original) -> Option<&'d str> {
        match original {
            Original::Id(id) => Some(id),
            Original::Row(row) => self.ids.get(*row).map(String::as_str),
        }
    }

    /// The table: `id`, `keep`, `duplicate_of`, `similarity`.
    pub(crate) fn table(mut self) -> PyResult<Table> {
        if let Some(id) = &self.repeated {
            return Err(invalid(format!(
                "the id {id:?} comes twice: give each document its own, or use twindex.dedup"
            )));
        }
        if !self.unnamed.is_empty() {
            self.name_rows();
        }
        let keep = self.originals.iter().map(|original| Some(original.is_none()));
        let of = self.originals.iter();
        let of = of.map(|original| self.name(&original.as_ref()?.0));
        let similarity =
            self.originals.iter().map(|original| original.as_ref().and_then(|of| of.1));
        Table::new(vec![
            ("id", ids(self.ids.iter().map(|id| &**id))),
            ("keep", Arc::new(keep.collect::<BooleanArray>())),
            ("duplicate_of", Arc::new(of.collect::<LargeStringArray>())),
            ("similarity", Arc::new(similarity.collect::<Float64Array>())),
        ])
    }
}
