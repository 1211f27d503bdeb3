//! The settings of an index: how Python gives them, and how it sees them.

use crate::error::{invalid, raise};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyInt, PyString};
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
        let Some(seed) = &self.seed else { return Ok(options) };
        if seed.is_instance_of::<PyInt>() && !seed.is_instance_of::<PyBool>() {
            let seed = seed.extract().map_err(|_| invalid("seed: expected 0 to 2**64 - 1"))?;
            return Ok(options.seed(seed));
        }
        match seed.cast::<PyString>().is_ok_and(|seed| seed == "random") {
            true => Ok(options.random_seed()),
            false => Err(PyTypeError::new_err("seed: expected an int or 'random'")),
        }
    }
}

/// A time to wait, in seconds.
pub(crate) fn seconds(wait: f64) -> PyResult<Duration> {
    match Duration::try_from_secs_f64(wait) {
        Ok(wait) => Ok(wait),
        Err(_) if wait == f64::INFINITY => Ok(Duration::from_secs(u32::MAX.into())),
        Err(_) => Err(invalid(format!("wait={wait}: expected a number of seconds from 0 on"))),
    }
}

/// The settings of an index. They are chosen when it is created, and stay.
#[pyclass(frozen, module = "twindex", eq)]
#[derive(PartialEq, Clone)]
pub(crate) struct Settings {
    settings: twindex::Settings,
}

impl Settings {
    pub(crate) fn new(settings: &twindex::Settings) -> Self {
        Self { settings: *settings }
    }
}

#[pymethods]
impl Settings {
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

    fn __repr__(&self) -> String {
        let flag = |set| if set { "True" } else { "False" };
        format!(
            "Settings(threshold={}, recall={}, lanes={}, shingle='{}', normalize='{}', \
             multiset={}, weighted={}, store_text={}, seed={})",
            self.threshold(),
            self.recall(),
            self.lanes(),
            self.shingle(),
            self.normalize(),
            flag(self.multiset()),
            flag(self.weighted()),
            flag(self.store_text()),
            self.seed(),
        )
    }
}
