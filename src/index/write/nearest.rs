//! The documents that are most similar to a new one, before its batch changes anything.

use crate::error::Result;
use crate::index::ask::exact_text::ExactText;
use crate::index::ask::score::Score;
use crate::index::ask::search::{SearchPlan, Similar, find_similar};
use crate::index::write::duplicate_rule::{DuplicateRule, Shares};
use crate::store::{Asked, DocNo, Document, View};

/// A new document for which similar ones are searched.
#[derive(Clone, Copy)]
pub(super) struct NewDocument<'d> {
    pub(super) document: &'d Document,
    /// The document of the index that has the same id. It does not count as similar.
    pub(super) same_id: Option<DocNo>,
}

/// The documents known before the batch that are most similar to a new one.
#[derive(Default)]
pub(super) struct Nearest {
    /// The best matches in the index, by descending similarity, then by number.
    pub(super) in_index: Vec<(Score, DocNo)>,
    /// The id of the first of them.
    first_id: Option<String>,
    /// Whether the index has more.
    more: bool,
    /// The best match in other indexes.
    pub(super) elsewhere: Option<Elsewhere>,
    /// Whether a search left out candidates.
    pub(super) limited: bool,
    /// What is similar but contains too little of the document, if nothing contains enough.
    pub(super) spared: Option<Box<Nearest>>,
}

/// A match in another index.
#[derive(Clone, Copy)]
pub(super) struct Elsewhere {
    pub(super) score: Score,
    /// Which of the other indexes it is in.
    pub(super) index: usize,
    pub(super) doc: DocNo,
}

impl Nearest {
    /// Finds the `most` best matches in the index, and the best one in other indexes. `asked` are
    /// the buckets of the document, if they were looked up in memory.
    pub(super) fn find(
        view: &View<'_>,
        new: NewDocument<'_>,
        asked: Option<Asked<'_>>,
        rule: &DuplicateRule<'_>,
        most: usize,
    ) -> Result<Self> {
        let find = |shares| {
            let exact = rule.exact(new.document, shares);
            let mut nearest = Self::in_index(view, new, asked, rule.search_plan, exact, most)?;
            nearest.look_elsewhere(new.document, exact, rule)?;
            Ok(nearest)
        };
        let mut nearest: Self = find(Shares::Enough)?;
        if rule.asks_for_share() && nearest.is_none() {
            nearest.spared = Some(Box::new(find(Shares::Any)?));
        }
        Ok(nearest)
    }

    fn in_index(
        view: &View<'_>,
        new: NewDocument<'_>,
        asked: Option<Asked<'_>>,
        search_plan: SearchPlan,
        exact: Option<ExactText<'_>>,
        most: usize,
    ) -> Result<Self> {
        let lanes = new.document.signature.lanes();
        // One extra result shows whether there are more. A batch of one does not need to know.
        let wanted = if most > 1 { most + 1 } else { most };
        let is_wanted = |doc: DocNo| Some(doc) != new.same_id;
        let Similar { found: mut in_index, limited } =
            find_similar(view, lanes, asked, search_plan, exact, wanted, is_wanted)?;
        let more = in_index.len() > most;
        in_index.truncate(most);
        let first_id = match in_index.first() {
            Some((_, doc)) => Some(view.document(*doc)?.id),
            None => None,
        };
        Ok(Self { in_index, first_id, more, limited, ..Self::default() })
    }

    /// Finds the best match in other indexes.
    fn look_elsewhere(
        &mut self,
        document: &Document,
        exact: Option<ExactText<'_>>,
        rule: &DuplicateRule<'_>,
    ) -> Result<()> {
        let lanes = document.signature.lanes();
        let similarity = |score: Score| score.similarity(lanes.len());
        for (index, other) in rule.others.iter().enumerate() {
            let exact = exact.filter(|_| other.exact);
            let view = other.snapshot.view();
            let Similar { found, limited } =
                find_similar(&view, lanes, None, other.search_plan, exact, 1, |_| true)?;
            self.limited |= limited;
            if let Some((score, doc)) = found.into_iter().next()
                && self.elsewhere.is_none_or(|best| similarity(score) > similarity(best.score))
            {
                self.elsewhere = Some(Elsewhere { score, index, doc });
            }
        }
        Ok(())
    }

    /// No match, because nothing was searched: the index may have some.
    pub(super) fn not_searched() -> Self {
        Self { more: true, ..Self::default() }
    }

    /// Whether nothing was found.
    pub(super) fn is_none(&self) -> bool {
        self.in_index.is_empty() && self.elsewhere.is_none()
    }

    /// Whether the index may have matches that are not remembered.
    pub(super) fn may_have_more(&self) -> bool {
        self.more || self.limited && !self.in_index.is_empty()
    }

    /// The id of a match in the index, if it is known.
    pub(super) fn id_of(self, doc: DocNo) -> Option<String> {
        let is_first = self.in_index.first().is_some_and(|(_, first)| *first == doc);
        self.first_id.filter(|_| is_first)
    }

    /// Takes what another search has found in the index.
    pub(super) fn replace_in_index(&mut self, in_index: Vec<(Score, DocNo)>) {
        self.in_index = in_index;
        self.first_id = None;
    }
}
