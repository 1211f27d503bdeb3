//! Sketchers: signatures without a file.

use crate::arrow::{Table, array_capsules, count_of, index_of, item, iterate};
use crate::columns::compare_texts;
use crate::content::{Given, text_of};
use crate::error::{invalid, no_texts, raise};
use crate::explanation::Explanation;
use crate::numbers::{maybe_number, number};
use crate::process::detached;
use crate::row::{Kind, Names};
use crate::rows::{RowBatch, Rows, signature_of};
use crate::settings::{Settings, Wanted};
use arrow_array::{ArrayRef, FixedSizeBinaryArray};
use arrow_buffer::Buffer;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyCapsule, PyIterator, PyString};
use std::sync::Arc;

/// Turns documents into signatures under fixed settings, those of an index or others. The arguments
/// are those of `twindex.open`.
///
/// >>> sketcher = twindex.Sketcher(shingle="word:2", lanes=64)
/// >>> len(sketcher.signature("a text of some words"))
/// 68
#[pyclass(frozen, module = "twindex")]
pub(crate) struct Sketcher {
    sketcher: twindex::Sketcher,
    settings: twindex::Settings,
}

impl Sketcher {
    pub(crate) fn of_index(sketcher: &twindex::Sketcher, settings: &twindex::Settings) -> Self {
        Self { sketcher: sketcher.clone(), settings: *settings }
    }
}

#[pymethods]
impl Sketcher {
    #[new]
    #[pyo3(signature = (*, lanes=None, shingle=None, normalize=None, multiset=None, weighted=None,
                        seed=None))]
    fn new(
        #[pyo3(from_py_with = maybe_number)] lanes: Option<usize>,
        shingle: Option<String>,
        normalize: Option<String>,
        multiset: Option<bool>,
        weighted: Option<bool>,
        seed: Option<Bound<'_, PyAny>>,
    ) -> PyResult<Self> {
        let wanted =
            Wanted { lanes, shingle, normalize, multiset, weighted, seed, ..Wanted::default() };
        let settings = wanted.options()?.settings().map_err(raise)?;
        Ok(Self { sketcher: settings.sketcher().map_err(raise)?, settings })
    }

    /// The sketcher of an index with these settings.
    #[staticmethod]
    fn of(settings: &Settings) -> PyResult<Self> {
        let settings = settings.get();
        Ok(Self::of_index(&settings.sketcher().map_err(raise)?, settings))
    }

    /// The settings of the signatures.
    #[getter]
    fn settings(&self) -> Settings {
        Settings::new(&self.settings)
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<(Bound<'py, PyAny>, (Settings,))> {
        Ok((slf.get_type().getattr("of")?, (slf.get().settings(),)))
    }

    /// The length of a signature in bytes: a byte for each lane, and 4 for the size of the set.
    #[getter]
    fn signature_bytes(&self) -> usize {
        self.sketcher.lanes() + 4
    }

    /// The signature of one document.
    fn signature<'py>(
        &self,
        py: Python<'py>,
        content: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let given = Given::new(content)?;
        let signature = detached(py, || self.sketcher.signature(given.content())).map_err(raise)?;
        Ok(PyBytes::new(py, &signature.to_bytes()))
    }

    /// The signatures of many documents: of a column that speaks Arrow, of a column `text` of a
    /// table, or of an iterable.
    #[pyo3(signature = (column, *, text="text", progress=None))]
    fn sketch(
        &self,
        py: Python<'_>,
        column: &Bound<'_, PyAny>,
        text: &str,
        progress: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Signatures> {
        let names = Names::new(None, text);
        let mut rows = Rows::new(column, names)?;
        let (mut bytes, mut count) = (Vec::new(), 0_usize);
        while let Some(batch) = rows.next(py, Kind::Contents.under(&self.settings))? {
            let made = detached(py, || self.signatures(&batch));
            let made = made.map_err(|bad| bad.raise())?;
            count += batch.len();
            bytes.extend_from_slice(&made);
            py.check_signals()?;
            if let Some(progress) = progress {
                progress.call1((count, rows.total))?;
            }
        }
        Signatures::new(bytes, self.signature_bytes())
    }

    /// The estimated similarity of two signatures and its interval: (similarity, low, high).
    /// `None` if one is of an empty document.
    #[staticmethod]
    #[pyo3(signature = (a, b, *, confidence=0.95))]
    fn similarity(
        a: &[u8],
        b: &[u8],
        #[pyo3(from_py_with = number)] confidence: f64,
    ) -> PyResult<Option<(f64, f64, f64)>> {
        let (a, b) = (signature_of(a).map_err(invalid)?, signature_of(b).map_err(invalid)?);
        if a.lanes().len() != b.lanes().len() {
            return Err(invalid("the signatures have different numbers of lanes"));
        }
        let estimate = a.similarity_at(&b, confidence).map_err(raise)?;
        Ok(estimate.map(|estimate| (estimate.similarity, estimate.low, estimate.high)))
    }

    /// The exact similarities of many pairs of texts: of row `a_places[i]` of column `a` with row
    /// `b_places[i]` of column `b`, in a column `similarity`. Pairs of one text of `a` are fastest
    /// if they follow each other.
    fn compare_texts(
        &self,
        py: Python<'_>,
        a: &Bound<'_, PyAny>,
        a_places: &Bound<'_, PyAny>,
        b: &Bound<'_, PyAny>,
        b_places: &Bound<'_, PyAny>,
    ) -> PyResult<Table> {
        compare_texts(py, &self.sketcher, (a, a_places), (b, b_places))
    }

    /// The passages that two texts share.
    fn explain(
        &self,
        py: Python<'_>,
        a: &Bound<'_, PyString>,
        b: &Bound<'_, PyString>,
    ) -> PyResult<Explanation> {
        if self.sketcher.is_weighted() {
            return Err(no_texts());
        }
        let (a, b) = (text_of(a)?, text_of(b)?);
        let shingler = self.sketcher.shingler();
        let explained =
            detached(py, || twindex::Explanation::new(shingler, &a, &b)).map_err(raise)?;
        Ok(Explanation::new(&explained, &a))
    }

    fn __repr__(&self) -> String {
        let settings = &self.settings;
        format!(
            "Sketcher(lanes={}, shingle='{}', normalize='{}', seed={})",
            settings.lanes(),
            settings.shingle,
            settings.normalization,
            settings.seed,
        )
    }
}

