//! Results that are computed while Python reads them: pairs and ids.
//!
//! A thread computes them a block ahead. The thread of Python waits for the next block and handles
//! signals meanwhile.

use crate::arrow::stream_capsule;
use crate::error::{named, raise};
use crate::opened::Shared;
use crate::process::{FORKED, Own};
use crate::results::hashed;
use arrow_array::{RecordBatch, RecordBatchReader};
use arrow_schema::{ArrowError, SchemaRef};
use pyo3::prelude::*;
use pyo3::types::PyCapsule;
use std::collections::VecDeque;
use std::mem;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};
use twindex::{Snapshot, with_threads};
use twindex_columns::{pair_batch, pair_schema};

/// The results that the thread sends at once.
const BLOCK: usize = 1024;

/// The time between two looks at signals.
const TICK: Duration = Duration::from_millis(50);

/// How long results are taken before other threads of Python get their turn: the interval after
/// which Python itself switches threads, unless a program sets another.
const SWITCH: Duration = Duration::from_millis(5);

/// How long the end of a thread is waited for.
const PATIENCE: Duration = Duration::from_millis(100);

/// The error for a thread that has ended before the results have.
const CUT_SHORT: &str = "the search ended before all results were found";

/// What the thread sends.
enum Block<T> {
    Some(Vec<T>),
    End(twindex::Result<()>),
}

/// Results that a thread computes.
struct Stream<T> {
    blocks: Receiver<Block<T>>,
    thread: JoinHandle<()>,
    ready: VecDeque<T>,
    /// When other threads of Python last had their turn.
    switched: Instant,
    ended: bool,
}

impl<T: Send + 'static> Stream<T> {
    /// Starts the thread. It ends when the results do, or when nobody wants them any more.
    fn new(
        shared: Shared,
        compute: impl FnOnce(&Snapshot, &mut dyn FnMut(T) -> bool) -> twindex::Result<()>
        + Send
        + 'static,
    ) -> PyResult<Self> {
        shared.get()?;
        let (send, blocks) = sync_channel(2);
        let work = move || {
            // This thread belongs to the process that made the snapshot.
            if let Ok(snapshot) = shared.get() {
                with_threads(|| send_blocks(&send, |take| compute(snapshot, take)));
            }
        };
        let thread = thread::Builder::new()
            .name("twindex".to_owned())
            .spawn(work)
            .map_err(|error| named("StorageError", format!("no thread: {error}")))?;
        Ok(Self { blocks, thread, ready: VecDeque::new(), switched: Instant::now(), ended: false })
    }

    /// The next result, or why there is none. Waits for it as long as it takes.
    fn next_now(&mut self) -> Option<Result<T, String>> {
        while self.ready.is_empty() && !self.ended {
            match self.blocks.recv() {
                Ok(Block::Some(block)) => self.ready.extend(block),
                Ok(Block::End(end)) => {
                    self.ended = true;
                    if let Err(error) = end {
                        return Some(Err(error.to_string()));
                    }
                }
                Err(_) => {
                    self.ended = true;
                    return Some(Err(CUT_SHORT.to_owned()));
                }
            }
        }
        self.ready.pop_front().map(Ok)
    }

    /// Waits for the next block. A loop in C, such as that of `list`, lets no other thread of
    /// Python run, so this does from time to time.
    fn receive(&mut self, py: Python<'_>) -> Result<Block<T>, RecvTimeoutError> {
        if self.switched.elapsed() < SWITCH
            && let Ok(block) = self.blocks.try_recv()
        {
            return Ok(block);
        }
        let blocks = Mutex::new(&mut self.blocks);
        let received = py.detach(|| {
            let blocks = blocks.lock().unwrap_or_else(PoisonError::into_inner);
            blocks.recv_timeout(TICK)
        });
        self.switched = Instant::now();
        received
    }

    /// The next result, for Python.
    fn next(&mut self, py: Python<'_>) -> PyResult<Option<T>> {
        while self.ready.is_empty() {
            match self.receive(py) {
                Ok(Block::Some(block)) => {
                    self.ready.extend(block);
                    // A loop in C, such as that of `list`, looks at no signals itself.
                    py.check_signals()?;
                }
                Ok(Block::End(end)) => {
                    self.ended = true;
                    end.map_err(raise)?;
                }
                Err(RecvTimeoutError::Timeout) => py.check_signals()?,
                Err(RecvTimeoutError::Disconnected) if self.ended => return Ok(None),
                Err(RecvTimeoutError::Disconnected) => {
                    self.ended = true;
                    return Err(named("Error", CUT_SHORT));
                }
            }
        }
        Ok(self.ready.pop_front())
    }
}

