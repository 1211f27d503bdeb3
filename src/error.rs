//! The one error type of the library, and its `Result`.

use std::any::Any;
use std::io;
use std::path::PathBuf;

/// A result whose error is [`Error`].
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Everything that can go wrong, each with what is wrong, where, and what to do.
///
/// The message is one line without its cause, which
/// [`source`](std::error::Error::source) gives. [`kind`](Self::kind) sorts errors by what a caller
/// can do. Absence is never an error: looking up an unknown id gives `None` or `false`.
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
    /// There is no file at the path. Create the index first, or use
    /// [`open_or_create`](crate::IndexOptions::open_or_create).
    #[error("{}: no such index; create it first", path.display())]
    NotFound {
        /// The path that was opened.
        path: PathBuf,
    },

    /// A file is already there. Open it, or choose another path.
    #[error("{}: already exists; open it, or choose another path", path.display())]
    AlreadyExists {
        /// The path that was to be created.
        path: PathBuf,
    },

    /// The file is not a twindex index: another kind of file, a directory, or one cut short.
    #[error("{}: not a twindex index: {detail}", path.display())]
    NotAnIndex {
        /// The path that was opened.
        path: PathBuf,
        /// What was found instead.
        detail: String,
    },

    /// The file was written by a newer twindex. Upgrade, or rebuild the index with this one.
    #[error(
        "{}: written in format {found}, this twindex reads up to {supported}; use a newer twindex",
        path.display()
    )]
    NewerFormat {
        /// The path that was opened.
        path: PathBuf,
        /// The format version in the file.
        found: u32,
        /// The newest version this build reads.
        supported: u32,
    },

    /// Another process has the file open: a writer excludes all others, readers exclude a writer.
    /// Wait for it to end and try again, or have opening wait:
    /// [`IndexOptions::wait`](crate::IndexOptions::wait).
    #[error("{}: in use by another process; wait until it has finished", path.display())]
    Locked {
        /// The path that was opened.
        path: PathBuf,
    },

    /// The index was not closed cleanly and can only be repaired by someone who may write to it.
    /// Open it once for writing.
    #[error(
        "{}: was not closed cleanly and this process may not write to it; \
         open it once with write permission to repair it",
        path.display()
    )]
    NeedsRepair {
        /// The path that was opened.
        path: PathBuf,
    },

    /// The options ask for something else than the settings the index was created with.
    /// Leave the option out, or create another index.
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
        /// What was given.
        got: String,
        /// What would be valid.
        expected: &'static str,
    },

    /// No choice of bands reaches the recall at this threshold with so few lanes.
    /// Raise the threshold, lower the recall, or take more lanes.
    #[error(
        "recall {recall} at threshold {threshold} needs {needed} bands, {lanes} lanes give {available}; \
         raise the threshold, lower the recall, or take more lanes"
    )]
    UnreachableRecall {
        /// The threshold that was asked for.
        threshold: f64,
        /// The recall that was asked for.
        recall: f64,
        /// The number of lanes.
        lanes: usize,
        /// The bands that the shallowest depth would need.
        needed: usize,
        /// The bands that the lanes allow.
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

    /// A token of a weighted set has a weight that is none. Leave the token out, or give it another.
    #[error("weight {got} of {token:?}: expected {expected}")]
    InvalidWeight {
        /// The token.
        token: String,
        /// Its weight.
        got: String,
        /// What would be valid.
        expected: &'static str,
    },

    /// A text, or a set of tokens, was given to an index of weighted sets, or a text that is no export
    /// of [`Weights`](crate::Weights) to [`from_export`](crate::Weights::from_export). Give
    /// [`Weights`](crate::Weights), or create an index of another kind.
    #[error(
        "a text, where an index of weights needs tokens with a number each; \
         give weights, or take an index created without weighted"
    )]
    NotWeights,

    /// Weights were given to an index or sketcher that is not one of weighted sets. Give a text, or
    /// create the index with [`weighted`](crate::IndexOptions::weighted).
    #[error(
        "weights, where an index of texts needs a text; \
         give texts, or take an index created with weighted"
    )]
    UnexpectedWeights,

    /// A set of tokens was given where texts are cut into other shingles than tokens. Give a text, or
    /// create the index with the shingle [`token`](crate::Shingle::Tokens).
    #[error(
        "a set of tokens, where texts are cut by {shingle}; \
         give texts, or take an index created with shingle token"
    )]
    UnexpectedTokens {
        /// What texts are cut by.
        shingle: String,
    },

    /// A token holds the character U+001F, which ends tokens. Leave the token out.
    #[error("token {token:?} holds the character U+001F, which ends tokens; leave it out")]
    InvalidToken {
        /// The token.
        token: String,
    },

    /// A signature made under other settings was offered to this index.
    #[error(
        "signature of {got} lanes: expected {expected}; make it with this index's own sketcher"
    )]
    SignatureMismatch {
        /// The lanes of this index.
        expected: usize,
        /// The lanes of the signature.
        got: usize,
    },

    /// The index stores no texts, and what was asked for needs them. Create it with
    /// [`store_text`](crate::IndexOptions::store_text), and add the texts again.
    #[error("{}: stores no texts; create it with store_text and add the texts again", path.display())]
    NoTexts {
        /// The path of the index.
        path: PathBuf,
    },

    /// A document comes without the text that the index is to store. Make it with
    /// [`Index::prepare`](crate::Index::prepare) or
    /// [`Document::with_content`](crate::Document::with_content).
    #[error("{id}: comes without its text, which this index stores; give the text with it")]
    MissingText {
        /// The id of the document.
        id: String,
    },

    /// A text that is read as a stream is not UTF-8. Convert it first.
    #[error("not valid UTF-8 at byte {at}")]
    NotUtf8 {
        /// The first byte that is not, counted from 1.
        at: u64,
    },

    /// Something that must be in memory as a whole is longer than the memory that was given has room
    /// for. Give more.
    #[error("{what} of more than {most} bytes, for which there is no room; give more memory")]
    NoRoom {
        /// What is so long.
        what: &'static str,
        /// The most that it may have.
        most: usize,
    },

    /// A stream cannot be read.
    #[error("cannot be read")]
    Unreadable {
        /// The cause.
        source: io::Error,
    },

    /// A stored record or page is damaged. Restore the file from a copy, or repair it
    /// ([`Index::repair`](crate::Index::repair)); `check` lists all damage.
    #[error(
        "{}: damaged: {table} {key}: {detail}; restore a copy, or repair it",
        path.display()
    )]
    Damaged {
        /// The path of the index.
        path: PathBuf,
        /// The table the record is in (`docs/format.md`).
        table: &'static str,
        /// Its key.
        key: String,
        /// What is wrong with it.
        detail: String,
    },

    /// A write transaction of this index is in use: on this thread, where waiting for it would never
    /// end, or on any, where the work needs the index to itself. Commit or drop it first.
    #[error("a write transaction of this index is in use; commit or drop it first")]
    WriteInProgress,

    /// Compacting needs the file to itself. Drop the snapshots first.
    #[error("{count} snapshots are still in use; drop them before compacting")]
    SnapshotsLive {
        /// How many there are.
        count: usize,
    },

    /// An interrupted deduplication had other documents. Give it the same ones from their beginning,
    /// or [begin](crate::DedupRun::begin) a new one.
    #[error(
        "the input is not the one of the interrupted run, which judged {documents} documents; \
         give the same input again, or begin a new run"
    )]
    InputDiffers {
        /// The documents that the interrupted run has judged.
        documents: u64,
    },

    /// The settings of two indexes differ, so that their signatures cannot be put together. Make one of
    /// them again from the texts, under the settings of the other.
    #[error(
        "{}: its {setting} is {found}, that of {} is {expected}; only indexes of equal settings can be joined",
        path.display(),
        other.display()
    )]
    UnequalSettings {
        /// What was to be taken in.
        path: PathBuf,
        /// The name of the setting.
        setting: &'static str,
        /// Its value there.
        found: String,
        /// The index that was to take it in.
        other: PathBuf,
        /// Its value in that index.
        expected: String,
    },

    /// Whoever watched the work has stopped it. What it was about is whole.
    #[error("{}: {action} was interrupted; {outcome}", path.display())]
    Interrupted {
        /// The path of the index.
        path: PathBuf,
        /// What was being done.
        action: &'static str,
        /// What it has left, and what can be done.
        outcome: &'static str,
    },

    /// All 4,294,967,295 numbers of documents, or of runs, are used up. Rebuild the index.
    #[error("{}: all numbers of documents or runs are used up; rebuild the index", path.display())]
    Full {
        /// The path of the index.
        path: PathBuf,
    },

    /// The operating system refused a read or write.
    #[error("{}: {action}", path.display())]
    Io {
        /// The path of the index.
        path: PathBuf,
        /// What was being done.
        action: &'static str,
        /// The cause.
        source: io::Error,
    },

    /// The storage refused to go on, mostly after an earlier I/O error.
    /// Drop the index and open it again: it is at its last commit.
    #[error("{}: {action}: {detail}; close and open the index again", path.display())]
    Storage {
        /// The path of the index.
        path: PathBuf,
        /// What was being done.
        action: &'static str,
        /// The cause in the storage's words.
        detail: String,
    },
}

