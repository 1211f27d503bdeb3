//! Groups of similar documents.

use crate::arrow::{count_of, index_of, item, iterate};
use crate::results::{ids, single_batch};
use arrow_array::{ArrayRef, UInt64Array};
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyIterator};
use std::sync::Arc;

/// A group of similar documents: its representative, and all members in the order of insertion.
#[pyclass(frozen, module = "twindex", get_all, eq)]
#[derive(Clone, PartialEq)]
pub(crate) struct Cluster {
    /// The id of the document that is kept.
    representative: String,
    /// The ids of all documents of the group, the representative included.
    members: Vec<String>,
}

#[pymethods]
impl Cluster {
    /// The ids of the documents that are not kept.
    #[getter]
    fn duplicates(&self) -> Vec<&str> {
        let members = self.members.iter().map(String::as_str);
        members.filter(|id| *id != self.representative).collect()
    }

    fn __len__(&self) -> usize {
        self.members.len()
    }

    fn __repr__(&self) -> String {
        format!("Cluster({:?}, {} documents)", self.representative, self.members.len())
    }
}

/// Groups of at least two similar documents, the largest first. A sequence of `Cluster`; as Arrow,
/// a row for each document, with the columns `cluster`, `id` and `representative`.
#[pyclass(frozen, sequence, module = "twindex")]
pub(crate) struct Clusters {
    clusters: Vec<Cluster>,
    recall: f64,
}

impl Clusters {
    pub(crate) fn new(found: &twindex::Clusters<'_>) -> twindex::Result<Self> {
        let owned = |cluster: twindex::Cluster<'_>| {
            Ok(Cluster {
                representative: cluster.representative()?,
                members: cluster.members().collect::<twindex::Result<_>>()?,
            })
        };
        let clusters = found.iter().map(owned).collect::<twindex::Result<_>>()?;
        Ok(Self { clusters, recall: found.recall() })
    }
}

#[pymethods]
impl Clusters {
    /// The probability that a pair at the threshold was found, at least.
    #[getter]
    fn recall(&self) -> f64 {
        self.recall
    }

    fn __len__(&self) -> usize {
        self.clusters.len()
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
        item(py, place, self.clusters.len(), |at| self.clusters.get(at).cloned())
    }

    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        drop(requested_schema);
        let rows = || {
            self.clusters.iter().enumerate().flat_map(|(number, cluster)| {
                cluster.members.iter().map(move |id| (number, cluster, id))
            })
        };
        let numbers = UInt64Array::from_iter_values(rows().map(|(number, ..)| number as u64));
        let numbers: ArrayRef = Arc::new(numbers);
        single_batch(
            py,
            vec![
                ("cluster", numbers),
                ("id", ids(rows().map(|(_, _, id)| &**id))),
                ("representative", ids(rows().map(|(_, cluster, _)| &*cluster.representative))),
            ],
        )
    }

    fn __repr__(&self) -> String {
        let documents: usize = self.clusters.iter().map(|cluster| cluster.members.len()).sum();
        match self.clusters.len() {
            1 => format!("<1 cluster of {documents} documents>"),
            count => format!("<{count} clusters of {documents} documents>"),
        }
    }
}
