//! The settings of an index: how Python gives them, and how it sees them.

use crate::error::{invalid, raise};
use crate::numbers::maybe_number;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyInt, PyString, PyTuple};
use std::time::Duration;
use twindex::{IndexOptions, Normalization, Shingle};

/// The settings that a caller has named. The others have their defaults, or are those of the file.
#[derive(Default)]
pub(crate) struct Wanted<'py> {
    pub(crate) threshold: Option<f64>,
    pub(crate) recall: Option<f64>,
    pub(crate) lanes: Option<usize>,
    pub(crate) shingle: Option<String>,
    pub(crate) normalize: Option<String>,
    pub(crate) multiset: Option<bool>,
    pub(crate) weighted: Option<bool>,
    pub(crate) store_text: Option<bool>,
    pub(crate) passages: Option<Bound<'py, PyAny>>,
    pub(crate) seed: Option<Bound<'py, PyAny>>,
}

impl Wanted<'_> {
    /// Options of the library with these settings.
    pub(crate) fn options(&self) -> PyResult<IndexOptions> {
        let mut options = IndexOptions::new();
        if let Some(threshold) = self.threshold {
            options = options.threshold(threshold);
        }
        if let Some(recall) = self.recall {
            options = options.recall(recall);
        }
        if let Some(lanes) = self.lanes {
            options = options.lanes(lanes);
        }
        if let Some(shingle) = &self.shingle {
            options = options.shingle(shingle.parse::<Shingle>().map_err(raise)?);
        }
        if let Some(normalize) = &self.normalize {
            options = options.normalization(normalize.parse::<Normalization>().map_err(raise)?);
        }
        if let Some(multiset) = self.multiset {
            options = options.multiset(multiset);
        }
        if let Some(weighted) = self.weighted {
            options = options.weighted(weighted);
        }
        if let Some(store_text) = self.store_text {
            options = options.store_text(store_text);
        }
        if let Some(passages) = &self.passages {
            options = with_passages(options, passages)?;
        }
        let Some(seed) = &self.seed else { return Ok(options) };
        if seed.is_instance_of::<PyInt>() && !seed.is_instance_of::<PyBool>() {
            let seed = seed.extract().map_err(|_| invalid("seed: expected 0 to 2**64 - 1"))?;
            return Ok(options.seed(seed));
        }
        if seed.cast::<PyString>().is_ok_and(|seed| seed == "random") {
            Ok(options.random_seed())
        } else {
            Err(PyTypeError::new_err("seed: expected an int or 'random'"))
        }
    }
}

/// Options with passages of a length, of the usual length (`True`), or none (`False`).
fn with_passages(options: IndexOptions, passages: &Bound<'_, PyAny>) -> PyResult<IndexOptions> {
    if let Ok(wanted) = passages.cast::<PyBool>() {
        return Ok(if wanted.is_true() { options.usual_passages() } else { options.passages(0) });
    }
    if !passages.is_instance_of::<PyInt>() {
        return Err(PyTypeError::new_err("passages: expected an int or a bool"));
    }
    let length = passages.extract();
    let length = length.map_err(|_| invalid("passages: expected a length from 0 on"))?;
    Ok(options.passages(length))
}

/// A time to wait, in seconds.
pub(crate) fn seconds(wait: f64) -> PyResult<Duration> {
    match Duration::try_from_secs_f64(wait) {
        Ok(wait) => Ok(wait),
        Err(_) if wait == f64::INFINITY => Ok(Duration::from_secs(u32::MAX.into())),
        Err(_) => Err(invalid(format!("wait={wait}: expected a number of seconds from 0 on"))),
    }
}

/// The settings of an index. They are chosen when it is created, and stay. Made without an index,
/// they tell what one would have: the arguments are those of `twindex.open`.
///
/// >>> twindex.Settings(threshold=0.9).bands
/// 7
#[pyclass(frozen, module = "twindex", eq)]
#[derive(PartialEq, Clone)]
pub(crate) struct Settings {
    settings: twindex::Settings,
}

impl Settings {
    pub(crate) fn new(settings: &twindex::Settings) -> Self {
        Self { settings: *settings }
    }

    pub(crate) fn get(&self) -> &twindex::Settings {
        &self.settings
    }
}

