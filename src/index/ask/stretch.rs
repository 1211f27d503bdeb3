//! A stretch of a text that a document has, before it is told as a known passage.

use crate::estimate::SharedStretch;
use crate::store::DocNo;

/// Where a passage was met.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Origin {
    /// In a document of the index.
    Written(DocNo),
    /// In a document of the same batch, at this position.
    Waiting(usize),
    /// Earlier in the same text.
    Itself,
}

/// A stretch of a text that was met before.
#[derive(Clone, Debug)]
pub(crate) struct MetStretch {
    pub(crate) origin: Origin,
    pub(crate) stretch: SharedStretch,
}