/// What a caller can do about an [`Error`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// There is no index at the path. Create it, or take another path.
    NotFound,
    /// Something is at the path already. Open it, or take another path.
    AlreadyExists,
    /// An argument, a setting or a document is not valid. Correct it; trying again gives the same
    /// error.
    InvalidInput,
    /// The call needs an index with other settings. Leave the setting out, or make the index again
    /// with the settings that are needed.
    Mismatch,
    /// Another process, transaction or snapshot is in the way. Wait for it or end it, and try
    /// again.
    Busy,
    /// The caller stopped the work. The message says what was done and what was left. Start the
    /// work again, or leave it.
    Interrupted,
    /// The file must be repaired before it can be used as a whole. The message says whether
    /// opening it for writing is enough, or whether to repair it
    /// ([`Index::repair`](crate::Index::repair)) or to restore a copy.
    Damaged,
    /// This version of the library cannot read the file: it is no index, or a newer one. Take
    /// another file, or a newer version.
    Unsupported,
    /// There is no more room: the index has no free numbers, or the memory that was given is too
    /// small. Rebuild the index, or give more memory.
    Full,
    /// The operating system or the storage failed. Remove the cause, which
    /// [`source`](std::error::Error::source) or the message gives, and open the index again: it is
    /// at its last commit.
    Io,
}