#[pymethods]
impl Settings {
    #[new]
    #[pyo3(signature = (*, threshold=None, recall=None, lanes=None, shingle=None, normalize=None,
                        multiset=None, weighted=None, store_text=None, passages=None, seed=None))]
    #[expect(clippy::too_many_arguments, reason = "they are keywords in Python")]
    fn chosen(
        #[pyo3(from_py_with = maybe_number)] threshold: Option<f64>,
        #[pyo3(from_py_with = maybe_number)] recall: Option<f64>,
        #[pyo3(from_py_with = maybe_number)] lanes: Option<usize>,
        shingle: Option<String>,
        normalize: Option<String>,
        multiset: Option<bool>,
        weighted: Option<bool>,
        store_text: Option<bool>,
        passages: Option<Bound<'_, PyAny>>,
        seed: Option<Bound<'_, PyAny>>,
    ) -> PyResult<Self> {
        let wanted = Wanted {
            threshold,
            recall,
            lanes,
            shingle,
            normalize,
            multiset,
            weighted,
            store_text,
            passages,
            seed,
        };
        Ok(Self { settings: wanted.options()?.settings().map_err(raise)? })
    }

    fn __getnewargs_ex__<'py>(
        &self,
        py: Python<'py>,
    ) -> PyResult<(Bound<'py, PyTuple>, Bound<'py, PyDict>)> {
        Ok((PyTuple::empty(py), self.to_dict(py)?))
    }

    /// The similarity from which on documents count as similar, from 0 to 1.
    #[getter]
    fn threshold(&self) -> f64 {
        self.settings.threshold()
    }

    /// The probability that a pair at the threshold becomes a candidate, at least.
    #[getter]
    fn recall(&self) -> f64 {
        self.settings.recall()
    }

    /// The number of lanes of a signature, a byte each.
    #[getter]
    fn lanes(&self) -> usize {
        self.settings.lanes()
    }

    /// What documents are cut into: `char:9`, `word:3`, `line:1`, `token` or `kmer:21`.
    #[getter]
    fn shingle(&self) -> String {
        self.settings.shingle.to_string()
    }

    /// What is made equal before shingling: a list of `lower`, `nfc`, `space` and others.
    #[getter]
    fn normalize(&self) -> String {
        self.settings.normalization.to_string()
    }

    /// Whether repeated shingles count.
    #[getter]
    fn multiset(&self) -> bool {
        self.settings.multiset
    }

    /// Whether documents are weighted sets.
    #[getter]
    fn weighted(&self) -> bool {
        self.settings.weighted
    }

    /// Whether texts are stored, so that answers are exact.
    #[getter]
    fn store_text(&self) -> bool {
        self.settings.store_text
    }

    /// The length from which on shared passages are found, in characters, words, lines or tokens; 0
    /// if they are not.
    #[getter]
    fn passages(&self) -> usize {
        self.settings.winnowing.map_or(0, |winnowing| winnowing.length())
    }

    /// The seed of the hash functions.
    #[getter]
    fn seed(&self) -> u64 {
        self.settings.seed
    }

    /// The number of bands that the index stores.
    #[getter]
    fn bands(&self) -> usize {
        self.settings.plan.bands()
    }

    /// The number of lanes in the word of a band.
    #[getter]
    fn depth(&self) -> u32 {
        self.settings.plan.depth()
    }

    /// The number of equal lanes from which on two documents of one bucket are similar by estimate.
    #[getter]
    fn similar_lanes(&self) -> usize {
        self.settings.least_equal_lanes(false)
    }

    /// The number of equal lanes from which on the texts of two documents of one bucket are
    /// compared, for exact similarities.
    #[getter]
    fn compared_lanes(&self) -> usize {
        self.settings.least_equal_lanes(true)
    }

    /// The settings by the names that `twindex.open` takes: `twindex.open(path, **settings)`.
    pub(crate) fn to_dict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let dict = PyDict::new(py);
        dict.set_item("threshold", self.threshold())?;
        dict.set_item("recall", self.recall())?;
        dict.set_item("lanes", self.lanes())?;
        dict.set_item("shingle", self.shingle())?;
        dict.set_item("normalize", self.normalize())?;
        dict.set_item("multiset", self.multiset())?;
        dict.set_item("weighted", self.weighted())?;
        dict.set_item("store_text", self.store_text())?;
        dict.set_item("passages", self.passages())?;
        dict.set_item("seed", self.seed())?;
        Ok(dict)
    }

    fn __repr__(&self) -> String {
        let flag = |set| if set { "True" } else { "False" };
        format!(
            "Settings(threshold={}, recall={}, lanes={}, shingle='{}', normalize='{}', \
             multiset={}, weighted={}, store_text={}, passages={}, seed={})",
            self.threshold(),
            self.recall(),
            self.lanes(),
            self.shingle(),
            self.normalize(),
            flag(self.multiset()),
            flag(self.weighted()),
            flag(self.store_text()),
            self.passages(),
            self.seed(),
        )
    }
}
