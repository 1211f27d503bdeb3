//! Errors about one document of a batch.

use super::variants::Error;

impl Error {
    /// Tells which document of a batch the error is about, unless it names the document already.
    pub(crate) fn of_document(self, place: usize, id: &str) -> Self {
        let id = match &self {
            Self::SketchedOtherwise { id, .. }
            | Self::MissingText { id }
            | Self::MissingFingerprints { id }
                if !id.is_empty() =>
            {
                return self;
            }
            // An id that is too long is not repeated.
            Self::InvalidId { .. } => String::new(),
            _ => id.to_owned(),
        };
        Self::RefusedDocument { place, id, source: Box::new(self) }
    }

    /// The error if the document was not given in a batch.
    pub(crate) fn of_single_document(self) -> Self {
        match self {
            Self::RefusedDocument { source, .. } => *source,
            other => other,
        }
    }

    /// The error if this many documents come before the batch.
    pub(crate) fn after(self, more: usize) -> Self {
        match self {
            Self::RefusedDocument { place, id, source } => {
                Self::RefusedDocument { place: place + more, id, source }
            }
            other => other,
        }
    }
}
