//! Questions to an index, or to one state of it.

use crate::calls::InUse;
use crate::care::{CheckReport, Usage};
use crate::clusters::Clusters;
use crate::content::{Given, id_of};
use crate::error::{invalid, named, no_texts, raise};
use crate::explanation::Explanation;
use crate::handle::Handle;
use crate::numbers::{maybe_number, number};
use crate::opened::{Shared, share};
use crate::pairs::{Ids, Pairs};
use crate::passages::{self, KnownPassages, PassageMatch};
use crate::process::detached;
use crate::results::{Document, Matches};
use crate::rows::signature_of;
use crate::settings::Settings;
use crate::tracking::{self, ClusterChange};
use crate::waiting::{run, watch};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use twindex::{Keep, Linkage, Signature, Snapshot};

/// What an `Index` and a `Snapshot` can be asked.
#[pyclass(frozen, subclass, module = "twindex")]
pub(crate) struct Reader {
    state: State,
}

enum State {
    /// The latest commit, at each question.
    Latest(Arc<Handle>),
    /// One commit, until it is closed.
    Fixed(Mutex<Option<Shared>>),
}

/// A state that a question is asked. It is dropped before the index may be closed or compacted.
struct Asked {
    shared: Shared,
    _open: Option<InUse>,
}

/// What a query is about.
enum Subject {
    Content(Given),
    Id(String),
    Signature(Signature),
}

impl Reader {
    pub(crate) fn of_index(handle: Arc<Handle>) -> Self {
        Self { state: State::Latest(handle) }
    }

    pub(crate) fn of_snapshot(snapshot: Shared) -> Self {
        Self { state: State::Fixed(Mutex::new(Some(snapshot))) }
    }

    /// The state to ask.
    pub(crate) fn shared(&self, py: Python<'_>) -> PyResult<Shared> {
        Ok(self.asked(py)?.shared)
    }

    /// The state to ask, and what keeps the index open meanwhile.
    fn asked(&self, py: Python<'_>) -> PyResult<Asked> {
        match &self.state {
            State::Latest(handle) => {
                let open = handle.open(py)?;
                // What an exception runs, such as a destructor, may ask the index too.
                let in_use = handle.in_use(&open);
                let index = open.get()?;
                let shared = share(detached(py, || index.snapshot()).map_err(raise)?);
                Ok(Asked { shared, _open: Some(in_use) })
            }
            State::Fixed(snapshot) => {
                let shared = snapshot.lock().unwrap_or_else(PoisonError::into_inner).clone();
                let closed = || named("ClosedError", "the snapshot is closed");
                Ok(Asked { shared: shared.ok_or_else(closed)?, _open: None })
            }
        }
    }

    /// Gives up the state, and with it the space that it keeps in the file.
    pub(crate) fn release(&self) {
        if let State::Fixed(snapshot) = &self.state {
            snapshot.lock().unwrap_or_else(PoisonError::into_inner).take();
        }
    }

    /// Fails if the documents are weighted sets, which have no texts.
    fn needs_texts(&self, py: Python<'_>) -> PyResult<()> {
        if self.shared(py)?.get()?.settings().weighted { Err(no_texts()) } else { Ok(()) }
    }

    /// Asks the state something, while Python goes on.
    fn ask<T: Send>(
        &self,
        py: Python<'_>,
        question: impl FnOnce(&Snapshot) -> twindex::Result<T> + Send,
    ) -> PyResult<T> {
        let asked = self.asked(py)?;
        let snapshot = asked.shared.get()?;
        let answer = detached(py, || question(snapshot));
        answer.map_err(raise)
    }
}

#[pymethods]
impl Reader {
    /// The path of the file.
    #[getter]
    fn path(&self, py: Python<'_>) -> PyResult<PathBuf> {
        match &self.state {
            State::Latest(handle) => Ok(handle.path().to_owned()),
            State::Fixed(_) => Ok(self.shared(py)?.get()?.path().to_owned()),
        }
    }

    /// The settings of the index.
    #[getter]
    fn settings(&self, py: Python<'_>) -> PyResult<Settings> {
        match &self.state {
            State::Latest(handle) => Ok(Settings::new(handle.open(py)?.get()?.settings())),
            State::Fixed(_) => Ok(Settings::new(self.shared(py)?.get()?.settings())),
        }
    }

    /// The number of the latest commit. Equal numbers mean equal states.
    #[getter]
    fn commit_number(&self, py: Python<'_>) -> PyResult<u64> {
        Ok(self.shared(py)?.get()?.commit_number())
    }

