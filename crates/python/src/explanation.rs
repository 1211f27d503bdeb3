//! The passages that two texts share.

use pyo3::prelude::*;

/// A passage that two texts share. Places are counted in characters, as Python's strings are.
#[pyclass(frozen, module = "twindex", get_all, eq)]
#[derive(Clone, PartialEq)]
pub(crate) struct Passage {
    /// The passage in the first text: its start and its end.
    a: (usize, usize),
    /// The passage in the second text: its start and its end.
    b: (usize, usize),
    /// The passage as it is written in the first text.
    text: String,
    /// The number of shingles that the two passages share.
    shingles: usize,
}

#[pymethods]
impl Passage {
    fn __repr__(&self) -> String {
        let Self { a, b, text, .. } = self;
        let short: String = text.chars().take(40).collect();
        let more = if short.len() < text.len() { "..." } else { "" };
        format!("Passage({}:{}, {}:{}, {:?})", a.0, a.1, b.0, b.1, short + more)
    }
}

/// Why two texts are similar: the passages that they share, and how much of each they cover.
#[pyclass(frozen, module = "twindex", get_all)]
pub(crate) struct Explanation {
    /// The passages, in the order of the first text.
    passages: Vec<Passage>,
    /// The exact Jaccard similarity of the two texts' shingles.
    similarity: f64,
    /// The share of the first text's characters that the passages cover.
    share_of_a: f64,
    /// The share of the second text's characters that the passages cover.
    share_of_b: f64,
    /// The exact share of the first text's shingles that are in the second.
    a_in_b: f64,
    /// The exact share of the second text's shingles that are in the first.
    b_in_a: f64,
}

impl Explanation {
    pub(crate) fn new(explained: &twindex::Explanation, a: &str) -> Self {
        let passages = explained.passages.iter().map(|passage| Passage {
            a: (passage.a.char_start, passage.a.char_end),
            b: (passage.b.char_start, passage.b.char_end),
            text: a.get(passage.a.bytes()).unwrap_or_default().to_owned(),
            shingles: passage.shingles,
        });
        Self {
            passages: passages.collect(),
            similarity: explained.overlap.similarity(),
            share_of_a: explained.share_of_a(),
            share_of_b: explained.share_of_b(),
            a_in_b: explained.overlap.a_in_b(),
            b_in_a: explained.overlap.b_in_a(),
        }
    }
}

#[pymethods]
impl Explanation {
    fn __repr__(&self) -> String {
        format!(
            "<Explanation: similarity {:.4}, {} passages, {:.0} % of a, {:.0} % of b>",
            self.similarity,
            self.passages.len(),
            100.0 * self.share_of_a,
            100.0 * self.share_of_b,
        )
    }
}
