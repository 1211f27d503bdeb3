//! An embedded, crash-safe index of similar documents, in one file: SQLite for near duplicates.
//!
//! An [`Index`] takes documents, remembers a [`Signature`] of each, and tells which documents are
//! similar to a given one, while the collection grows past memory. Similarity is the Jaccard
//! similarity of the documents' sets of shingles: the number of common shingles divided by the
//! number of all.
//!
//! ```
//! # fn main() -> twindex::Result<()> {
//! # let folder = tempfile::tempdir().expect("a temporary folder");
//! # let path = folder.path().join("pages.twx");
//! use twindex::{Index, Outcome, Shingle};
//!
//! let index = Index::options()
//!     .threshold(0.8)
//!     .recall(0.99)
//!     .shingle(Shingle::chars(9))
//!     .open_or_create(&path)?;
//!
//! let mut txn = index.begin_write()?;
//! txn.insert("page-1", "A text that is going to be copied with a small change in it.")?;
//! let outcome = txn.insert_unless_similar("page-2", "A text that was going to be copied.")?;
//! if let Outcome::Duplicate { of, .. } = outcome {
//!     println!("like {}, {:.2}", of.id, of.similarity);
//! }
//! txn.commit()?;
//!
//! let snapshot = index.snapshot()?;
//! for m in snapshot.query().limit(10).by_text("A text that is going to be copied, ...")? {
//!     println!("{} {:.2} ({:.2} to {:.2})", m.id, m.similarity, m.low, m.high);
//! }
//! for pair in snapshot.pairs(0.8)? {
//!     let pair = pair?;
//!     println!("{} {} {:.2}", pair.a, pair.b, pair.similarity);
//! }
//! # Ok(())
//! # }
//! ```
//!
//! # Overview
//!
//! - [`Index`] and [`ReadOnlyIndex`] are open files. [`IndexOptions`] says how a file is created
//!   and opened.
//! - [`WriteTxn`] inserts and removes documents, durably and all at once. [`Insertion`] is its
//!   general form: many documents, conflicts, duplicates. A [`Document`] is sketched beforehand, on
//!   any thread. [`DedupRun`] deduplicates an input that takes many transactions, and can be
//!   resumed. [`SyncRun`] makes an index follow a source that changes.
//! - [`Snapshot`] is the state after one commit. A [`Query`] asks it which documents are similar
//!   and gives [`Matches`]. [`Pairs`] walks all similar pairs; [`Clustering`] puts them together to
//!   [`Clusters`].
//! - [`Work`] is long work that has not begun: it can be watched and stopped. [`with_threads`] is
//!   for programs that fork.
//! - [`Content`] is what a document is given as: a text, a set of [`Tokens`], or [`Weights`].
//! - [`Shingler`] and [`Sketcher`] turn it into [`Signature`]s without a file, and
//!   [`Signature::similarity`] compares two.
//! - [`Overlap`] is the exact similarity of two sets or multisets of shingles, [`weighted_jaccard`]
//!   that of two weighted sets ([`Weights`]). [`Containment`] is how much of one set is in another,
//!   by estimate. [`RandomSubsets`] is what chance would make of sets of their sizes. [`BottomK`]
//!   is a sketch that merges and counts. An [`Explanation`] shows the [`Passage`]s that two texts
//!   share.
//! - [`Forecast`] and [`Space`] tell what a threshold and a recall will find, miss and take. They
//!   are made of [`Probe`], [`BandPlan`] and [`candidate_probability`].
//!
//! # What is promised
//!
//! - **Recall is a setting.** A pair at the threshold becomes a candidate with at least the
//!   probability that you ask for. A candidate is reported when its *estimate* reaches the
//!   threshold. At the threshold that is about half of the pairs; 0.05 above it, practically all.
//!   With stored texts ([`IndexOptions::store_text`]) answers are exact.
//! - **Committed is durable.** After [`WriteTxn::commit`] returns, the documents survive a crash of
//!   the process and of the machine. A transaction that fails changes nothing, but for a commit
//!   that tells [`Error::Moved`]: the file has lost its name, and has the changes. Work that
//!   commits several times keeps what was committed before a failure.
//! - **Damage is an error**, or a violation that [`Index::check`] finds. [`Index::repair`] saves
//!   the documents that can be read. The storage library panics on some damage. twindex turns that
//!   into an error too, but the message of the panic appears on standard error unless the program
//!   sets a panic hook.
//! - **The same answers every time**, whatever the batches, threads, merges and restarts.
//! - **An empty text is similar to nothing.** A text shorter than a shingle is similar only to its
//!   equals.
//!
//! # Quirks
//!
//! - One process writes to an index, and others read it meanwhile. Within a process, one thread
//!   writes and all read.
//! - A [`Snapshot`] keeps the file open, and keeps the space of what was deleted since, by any
//!   process ([`Usage::held_bytes`]).
//! - An index that is open for writing must keep its path: a file that was moved, deleted or
//!   replaced is [`Error::Moved`] after each commit, and at the next snapshot of a
//!   [`ReadOnlyIndex`].
//! - Signals are left alone. A program that wants an error instead of SIGXFSZ beyond `ulimit -f`
//!   ignores or handles that signal.
//! - Similarity is not transitive: of three documents, the first two pairs can be similar and the
//!   third not.
//!
//! # Bibliography
//!
//! - A. Broder, *On the resemblance and containment of documents*, 1997: shingles, MinHash.
//! - S. Dahlgaard, M. Knudsen, M. Thorup, *Fast similarity sketching*, 2017: the family of the
//!   sketch.
//! - P. Li, A. C. König, *b-bit minwise hashing*, 2010: one byte a lane.
//! - E. Cohen, H. Kaplan, *Summarizing data using bottom-k sketches*, 2007; K. Beyer and others,
//!   *On synopses for distinct-value estimation under multiset operations*, 2007: [`BottomK`].
//! - S. Dembele, G. S. Lo, *The exact probability law for the approximated similarity from the
//!   minhashing method*, 2017: two random sets. C. Loader, *Fast and accurate computation of
//!   binomial probabilities*, 2000: how to compute their law.
//! - E. B. Wilson, *Probable inference, the law of succession, and statistical inference*, 1927:
//!   the interval.
//! - K.-Y. Whang, B. Vander-Zanden, H. Taylor, *A linear-time probabilistic counting algorithm for
//!   database applications*, 1990: the size of a set.
//! - B. Ondov and others, *Mash: fast genome and metagenome distance estimation using MinHash*,
//!   2016: k-mers of genomes, and their distance.
//! - E. Zhu, F. Nargesian, K. Q. Pu, R. J. Miller, *LSH Ensemble: internet-scale domain search*,
//!   2016: containment by classes of sizes.
//! - T. Christiani, *DartMinHash: Fast sketching for weighted sets*, 2020: the sketch of weighted
//!   sets.
//! - J. Leskovec, A. Rajaraman, J. Ullman, *Mining of massive datasets*, chapter 3: bands.