    fn __len__(&self, py: Python<'_>) -> PyResult<usize> {
        Ok(usize::try_from(self.shared(py)?.get()?.len())?)
    }

    fn __bool__(&self) -> bool {
        true
    }

    fn __iter__(&self, py: Python<'_>) -> PyResult<Ids> {
        self.ids(py)
    }

    fn __contains__(&self, py: Python<'_>, id: &Bound<'_, PyAny>) -> PyResult<bool> {
        let id = id_of(id)?;
        self.ask(py, |snapshot| snapshot.contains(&id))
    }

    /// Finds the documents that are similar to a document: its content, its id or its signature.
    /// The most similar comes first.
    ///
    /// * threshold: the least similarity, or containment. Default: that of the index.
    /// * top: only so many, and the most similar ones, however low the threshold. Of equally
    ///   similar ones, those that were inserted first.
    /// * limit: the same, but finds all and counts the others: `left_out`.
    /// * containment: asks for documents that contain so much of this one, whatever their size.
    /// * recall, confidence: of the search, and of the intervals of estimates. Defaults 0.99, 0.95.
    /// * scan: compares all documents, so that nothing is missed.
    /// * estimate: does not read stored texts. all_candidates: returns all that were compared.
    /// * excluding: the id of a document to leave out.
    /// * max_candidates: compares at most so many, those that share the most buckets, which bounds
    ///   the time if very many documents are nearly similar; `limited` tells whether others may
    ///   have been left out. Not together with `scan`. Default: all.
    ///
    /// Raises UnknownIdError for an id that no document has.
    #[pyo3(signature = (content=None, /, *, id=None, signature=None, threshold=None, top=None,
                        limit=None, containment=false, recall=None, confidence=None, scan=false,
                        estimate=false, all_candidates=false, excluding=None,
                        max_candidates=None))]
    #[expect(clippy::too_many_arguments, reason = "they are keywords in Python")]
    fn query(
        &self,
        py: Python<'_>,
        content: Option<&Bound<'_, PyAny>>,
        id: Option<&Bound<'_, PyAny>>,
        signature: Option<&[u8]>,
        #[pyo3(from_py_with = maybe_number)] threshold: Option<f64>,
        #[pyo3(from_py_with = maybe_number)] top: Option<usize>,
        #[pyo3(from_py_with = maybe_number)] limit: Option<usize>,
        containment: bool,
        #[pyo3(from_py_with = maybe_number)] recall: Option<f64>,
        #[pyo3(from_py_with = maybe_number)] confidence: Option<f64>,
        scan: bool,
        estimate: bool,
        all_candidates: bool,
        excluding: Option<&Bound<'_, PyAny>>,
        #[pyo3(from_py_with = maybe_number)] max_candidates: Option<usize>,
    ) -> PyResult<Matches> {
        let subject = match (content, id, signature) {
            (Some(content), None, None) => Subject::Content(Given::new(content)?),
            (None, Some(id), None) => Subject::Id(id_of(id)?.to_string()),
            (None, None, Some(bytes)) => Subject::Signature(signature_of(bytes).map_err(invalid)?),
            _ => return Err(invalid("query: give one of a content, id= and signature=")),
        };
        let excluding = excluding.map(id_of).transpose()?;
        let found = self.ask(py, |snapshot| {
            let mut query = snapshot
                .query()
                .containment(containment)
                .scan(scan)
                .estimate(estimate)
                .all_candidates(all_candidates);
            if let Some(threshold) = threshold {
                query = query.threshold(threshold);
            }
            if let Some(recall) = recall {
                query = query.recall(recall);
            }
            if let Some(confidence) = confidence {
                query = query.confidence(confidence);
            }
            if let Some(top) = top {
                query = query.top(top);
            }
            if let Some(limit) = limit {
                query = query.limit(limit);
            }
            if let Some(id) = &excluding {
                query = query.excluding(&**id);
            }
            if let Some(most) = max_candidates {
                query = query.max_candidates(most);
            }
            match &subject {
                Subject::Content(given) => query.by_content(given.content()).map(Some),
                Subject::Id(id) => query.by_id(id),
                Subject::Signature(signature) => query.by_signature(signature).map(Some),
            }
        })?;
        match (found, subject) {
            (Some(found), _) => Ok(Matches::new(found, containment)),
            (None, Subject::Id(id)) => Err(unknown(&id)),
            (None, _) => Err(named("Error", "the query gave no answer")),
        }
    }

    /// Finds all pairs of similar documents, one after the other: an iterator, and an Arrow stream.
    ///
    /// `max_per_document` bounds the pairs of one document. With stored texts similarities are
    /// exact, unless `estimate` is set.
    #[pyo3(signature = (threshold=None, *, max_per_document=None, estimate=false, confidence=None))]
    fn pairs(
        &self,
        py: Python<'_>,
        #[pyo3(from_py_with = maybe_number)] threshold: Option<f64>,
        #[pyo3(from_py_with = maybe_number)] max_per_document: Option<u32>,
        estimate: bool,
        #[pyo3(from_py_with = maybe_number)] confidence: Option<f64>,
    ) -> PyResult<Pairs> {
        let shared = self.shared(py)?;
        let threshold = threshold.unwrap_or(shared.get()?.settings().threshold());
        Pairs::new(shared, threshold, max_per_document, estimate, confidence)
    }

    /// Groups similar documents.
    ///
    /// `linkage` is `representative`: each member is similar to the representative; or `connected`:
    /// each is similar to some other, so the ends of a chain may differ. `keep` names the
    /// representative: `first` (inserted), `longest` (text) or `id` (the smallest).
    ///
    /// * prefer: ids that come before all other documents, the best first, for a program that knows
    ///   which copy is the better one. Ids that the index does not have are ignored.
    #[pyo3(signature = (threshold=None, *, linkage="representative", keep="first", prefer=None,
                        estimate=false, progress=None))]
    #[expect(clippy::too_many_arguments, reason = "keywords of Python")]
    fn clusters(
        &self,
        py: Python<'_>,
        #[pyo3(from_py_with = maybe_number)] threshold: Option<f64>,
        linkage: &str,
        keep: &str,
        prefer: Option<&Bound<'_, PyAny>>,
        estimate: bool,
        progress: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Clusters> {
        let linkage = match linkage {
            "representative" => Linkage::Representative,
            "connected" => Linkage::Connected,
            _ => return Err(invalid("linkage: expected 'representative' or 'connected'")),
        };
        let keep = match keep {
            "first" => Keep::First,
            "longest" => Keep::Longest,
            "id" => Keep::Id,
            _ => return Err(invalid("keep: expected 'first', 'longest' or 'id'")),
        };
        let named = |ids: &Bound<'_, PyAny>| -> PyResult<Vec<String>> {
            ids.try_iter()?.map(|id| Ok(id_of(&id?)?.to_string())).collect()
        };
        let preferred = prefer.map(named).transpose()?;
        let asked = self.asked(py)?;
        let snapshot = asked.shared.get()?;
        let threshold = threshold.unwrap_or(snapshot.settings().threshold());
        let clustering = snapshot.clusters(threshold).map_err(raise)?;
        let mut clustering = clustering.linkage(linkage).keep(keep).estimate(estimate);
        if let Some(ids) = preferred {
            clustering = clustering.prefer(ids).map_err(raise)?;
        }
        run(py, progress, |tell| Clusters::new(&clustering.find().watch(tell)?))
    }

    /// The cluster of a document, if the index tracks clusters (`Index.track_clusters`). `None` if
    /// the document is similar to no other one. The last document of a cluster keeps its id.
    fn cluster_of(&self, py: Python<'_>, id: &Bound<'_, PyAny>) -> PyResult<Option<u64>> {
        let id = id_of(id)?.to_string();
        self.ask(py, |snapshot| snapshot.tracked_clusters()?.cluster_of(&id))
    }

    /// The clusters that the index tracks, of two or more documents: the ids of the documents by
    /// the id of the cluster.
    fn tracked_clusters(&self, py: Python<'_>) -> PyResult<BTreeMap<u64, Vec<String>>> {
        self.ask(py, tracking::clusters)
    }

    /// What changed about the tracked clusters after a commit: the last change of each document
    /// that went to another cluster or left its cluster, in the order of commits. With 0, every
    /// document that is in a cluster. Give the `commit_number` of this state the next time.
    #[pyo3(signature = (since=0))]
    fn cluster_changes(
        &self,
        py: Python<'_>,
        #[pyo3(from_py_with = number)] since: u64,
    ) -> PyResult<Vec<ClusterChange>> {
        self.ask(py, |snapshot| tracking::changes(snapshot, since))
    }

    /// The documents that share a passage with a text: at least as long as the index was told
    /// (`passages=` of `twindex.open`). None is missed. Those that share most come first.
    ///
    /// * threshold: only documents that share at least this part of the text, above 0 and at most
    ///   1.
    /// * limit: at most so many. excluding: the id of a document to leave out.
    #[pyo3(signature = (text, /, *, threshold=None, limit=None, excluding=None))]
    fn passages(
        &self,
        py: Python<'_>,
        text: String,
        #[pyo3(from_py_with = maybe_number)] threshold: Option<f64>,
        #[pyo3(from_py_with = maybe_number)] limit: Option<usize>,
        excluding: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Vec<PassageMatch>> {
        let excluding = excluding.map(id_of).transpose()?.map(|id| id.to_string());
        let found = self.ask(py, |snapshot| {
            let mut query = snapshot.passages();
            if let Some(threshold) = threshold {
                query = query.threshold(threshold);
            }
            if let Some(limit) = limit {
                query = query.limit(limit);
            }
            if let Some(id) = excluding {
                query = query.excluding(id);
            }
            query.by_text(&text)
        })?;
        Ok(passages::matches(&found))
    }

    /// The passages of a text that documents of the index have, each with the document that was
    /// inserted first, and the text without them. Needs stored texts.
    fn known_passages(&self, py: Python<'_>, text: String) -> PyResult<KnownPassages> {
        let known = self.ask(py, |snapshot| snapshot.known_passages(&*text))?;
        Ok(KnownPassages::new(&known, &text))
    }

    /// The passages that two stored documents share.
    fn explain(
        &self,
        py: Python<'_>,
        a: &Bound<'_, PyAny>,
        b: &Bound<'_, PyAny>,
    ) -> PyResult<Explanation> {
        let (a, b) = (id_of(a)?, id_of(b)?);
        self.needs_texts(py)?;
        let texts = self.ask(py, |snapshot| Ok((snapshot.text(&a)?, snapshot.text(&b)?)))?;
        let text_a = texts.0.ok_or_else(|| unknown(&a))?;
        let text_b = texts.1.ok_or_else(|| unknown(&b))?;
        let explained = self.ask(py, |snapshot| {
            twindex::Explanation::new(snapshot.sketcher().shingler(), &text_a, &text_b)
        })?;
        Ok(Explanation::new(&explained, &text_a))
    }

    /// What the index knows of a document: `None` if there is no such document.
    fn get(&self, py: Python<'_>, id: &Bound<'_, PyAny>) -> PyResult<Option<Document>> {
        let id = id_of(id)?;
        Ok(self.ask(py, |snapshot| snapshot.get(&id))?.map(Document::new))
    }

    /// The text of a document: `None` if there is no such document.
    fn text<'py>(
        &self,
        py: Python<'py>,
        id: &Bound<'py, PyAny>,
    ) -> PyResult<Option<Bound<'py, PyString>>> {
        let id = id_of(id)?;
        self.needs_texts(py)?;
        let text = self.ask(py, |snapshot| snapshot.text(&id))?;
        Ok(text.map(|text| PyString::new(py, &text)))
    }

    /// The weights of a document of a weighted index.
    fn weights<'py>(
        &self,
        py: Python<'py>,
        id: &Bound<'py, PyAny>,
    ) -> PyResult<Option<Bound<'py, PyDict>>> {
        let id = id_of(id)?;
        let Some(weights) = self.ask(py, |snapshot| snapshot.weights(&id))? else {
            return Ok(None);
        };
        let dict = PyDict::new(py);
        for (token, weight) in weights.iter() {
            dict.set_item(token, weight)?;
        }
        Ok(Some(dict))
    }

    /// The ids of all documents, in the order of insertion.
    fn ids(&self, py: Python<'_>) -> PyResult<Ids> {
        Ids::new(self.shared(py)?)
    }

    /// How much space the index takes, and where.
    fn stats(&self, py: Python<'_>) -> PyResult<Usage> {
        self.ask(py, |snapshot| snapshot.usage()).map(Usage::new)
    }

    /// Reads everything and reports what violates the file format.
    #[pyo3(signature = (*, progress=None))]
    fn check(&self, py: Python<'_>, progress: Option<&Bound<'_, PyAny>>) -> PyResult<CheckReport> {
        let asked = self.asked(py)?;
        watch(py, progress, asked.shared.get()?.check()).map(CheckReport::new)
    }

    /// Copies the index to a new file, compacted. Others may write to it meanwhile.
    #[pyo3(signature = (path, *, progress=None))]
    fn backup(
        &self,
        py: Python<'_>,
        path: PathBuf,
        progress: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<()> {
        let asked = self.asked(py)?;
        watch(py, progress, asked.shared.get()?.backup(path))
    }
}

pub(crate) fn unknown(id: &str) -> PyErr {
    named("UnknownIdError", format!("no document has the id {id:?}"))
}
