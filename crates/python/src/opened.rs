//! What is open: an index, and the states of it that are asked.

use crate::process::Own;
use std::sync::Arc;
use twindex::{Index, ReadOnlyIndex, Settings, Sketcher, Snapshot};

/// An open index, for writing or for reading.
pub(crate) enum Open {
    Writable(Index),
    ReadOnly(ReadOnlyIndex),
}

impl Open {
    pub(crate) fn settings(&self) -> &Settings {
        match self {
            Self::Writable(index) => index.settings(),
            Self::ReadOnly(index) => index.settings(),
        }
    }

    pub(crate) fn sketcher(&self) -> &Sketcher {
        match self {
            Self::Writable(index) => index.sketcher(),
            Self::ReadOnly(index) => index.sketcher(),
        }
    }

    pub(crate) fn snapshot(&self) -> twindex::Result<Snapshot> {
        match self {
            Self::Writable(index) => index.snapshot(),
            Self::ReadOnly(index) => index.snapshot(),
        }
    }
}

/// One state of an index.
pub(crate) type Shared = Arc<Own<Snapshot>>;

pub(crate) fn share(snapshot: Snapshot) -> Shared {
    Arc::new(Own::new(snapshot))
}