/// The thread has the snapshot, which keeps the file locked. It ends at its next result, mostly at
/// once, so that what comes after finds the file free.
impl<T> Drop for Stream<T> {
    fn drop(&mut self) {
        let (_, nothing) = sync_channel(0);
        drop(mem::replace(&mut self.blocks, nothing));
        let begun = Instant::now();
        while !self.thread.is_finished() && begun.elapsed() < PATIENCE {
            thread::sleep(Duration::from_micros(100));
        }
    }
}

fn send_blocks<T>(
    send: &SyncSender<Block<T>>,
    compute: impl FnOnce(&mut dyn FnMut(T) -> bool) -> twindex::Result<()>,
) {
    let mut block = Vec::new();
    // The first results come at once, later ones in larger blocks.
    let mut size = 1;
    let mut take = |item| {
        block.push(item);
        if block.len() < size {
            return true;
        }
        size = (size * 2).min(BLOCK);
        send.send(Block::Some(mem::take(&mut block))).is_ok()
    };
    let outcome = compute(&mut take);
    // An error of sending says that nobody reads any more.
    let _ = send.send(Block::Some(block));
    let _ = send.send(Block::End(outcome));
}

/// A pair of similar documents.
#[pyclass(frozen, module = "twindex")]
#[derive(Clone, PartialEq)]
pub(crate) struct Pair {
    pair: twindex::Pair,
}

#[pymethods]
impl Pair {
    /// The smaller of the two ids, in byte order.
    #[getter]
    fn a(&self) -> &str {
        &self.pair.a
    }

    /// The greater id.
    #[getter]
    fn b(&self) -> &str {
        &self.pair.b
    }

    /// The Jaccard similarity, from 0 to 1.
    #[getter]
    fn similarity(&self) -> f64 {
        self.pair.similarity
    }

    /// The lower end of the interval of the similarity.
    #[getter]
    fn low(&self) -> f64 {
        self.pair.low
    }

    /// The upper end of the interval of the similarity.
    #[getter]
    fn high(&self) -> f64 {
        self.pair.high
    }

    /// Whether the similarity was computed from stored texts rather than estimated.
    #[getter]
    fn exact(&self) -> bool {
        self.pair.exact
    }

    fn __eq__(&self, other: &Bound<'_, PyAny>) -> bool {
        other.cast::<Self>().is_ok_and(|other| other.get() == self)
    }

    fn __hash__(&self) -> u64 {
        hashed(&(&self.pair.a, &self.pair.b))
    }

    fn __repr__(&self) -> String {
        let twindex::Pair { a, b, similarity, .. } = &self.pair;
        format!("Pair({a:?}, {b:?}, {similarity:.4})")
    }
}

type PairStream = Mutex<Option<Own<Stream<twindex::Pair>>>>;

/// The similar pairs of one state, each once. An iterator of `Pair`, or an Arrow stream with the
/// columns `a`, `b`, `similarity`, `low`, `high` and `exact`.
#[pyclass(frozen, module = "twindex")]
pub(crate) struct Pairs {
    stream: PairStream,
    recall: f64,
}