#![deny(missing_debug_implementations, missing_docs)]

mod error;
mod estimate;
#[cfg(any(test, fuzzing))]
#[doc(hidden)]
pub mod fuzzing;
mod hash;
mod index;
#[doc(hidden)]
pub mod internals;
mod lsh;
mod params;
mod sketch;
mod store;
mod text;
mod threads;

pub use error::{Error, ErrorKind, Result};
pub use estimate::{
    Agreement, Cardinality, Containment, Estimate, Explanation, Overlap, Passage, RandomSubsets,
    Span, equal_lanes, estimate_probability, mash_distance, normal_quantile, weighted_jaccard,
    wilson,
};
pub use hash::TextHash;
pub use index::{
    BucketSizes, Cluster, ClusterChange, ClusterEvent, ClusterPlace, Clustering, Clusters,
    DEFAULT_MAX_CANDIDATES, DedupInput, DedupOutcome, DedupRun, Document, DocumentInfo, Documents,
    Ids, Index, IndexOptions, Inserted, Insertion, Keep, KnownPassage, KnownPassages, Linkage,
    Match, Matches, Merged, OnConflict, Outcome, Pair, Pairs, PassageMatch, PassageMatches,
    PassageQuery, Query, ReadOnlyIndex, Rebuilt, RepeatedPassage, RepeatingDocument, Repeats,
    SharedPassage, SizeClass, SizesSearched, Snapshot, SyncRun, Synced, TrackedCluster,
    TrackedClusters, WriteTxn,
};
pub use lsh::{BandPlan, Chances, Forecast, Probe, Textbook, candidate_probability};
pub use params::{
    DEFAULT_CONFIDENCE, DEFAULT_LANES, DEFAULT_RECALL, DEFAULT_THRESHOLD, MAX_ID_BYTES, MAX_LANES,
};
pub use sketch::{BottomK, DistinctCounter, SetSize, Signature, Sketch, Sketcher, Winnowing};
pub use store::{
    CheckReport, FILE_MAGIC, FORMAT_VERSION, Invariant, Progress, Repair, Settings, Space, Usage,
    Violation, Work,
};
pub use text::{
    Content, Form, Normalization, Shingle, ShingleStream, Shingler, Tokens, UnicodeVersions,
    Weights, Whitespace,
};
pub use threads::{is_forked, with_threads};