impl Error {
    /// What a caller can do about it.
    pub fn kind(&self) -> ErrorKind {
        match self {
            Self::NotFound { .. } => ErrorKind::NotFound,
            Self::AlreadyExists { .. } => ErrorKind::AlreadyExists,
            Self::InvalidSetting { .. }
            | Self::UnreachableRecall { .. }
            | Self::InvalidId { .. }
            | Self::InvalidWeight { .. }
            | Self::InvalidToken { .. }
            | Self::NotWeights
            | Self::UnexpectedWeights
            | Self::UnexpectedTokens { .. }
            | Self::MissingText { .. }
            | Self::NotUtf8 { .. } => ErrorKind::InvalidInput,
            Self::SettingMismatch { .. }
            | Self::SignatureMismatch { .. }
            | Self::NoTexts { .. }
            | Self::InputDiffers { .. }
            | Self::UnequalSettings { .. } => ErrorKind::Mismatch,
            Self::Locked { .. } | Self::WriteInProgress | Self::SnapshotsLive { .. } => {
                ErrorKind::Busy
            }
            Self::Interrupted { .. } => ErrorKind::Interrupted,
            Self::NeedsRepair { .. } | Self::Damaged { .. } => ErrorKind::Damaged,
            Self::NotAnIndex { .. } | Self::NewerFormat { .. } => ErrorKind::Unsupported,
            Self::NoRoom { .. } | Self::Full { .. } => ErrorKind::Full,
            Self::Unreadable { .. } | Self::Io { .. } | Self::Storage { .. } => ErrorKind::Io,
        }
    }
}

/// What a panic said.
pub(crate) fn panic_text(payload: &(dyn Any + Send)) -> &str {
    let text = payload.downcast_ref::<&str>().copied();
    text.or_else(|| payload.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("no reason given")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::error::Error as _;

    #[test]
    fn a_cause_is_given_once_as_the_source() {
        let cause = || io::Error::other("the disk is on fire");
        let path = PathBuf::from("i.twx");
        let io = Error::Io { path, action: "committing", source: cause() };
        let unreadable = Error::Unreadable { source: cause() };
        for (error, message) in [(io, "i.twx: committing"), (unreadable, "cannot be read")] {
            assert_eq!(error.to_string(), message);
            let source = error.source().expect("a cause");
            assert_eq!(source.to_string(), "the disk is on fire");
            assert_eq!(error.kind(), ErrorKind::Io);
        }
    }
}