impl Sketcher {
    fn signatures(&self, batch: &RowBatch) -> Result<Vec<u8>, crate::rows::BadRow> {
        let (documents, bad) = batch.documents(&self.sketcher, &self.settings, false);
        if let Some(bad) = bad {
            return Err(bad);
        }
        let mut bytes = Vec::with_capacity(documents.len() * self.signature_bytes());
        for document in &documents {
            bytes.extend_from_slice(&document.signature().to_bytes());
        }
        Ok(bytes)
    }
}

/// Many signatures: a sequence of bytes, and a column of fixed-size binary for Arrow.
#[pyclass(frozen, sequence, module = "twindex")]
pub(crate) struct Signatures {
    array: FixedSizeBinaryArray,
}

impl Signatures {
    fn new(bytes: Vec<u8>, width: usize) -> PyResult<Self> {
        let width = i32::try_from(width)?;
        let array = FixedSizeBinaryArray::try_new(width, Buffer::from_vec(bytes), None);
        Ok(Self { array: array.map_err(|error| invalid(error.to_string()))? })
    }
}

#[pymethods]
impl Signatures {
    fn __len__(&self) -> usize {
        arrow_array::Array::len(&self.array)
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
        item(py, place, self.__len__(), |at| {
            (at < self.__len__()).then(|| PyBytes::new(py, self.array.value(at)))
        })
    }

    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_array__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<(Bound<'py, PyCapsule>, Bound<'py, PyCapsule>)> {
        drop(requested_schema);
        let array: ArrayRef = Arc::new(self.array.clone());
        array_capsules(py, &array)
    }

    fn __repr__(&self) -> String {
        format!("<{} signatures of {} bytes>", self.__len__(), self.array.value_length())
    }
}