impl Pairs {
    pub(crate) fn new(
        shared: Shared,
        threshold: f64,
        max_per_document: Option<u32>,
        estimate: bool,
        confidence: Option<f64>,
    ) -> PyResult<Self> {
        let recall = {
            let pairs = shared.get()?.pairs(threshold).map_err(raise)?.estimate(estimate);
            let pairs = match confidence {
                Some(confidence) => pairs.confidence(confidence).map_err(raise)?,
                None => pairs,
            };
            pairs.recall()
        };
        let stream = Stream::new(shared, move |snapshot, take| {
            let mut pairs = snapshot.pairs(threshold)?.estimate(estimate);
            if let Some(confidence) = confidence {
                pairs = pairs.confidence(confidence)?;
            }
            if let Some(most) = max_per_document {
                pairs = pairs.max_per_document(most);
            }
            for pair in pairs {
                if !take(pair?) {
                    break;
                }
            }
            Ok(())
        })?;
        Ok(Self { stream: Mutex::new(Some(Own::new(stream))), recall })
    }
}

#[pymethods]
impl Pairs {
    /// The probability that a pair at the threshold is found, at least.
    #[getter]
    fn recall(&self) -> f64 {
        self.recall
    }

    fn __iter__(slf: Bound<'_, Self>) -> Bound<'_, Self> {
        slf
    }

    fn __next__(&self, py: Python<'_>) -> PyResult<Option<Pair>> {
        let pair = next_of(py, &self.stream)?;
        Ok(pair.map(|pair| Pair { pair }))
    }

    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        drop(requested_schema);
        let taken = self.stream.try_lock().map(|mut stream| stream.take());
        let Some(mut stream) = taken.map_err(|_| read_elsewhere())? else {
            return Err(named("ClosedError", "the pairs were taken over before"));
        };
        stream.get_mut()?;
        stream_capsule(py, PairBatches { stream, schema: pair_schema() })
    }

    fn __repr__(&self) -> String {
        format!("<twindex.Pairs recall={:.4}>", self.recall)
    }
}

fn read_elsewhere() -> PyErr {
    named("BusyError", "another call reads from this iterator")
}

/// The next result of a stream that only one thread reads at a time.
fn next_of<T: Send + 'static>(
    py: Python<'_>,
    stream: &Mutex<Option<Own<Stream<T>>>>,
) -> PyResult<Option<T>> {
    let Ok(mut stream) = stream.try_lock() else { return Err(read_elsewhere()) };
    match stream.as_mut() {
        Some(stream) => stream.get_mut()?.next(py),
        None => Ok(None),
    }
}

/// Pairs as batches of Arrow.
struct PairBatches {
    stream: Own<Stream<twindex::Pair>>,
    schema: SchemaRef,
}

impl Iterator for PairBatches {
    type Item = Result<RecordBatch, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        let mut pairs = Vec::new();
        let Some(stream) = self.stream.here() else {
            return Some(Err(ArrowError::ExternalError(FORKED.into())));
        };
        while pairs.len() < 8 * BLOCK {
            match stream.next_now() {
                Some(Ok(pair)) => pairs.push(pair),
                // The text crosses as one of C, which a NUL would end.
                Some(Err(error)) => {
                    return Some(Err(ArrowError::ExternalError(error.replace('\0', " ").into())));
                }
                None => break,
            }
        }
        if pairs.is_empty() {
            return None;
        }
        Some(pair_batch(&self.schema, &pairs))
    }
}

impl RecordBatchReader for PairBatches {
    fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }
}

/// The ids of one state, in the order of insertion.
#[pyclass(frozen, module = "twindex")]
pub(crate) struct Ids {
    stream: Mutex<Option<Own<Stream<String>>>>,
}

impl Ids {
    pub(crate) fn new(shared: Shared) -> PyResult<Self> {
        let stream = Stream::new(shared, |snapshot, take| {
            for id in snapshot.ids() {
                if !take(id?) {
                    break;
                }
            }
            Ok(())
        })?;
        Ok(Self { stream: Mutex::new(Some(Own::new(stream))) })
    }
}

#[pymethods]
impl Ids {
    fn __iter__(slf: Bound<'_, Self>) -> Bound<'_, Self> {
        slf
    }

    fn __next__(&self, py: Python<'_>) -> PyResult<Option<String>> {
        next_of(py, &self.stream)
    }
}
