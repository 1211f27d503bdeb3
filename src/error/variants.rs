//! All errors of the library.

use super::wording::{advice_on_bands, bands_needed, document};
use std::io;
use std::path::PathBuf;

/// A result whose error is [`Error`].
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Any error of the library. The message says what is wrong, where, and what to do.
///
/// The message is one line and does not include the cause, which
/// [`source`](std::error::Error::source) returns. [`kind`](Self::kind) classifies errors by what a
/// caller can do. Absence is not an error: looking up an unknown id returns `None` or `false`.
///
/// ```
/// use twindex::{ErrorKind, Index};
/// let missing = Index::open("no/such/index.twx").expect_err("no index");
/// assert_eq!(missing.kind(), ErrorKind::NotFound);
/// assert_eq!(missing.to_string(), "no/such/index.twx: no such index; create it first");
/// ```
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// No file exists at the path. Create the index first, or use
    /// [`open_or_create`](crate::IndexOptions::open_or_create).
    #[error("{}: no such index; create it first", path.display())]
    NotFound {
        /// The path that was opened.
        path: PathBuf,
    },

    /// A file already exists at the path. Open it, or choose another path.
    #[error("{}: already exists; open it, or choose another path", path.display())]
    AlreadyExists {
        /// The path at which the file was to be created.
        path: PathBuf,
    },

    /// The file is not a twindex index, but another kind of file, a directory, or an index that was
    /// cut short.
    #[error("{}: not a twindex index: {detail}", path.display())]
    NotAnIndex {
        /// The path that was opened.
        path: PathBuf,
        /// What was found instead.
        detail: String,
    },

    /// A newer twindex wrote the file. Upgrade, or create the index again with this version.
    #[error(
        "{}: written in format {found}, this twindex reads up to {supported}; use a newer twindex",
        path.display()
    )]
    NewerFormat {
        /// The path that was opened.
        path: PathBuf,
        /// The format version in the file.
        found: u32,
        /// The newest format version that this build reads.
        supported: u32,
    },

    /// Another process has the file open for writing, or shrinks it. In this process, another
    /// index, a snapshot or an iterator has it. Try again when it has finished, or let the opening
    /// call wait ([`IndexOptions::wait`](crate::IndexOptions::wait)).
    #[error(
        "{}: in use by another process, or elsewhere in this one; wait until it has finished",
        path.display()
    )]
    Locked {
        /// The path that was opened.
        path: PathBuf,
    },

    /// The file of the index was moved, deleted or replaced while it was open. Open the index again
    /// at the path that the file has now. If it was deleted, a snapshot still reads it: save it
    /// with [`Snapshot::backup`](crate::Snapshot::backup), or insert the documents again.
    #[error("{}: was moved, deleted or replaced while it was open; {outcome}", path.display())]
    Moved {
        /// The path under which the file was opened.
        path: PathBuf,
        /// What was done, and where it went.
        outcome: &'static str,
    },

    /// The index was not closed cleanly, on a system that cannot lock single bytes of a file or by
    /// another program, and its recovery needs write permission, which this process lacks. Open the
    /// index once with write permission.
    #[error(
        "{}: was not closed cleanly and this process may not write to it; \
         open it once with write permission to recover it",
        path.display()
    )]
    NeedsRecovery {
        /// The path that was opened.
        path: PathBuf,
    },

    /// An option differs from the setting that the index was created with. Leave the option out, or
    /// create another index.
    #[error(
        "{}: created with {setting} {stored}, not {asked}; \
         leave {setting} out, or create another index",
        path.display()
    )]
    SettingMismatch {
        /// The path that was opened.
        path: PathBuf,
        /// The name of the setting.
        setting: &'static str,
        /// Its value in the file.
        stored: String,
        /// The value that was asked for.
        asked: String,
    },

    /// A setting or argument is outside its range.
    #[error("{setting} {got}: expected {expected}")]
    InvalidSetting {
        /// The name of the setting.
        setting: &'static str,
        /// The value that was given.
        got: String,
        /// The values that are valid.
        expected: &'static str,
    },

    /// No choice of bands reaches the recall at this threshold with this number of lanes. Raise the
    /// threshold, lower the recall, or take more lanes.
    #[error(
        "recall {recall} at threshold {threshold} needs {bands} bands, \
         {lanes} lanes give {available}; {advice}",
        bands = bands_needed(*needed),
        advice = advice_on_bands(*needed)
    )]
    UnreachableRecall {
        /// The threshold that was asked for.
        threshold: f64,
        /// The recall that was asked for.
        recall: f64,
        /// The number of lanes.
        lanes: usize,
        /// The number of bands that the shallowest depth would need; above 1,000,000, it is not
        /// counted further.
        needed: usize,
        /// The greatest number of bands that the lanes allow.
        available: usize,
    },

    /// A document id is empty or longer than 4,096 bytes.
    #[error("id of {length} bytes: expected 1 to {most} bytes of UTF-8")]
    InvalidId {
        /// The length of the id in bytes.
        length: usize,
        /// The greatest length.
        most: usize,
    },

    /// A token of a weighted set has an invalid weight or two weights. Leave the token out, or
    /// correct its weight.
    #[error("weight {got} of {token:?}: expected {expected}")]
    InvalidWeight {
        /// The token.
        token: String,
        /// Its weight.
        got: String,
        /// The weights that are valid.
        expected: &'static str,
    },

    /// The content is not a weighted set. Either an index or sketcher of weighted sets was given a
    /// text or a set of tokens, or [`from_export`](crate::Weights::from_export) was given a text
    /// that is no export of [`Weights`](crate::Weights). Give [`Weights`](crate::Weights), or
    /// create an index of another kind.
    #[error(
        "not a weighted set, which has a weight for each token; \
         give weights, or use an index created without weighted"
    )]
    NotWeights,

    /// Weights were given to an index or sketcher that is not one of weighted sets. Give a text, or
    /// create the index with [`weighted`](crate::IndexOptions::weighted).
    #[error(
        "weights given to an index of texts; \
         give a text, or use an index created with weighted"
    )]
    UnexpectedWeights,

    /// A set of tokens was given to an index or sketcher whose shingle is not
    /// [`token`](crate::Shingle::Tokens). Give a text, or create the index with that shingle.
    #[error(
        "a set of tokens given to an index of shingle {shingle}; \
         give a text, or use an index created with shingle token"
    )]
    UnexpectedTokens {
        /// The shingle of the index or sketcher.
        shingle: String,
    },

    /// A token holds the character U+001F, which ends tokens. Leave the token out.
    #[error("token {token:?} holds the character U+001F, which ends tokens; leave it out")]
    InvalidToken {
        /// The token.
        token: String,
    },

    /// A signature has another number of lanes than this index. Make it with the index's own
    /// sketcher ([`Index::sketcher`](crate::Index::sketcher)).
    #[error(
        "signature of {got} lanes: expected {expected}; make it with this index's own sketcher"
    )]
    SignatureMismatch {
        /// The number of lanes of this index.
        expected: usize,
        /// The number of lanes of the signature.
        got: usize,
    },

    /// A document was made by a sketcher with other settings than those of this index, so its
    /// signature cannot be compared with others. Make it with this index
    /// ([`Index::prepare`](crate::Index::prepare)) or with its sketcher
    /// ([`Index::sketcher`](crate::Index::sketcher)).
    #[error(
        "document {id:?}: made with {setting} {got}: expected {expected}; make it with this index \
         or its own sketcher"
    )]
    SketchedOtherwise {
        /// The id of the document.
        id: String,
        /// The name of the setting.
        setting: &'static str,
        /// Its value in this index.
        expected: String,
        /// Its value in the sketcher.
        got: String,
    },

    /// A document of a batch was refused. [`source`](std::error::Error::source) is the reason.
    /// Correct the document or leave it out. Errors that name the document themselves are not
    /// wrapped, and neither is the error of a document that was given alone.
    #[error("{}", document(*place, id))]
    RefusedDocument {
        /// The place of the document in the batch, counted from 0.
        place: usize,
        /// The id of the document; empty if it has none, or an invalid one.
        id: String,
        /// The reason.
        source: Box<Error>,
    },

    /// The call needs stored texts, and the index stores none. Create it with
    /// [`store_text`](crate::IndexOptions::store_text), and add the texts again.
    #[error(
        "{}: stores no texts; create it with store_text and add the texts again",
        path.display()
    )]
    NoTexts {
        /// The path of the index.
        path: PathBuf,
    },

    /// The index stores texts, and a document has none. Make the document with
    /// [`Index::prepare`](crate::Index::prepare) or
    /// [`Document::with_content`](crate::Document::with_content).
    #[error("{id}: has no text, but this index stores texts; give the text too")]
    MissingText {
        /// The id of the document.
        id: String,
    },

    /// The call needs fingerprints of passages, and the index has none. Create it with
    /// [`passages`](crate::IndexOptions::passages), or, if it stores texts, [rebuild
    /// ](crate::IndexOptions::rebuild) it with them.
    #[error(
        "{}: has no fingerprints of passages; create it with passages, or rebuild it with them",
        path.display()
    )]
    NoPassages {
        /// The path of the index.
        path: PathBuf,
    },

    /// The call needs tracked clusters, and the index tracks none. Let it track them by
    /// [`Index::track_clusters`](crate::Index::track_clusters).
    #[error("{}: tracks no clusters; begin to track them first", path.display())]
    NotTracked {
        /// The path of the index.
        path: PathBuf,
    },

    /// Changes were asked for since a commit before those that the index knows, or since one that
    /// is still to come. Ask for the changes since commit 0, which are all clusters.
    #[error(
        "{}: knows the changes of clusters since the commits {from} to {to}, not since {since}; \
         ask for those since commit 0, which are all clusters",
        path.display()
    )]
    ChangesForgotten {
        /// The path of the index.
        path: PathBuf,
        /// The commit that was asked for.
        since: u64,
        /// The first commit since which changes are known.
        from: u64,
        /// The last commit.
        to: u64,
    },

    /// The index keeps fingerprints of passages, and a document has none. Make the document with
    /// [`Index::prepare`](crate::Index::prepare), or add them by
    /// [`Document::with_fingerprints`](crate::Document::with_fingerprints).
    #[error("{id}: has no fingerprints, but this index keeps them; give the text")]
    MissingFingerprints {
        /// The id of the document.
        id: String,
    },

    /// Bytes are not fingerprints as [`Document::fingerprints`](crate::Document::fingerprints)
    /// returns them, or those of a document are for passages of another length than the index has.
    #[error("fingerprints cannot be used: {detail}")]
    InvalidFingerprints {
        /// What is wrong with them.
        detail: &'static str,
    },

    /// A text that is read as a stream is not UTF-8. Convert it to UTF-8 first.
    #[error("not valid UTF-8 at byte {at}")]
    NotUtf8 {
        /// The position of the first invalid byte, counted from 1.
        at: u64,
    },

    /// A part of a stream that must be in memory as a whole is longer than the limit. Raise the
    /// limit.
    #[error("{what} of more than {most} bytes does not fit; give more memory")]
    PieceTooLong {
        /// The part that is too long.
        what: &'static str,
        /// The greatest length in bytes that it may have.
        most: usize,
    },

    /// A stream could not be read.
    #[error("cannot be read")]
    Unreadable {
        /// The cause.
        source: io::Error,
    },

    /// A stored record or page is damaged. Restore the file from a copy, or repair it
    /// ([`Index::repair`](crate::Index::repair)). [`Index::check`](crate::Index::check) reads the
    /// whole file.
    #[error(
        "{}: damaged: {table} {key}: {detail}; restore a copy, or repair it",
        path.display()
    )]
    Damaged {
        /// The path of the index.
        path: PathBuf,
        /// The table that holds the record (`docs/format.md`).
        table: &'static str,
        /// The key of the record.
        key: String,
        /// A description of the damage.
        detail: String,
    },

    /// The process may not use enough memory for a record. The record is not damaged: give the
    /// process more memory.
    #[error("{}: {what} does not fit into memory; give the process more", path.display())]
    NoMemory {
        /// The path of the index.
        path: PathBuf,
        /// The record.
        what: String,
    },

    /// A thread panicked: mostly because the system gives the process no more threads, else because
    /// of a defect. Nothing says that the file is damaged: [`Index::check`](crate::Index::check)
    /// tells.
    #[error("{}: failed: {detail}; the file is not known to be damaged", path.display())]
    Panicked {
        /// The path of the index.
        path: PathBuf,
        /// The message of the panic.
        detail: String,
    },

    /// A write transaction of this index is in use. Either this thread holds it, so that waiting
    /// for it would never end, or the work needs the index to itself. Commit or drop it first.
    #[error("a write transaction of this index is in use; commit or drop it first")]
    WriteInProgress,

    /// Compacting needs the file to itself. Drop the snapshots first.
    #[error("snapshots in use: {count}; drop them before compacting")]
    SnapshotsLive {
        /// The number of snapshots.
        count: usize,
    },

    /// A compaction has done everything but shrink the file, as snapshots of other processes, or of
    /// a [`ReadOnlyIndex`](crate::ReadOnlyIndex) of this one, are in use. Compact again when they
    /// are dropped, or close the index, which returns a part of the space.
    #[error(
        "{}: compacted but not shrunk, because snapshots of it are in use; compact again when they \
         are dropped",
        path.display()
    )]
    NotShrunk {
        /// The path of the index.
        path: PathBuf,
    },

    /// The input differs from that of the interrupted deduplication. Give the same documents from
    /// the beginning, or [begin](crate::DedupRun::begin) a new run.
    #[error(
        "the input is not the one of the interrupted run, which judged {documents} documents; \
         give the same input again, or begin a new run"
    )]
    InputDiffers {
        /// The number of documents that the interrupted run has judged.
        documents: u64,
    },

    /// The settings of two indexes differ, so one cannot be merged into the other, or documents of
    /// one compared with those of the other. Create one of them again from the texts, under the
    /// settings of the other.
    #[error(
        "{}: its {setting} is {found}, that of {} is {expected}; \
         both must have the same",
        path.display(),
        other.display()
    )]
    UnequalSettings {
        /// The path of the index that was to be merged, or compared with.
        path: PathBuf,
        /// The name of the setting.
        setting: &'static str,
        /// Its value in that index.
        found: String,
        /// The path of the index that was to take it in, or whose documents were to be compared.
        other: PathBuf,
        /// The value of the setting there.
        expected: String,
    },

    /// The watcher of the work has stopped it. The index is consistent; the message says what was
    /// done.
    #[error("{}: {action} was interrupted; {outcome}", path.display())]
    Interrupted {
        /// The path of the index.
        path: PathBuf,
        /// The work that was stopped.
        action: &'static str,
        /// The state that the work has left, and what can be done.
        outcome: &'static str,
    },

    /// All 4,294,967,295 document numbers, or all run numbers, are used up. Rebuild the index.
    #[error("{}: all numbers of documents or runs are used up; rebuild the index", path.display())]
    Full {
        /// The path of the index.
        path: PathBuf,
    },

    /// The operating system returned an error from a read or write.
    #[error("{}: {action}", path.display())]
    Io {
        /// The path of the index, or that of its folder if there is no such folder.
        path: PathBuf,
        /// The action that failed.
        action: &'static str,
        /// The cause.
        source: io::Error,
    },

    /// The storage library failed, mostly after an earlier I/O error. Drop the index and open it
    /// again: it is then at its last commit.
    #[error("{}: {action}: {detail}; close and open the index again", path.display())]
    Storage {
        /// The path of the index.
        path: PathBuf,
        /// The action that failed.
        action: &'static str,
        /// The cause in the words of the storage library.
        detail: String,
    },
}
