//! The documents that a query leaves out.

use crate::error::Result;
use crate::store::{DocNo, View};

/// The documents that a query leaves out, which may be many.
#[derive(Debug)]
pub(crate) struct Excluded {
    /// In ascending order, each once.
    docs: Vec<DocNo>,
}

impl Excluded {
    /// The documents of these ids, as far as the index has them.
    pub(super) fn of(view: &View<'_>, ids: &[String]) -> Result<Self> {
        let found = ids.iter().map(|id| Ok(view.find(id)?.map(|(doc, _)| doc)));
        let mut docs: Vec<DocNo> = found.filter_map(Result::transpose).collect::<Result<_>>()?;
        docs.sort_unstable();
        docs.dedup();
        Ok(Self { docs })
    }

    /// Whether a document is left out.
    pub(crate) fn contains(&self, doc: DocNo) -> bool {
        self.docs.binary_search(&doc).is_ok()
    }

    /// The documents that are left out.
    pub(crate) fn iter(&self) -> impl Iterator<Item = DocNo> + '_ {
        self.docs.iter().copied()
    }
}
