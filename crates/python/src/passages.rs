//! Passages that documents of an index share with a text.

use pyo3::prelude::*;
use twindex::Span;

/// A place in a text: its start and its end in characters, as Python's strings are counted.
fn place(span: Span) -> (usize, usize) {
    (span.char_start, span.char_end)
}

/// A passage that a text and a document share.
#[pyclass(frozen, module = "twindex", get_all, eq)]
#[derive(Clone, PartialEq)]
pub(crate) struct SharedPassage {
    /// Its start and its end in the text.
    query: (usize, usize),
    /// Its start and its end in the document; `None` if the index stores no texts.
    document: Option<(usize, usize)>,
    /// The number of its units: characters after normalisation, words, lines or tokens. Without
    /// stored texts, at least so many.
    units: usize,
    /// The most units that it can have.
    most: usize,
}

#[pymethods]
impl SharedPassage {
    fn __repr__(&self) -> String {
        let ((start, end), units) = (self.query, self.units);
        match self.document {
            Some((a, b)) => format!("SharedPassage({start}:{end}, {a}:{b}, units={units})"),
            None => format!("SharedPassage({start}:{end}, units={units})"),
        }
    }
}

/// A document that shares a passage with a text.
#[pyclass(frozen, module = "twindex", get_all, eq)]
#[derive(Clone, PartialEq)]
pub(crate) struct PassageMatch {
    /// The id of the document.
    id: String,
    /// The share of the text that lies in shared passages. Without stored texts, at least so much.
    share: f64,
    /// The most that can lie in shared passages.
    most: f64,
    /// The passages, in the order of the text.
    passages: Vec<SharedPassage>,
}

#[pymethods]
impl PassageMatch {
    fn __repr__(&self) -> String {
        let Self { id, share, passages, .. } = self;
        format!("PassageMatch({id:?}, share={share:.4}, {} passages)", passages.len())
    }
}

/// The documents that share a passage with a text, those that share most first.
pub(crate) fn matches(found: &twindex::PassageMatches) -> Vec<PassageMatch> {
    let one = |found_one: &twindex::PassageMatch| {
        let (share, most) = found.share(found_one);
        let passages = found_one.passages.iter().map(|passage| SharedPassage {
            query: place(passage.query),
            document: passage.document.map(place),
            units: passage.units,
            most: passage.most,
        });
        PassageMatch { id: found_one.id.clone(), share, most, passages: passages.collect() }
    };
    found.iter().map(one).collect()
}

/// A passage of a text that a document of the index has.
#[pyclass(frozen, module = "twindex", get_all, eq)]
#[derive(Clone, PartialEq)]
pub(crate) struct KnownPassage {
    /// Its start and its end in the text.
    place: (usize, usize),
    /// The id of the document that has it: the one that was inserted first.
    of: String,
    /// Its start and its end in that document.
    at: (usize, usize),
    /// The number of its units.
    units: usize,
}

#[pymethods]
impl KnownPassage {
    fn __repr__(&self) -> String {
        let Self { place: (start, end), of, at: (a, b), .. } = self;
        format!("KnownPassage({start}:{end}, of={of:?} {a}:{b})")
    }
}

/// The passages of a text that documents of an index have.
#[pyclass(frozen, module = "twindex", get_all)]
pub(crate) struct KnownPassages {
    /// The passages, in the order of the text. They may overlap.
    passages: Vec<KnownPassage>,
    /// The share of the text that is known, from 0 to 1.
    share: f64,
    /// The text without its known passages. Words stay whole.
    rest: String,
    /// Whether more than 100 documents have a fingerprint of the text, of which only the first 100
    /// were compared with it.
    limited: bool,
}

impl KnownPassages {
    pub(crate) fn new(known: &twindex::KnownPassages, text: &str) -> Self {
        let passage = |found: &twindex::KnownPassage| KnownPassage {
            place: place(found.place),
            of: found.of.clone(),
            at: place(found.at),
            units: found.units,
        };
        Self {
            passages: known.passages().iter().map(passage).collect(),
            share: known.share(),
            rest: known.without(text),
            limited: known.limited,
        }
    }
}

#[pymethods]
impl KnownPassages {
    fn __len__(&self) -> usize {
        self.passages.len()
    }

    fn __bool__(&self) -> bool {
        !self.passages.is_empty()
    }

    fn __repr__(&self) -> String {
        format!("<KnownPassages: {} passages, share {:.4}>", self.passages.len(), self.share)
    }
}
