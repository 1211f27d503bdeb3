//! What a caller can do about an error, and what it says beyond its message.

use super::variants::Error;
use std::path::Path;

/// The class of an [`Error`], by what a caller can do about it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// No index exists at the path. Create it, or choose another path.
    NotFound,
    /// A file already exists at the path. Open it, or choose another path.
    AlreadyExists,
    /// An argument, a setting or a document is not valid. Correct it; another attempt with the same
    /// input gives the same error.
    InvalidInput,
    /// The call needs an index with other settings. Leave the setting out, or create the index
    /// again with the settings that are needed.
    Mismatch,
    /// Another process, transaction or snapshot is in use. Wait for it or end it, and try again.
    Busy,
    /// The path leads to another file than the one that is open. The message says what was done.
    /// Open the index again at the path that its file has now.
    Moved,
    /// The caller stopped the work. The message says what was done and what was left. Start the
    /// work again, or leave it.
    Interrupted,
    /// The file must be repaired before all of it can be used. The message says whether opening it
    /// for writing is enough, or whether to repair it ([`Index::repair`](crate::Index::repair)) or
    /// restore a copy.
    Damaged,
    /// This version of the library cannot read the file: it is not an index, or its format is
    /// newer. Choose another file, or use a newer version of the library.
    Unsupported,
    /// A limit is reached: the index has no free numbers, or the memory given is too small. Rebuild
    /// the index, or give more memory.
    Full,
    /// The operating system or the storage library failed. The message or
    /// [`source`](std::error::Error::source) gives the cause. Remove it and open the index again,
    /// which is then at its last commit.
    Io,
}

impl Error {
    /// Returns the message followed by those of its causes, in one line, for clients that show an
    /// error as one text.
    ///
    /// ```
    /// let source = std::io::Error::other("disk on fire");
    /// let error = twindex::Error::Unreadable { source };
    /// assert_eq!(error.to_string(), "cannot be read");
    /// assert_eq!(error.with_causes(), "cannot be read: disk on fire");
    /// ```
    pub fn with_causes(&self) -> String {
        let mut text = self.to_string();
        let mut cause = std::error::Error::source(self);
        while let Some(error) = cause {
            text.push_str(&format!(": {error}"));
            cause = error.source();
        }
        text
    }

    /// Returns the path of the file that the error is about; `None` if it is about no file.
    pub fn path(&self) -> Option<&Path> {
        match self {
            Self::NotFound { path }
            | Self::AlreadyExists { path }
            | Self::NotAnIndex { path, .. }
            | Self::NewerFormat { path, .. }
            | Self::Locked { path }
            | Self::NotShrunk { path }
            | Self::Moved { path, .. }
            | Self::NeedsRecovery { path }
            | Self::SettingMismatch { path, .. }
            | Self::NoTexts { path }
            | Self::NoPassages { path }
            | Self::NotTracked { path }
            | Self::ChangesForgotten { path, .. }
            | Self::Damaged { path, .. }
            | Self::NoMemory { path, .. }
            | Self::Panicked { path, .. }
            | Self::UnequalSettings { path, .. }
            | Self::Interrupted { path, .. }
            | Self::Full { path }
            | Self::Io { path, .. }
            | Self::Storage { path, .. } => Some(path),
            Self::RefusedDocument { source, .. } => source.path(),
            Self::InvalidSetting { .. }
            | Self::UnreachableRecall { .. }
            | Self::InvalidId { .. }
            | Self::InvalidWeight { .. }
            | Self::NotWeights
            | Self::UnexpectedWeights
            | Self::UnexpectedTokens { .. }
            | Self::InvalidToken { .. }
            | Self::SignatureMismatch { .. }
            | Self::SketchedOtherwise { .. }
            | Self::MissingText { .. }
            | Self::MissingFingerprints { .. }
            | Self::InvalidFingerprints { .. }
            | Self::NotUtf8 { .. }
            | Self::PieceTooLong { .. }
            | Self::Unreadable { .. }
            | Self::WriteInProgress
            | Self::SnapshotsLive { .. }
            | Self::InputDiffers { .. } => None,
        }
    }

    /// Returns the class of the error, by what a caller can do about it.
    pub fn kind(&self) -> ErrorKind {
        match self {
            Self::NotFound { .. } => ErrorKind::NotFound,
            Self::AlreadyExists { .. } => ErrorKind::AlreadyExists,
            Self::RefusedDocument { source, .. } => source.kind(),
            Self::InvalidSetting { .. }
            | Self::UnreachableRecall { .. }
            | Self::InvalidId { .. }
            | Self::InvalidWeight { .. }
            | Self::InvalidToken { .. }
            | Self::NotWeights
            | Self::UnexpectedWeights
            | Self::UnexpectedTokens { .. }
            | Self::MissingText { .. }
            | Self::MissingFingerprints { .. }
            | Self::InvalidFingerprints { .. }
            | Self::NotUtf8 { .. } => ErrorKind::InvalidInput,
            Self::SettingMismatch { .. }
            | Self::SignatureMismatch { .. }
            | Self::SketchedOtherwise { .. }
            | Self::NoTexts { .. }
            | Self::NoPassages { .. }
            | Self::NotTracked { .. }
            | Self::ChangesForgotten { .. }
            | Self::InputDiffers { .. }
            | Self::UnequalSettings { .. } => ErrorKind::Mismatch,
            Self::Locked { .. }
            | Self::NotShrunk { .. }
            | Self::WriteInProgress
            | Self::SnapshotsLive { .. } => ErrorKind::Busy,
            Self::Moved { .. } => ErrorKind::Moved,
            Self::Interrupted { .. } => ErrorKind::Interrupted,
            Self::NeedsRecovery { .. } | Self::Damaged { .. } => ErrorKind::Damaged,
            Self::NotAnIndex { .. } | Self::NewerFormat { .. } => ErrorKind::Unsupported,
            Self::PieceTooLong { .. } | Self::NoMemory { .. } | Self::Full { .. } => {
                ErrorKind::Full
            }
            Self::Unreadable { .. }
            | Self::Io { .. }
            | Self::Storage { .. }
            | Self::Panicked { .. } => ErrorKind::Io,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::error::Error as _;
    use std::io;
    use std::path::PathBuf;

    #[test]
    fn the_cause_is_the_source_and_not_part_of_the_message() {
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
