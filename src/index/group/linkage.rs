//! Which documents belong together: leader clustering and union-find, both over numbers.

use crate::error::Result;
use crate::estimate::equal_lanes;
use crate::index::ask::search::buckets;
use crate::index::ask::verify::Verifier;
use crate::index::group::buckets::Buckets;
use crate::index::group::by_number::ByNumber;
use crate::index::group::clusters::Keep;
use crate::index::group::groups::Groups;
use crate::index::group::order;
use crate::index::snapshot::Snapshot;
use crate::lsh::Probe;
use crate::store::{DocNo, Watch};
use rustc_hash::FxHashMap;

/// No document's number: there are fewer.
pub(crate) const NOBODY: u32 = u32::MAX;

/// What to cluster, and who is told about it.
pub(crate) struct Job<'s, 'w> {
    pub(crate) snapshot: &'s Snapshot,
    pub(crate) probe: Probe,
    /// The least equal lanes of similar documents, or of those whose texts are compared.
    pub(crate) least: usize,
    pub(crate) threshold: f64,
    /// What texts are compared by; `None` for estimates.
    pub(crate) verifier: Option<Verifier<'s>>,
    pub(crate) watch: Watch<'w>,
}

impl Job<'_, '_> {
    /// The entries of all bands that are looked at.
    fn entries(&self) -> u64 {
        self.snapshot.len().saturating_mul(self.probe.bands() as u64)
    }
}

impl Job<'_, '_> {
    /// Whether two documents that have enough equal lanes are similar.
    fn are_similar(&mut self, a: DocNo, b: DocNo) -> Result<bool> {
        match &mut self.verifier {
            Some(verifier) => Ok(verifier.similarity(a, b)? >= self.threshold),
            None => Ok(true),
        }
    }

    /// Parts documents of equal signatures into those that are one for certain.
    fn alike(&mut self, docs: &[DocNo]) -> Result<Vec<Vec<DocNo>>> {
        match &mut self.verifier {
            Some(verifier) => verifier.alike(docs),
            None => Ok(vec![docs.to_vec()]),
        }
    }
}

/// For each document, by number, the one that stands for it.
type Assigned = Result<ByNumber>;

/// Documents in order of `keep`: one that has nobody yet stands for itself and for all that are
/// similar to it and have nobody (leader clustering: J. A. Hartigan, *Clustering algorithms*, 1975,
/// chapter 3).
pub(crate) fn by_representative(job: &mut Job<'_, '_>, keep: Keep) -> Assigned {
    // Finding company is the first half of what is told, asking the other.
    job.watch.expect(2 * job.entries())?;
    let mut order = with_company(job)?;
    in_order_of(keep, &mut order, job)?;
    let share = job.entries() / order.len().max(1) as u64;
    let view = job.snapshot.view();
    let plan = job.snapshot.settings().plan;
    let mut assigned = ByNumber::new(NOBODY);
    let (mut lanes, mut found) = (Vec::new(), Vec::new());
    for doc in order {
        job.watch.advance(share)?;
        let is_free = |doc: DocNo| assigned.get(doc) == NOBODY;
        if !is_free(doc) {
            continue;
        }
        lanes.clear();
        view.with_signature(doc, |own, _| lanes.extend_from_slice(own))?;
        view.candidates_among(&buckets(&lanes, plan, job.probe), is_free, |other, theirs| {
            if equal_lanes(&lanes, theirs) >= job.least {
                found.push(other);
            }
        })?;
        if let Some(verifier) = &mut job.verifier {
            verifier.retain_similar(doc, &mut found, job.threshold)?;
        }
        // Itself is one of them.
        found.drain(..).for_each(|other| assigned.set(other, doc.0));
    }
    Ok(assigned)
}

/// The documents that share a bucket with another one, by number.
fn with_company(job: &mut Job<'_, '_>) -> Result<Vec<DocNo>> {
    let view = job.snapshot.view();
    let mut has_company = ByNumber::new(NOBODY);
    let mut buckets = Buckets::new(job.snapshot.settings().plan, job.probe);
    while buckets.next(&view)? {
        job.watch.advance(buckets.take_passed())?;
        buckets.docs().iter().for_each(|doc| has_company.set(*doc, doc.0));
    }
    Ok(has_company.iter().map(|(doc, _)| doc).collect())
}

/// Orders documents, given by number, so that the one that would be kept of all comes first.
fn in_order_of(keep: Keep, docs: &mut [DocNo], job: &mut Job<'_, '_>) -> Result<()> {
    /// So many documents are read before whoever watches is asked whether to go on.
    const STRIDE: u32 = 1 << 12;
    let view = job.snapshot.view();
    let mut reads = 0_u32;
    let mut read = |doc| {
        reads = reads.wrapping_add(1);
        if reads.is_multiple_of(STRIDE) {
            job.watch.expect(0)?;
        }
        view.document(doc)
    };
    match keep {
        Keep::First => {}
        Keep::Longest => order::sort_by_greatest(docs, |doc| Ok(read(doc)?.text_length))?,
        Keep::Id => {
            order::sort_by_bytes(docs, order::ROOM, |doc, out| {
                out.extend_from_slice(read(doc)?.id.as_bytes());
                Ok(())
            })?;
        }
    }
    Ok(())
}

/// Whatever is connected by similar pairs. Of documents with equal signatures only the first is
/// compared, and two that are connected already are not compared at all.
pub(crate) fn connected(job: &mut Job<'_, '_>, keep: Keep) -> Assigned {
    job.watch.expect(job.entries())?;
    let mut forest = Forest(ByNumber::new(NOBODY));
    let mut groups = Groups::new(job.snapshot, job.probe);
    let mut roots = Vec::new();
    let mut parted = Parted::default();
    while groups.next_bucket()? {
        job.watch.advance(groups.take_passed())?;
        roots.clear();
        for group in 0..groups.len() {
            let docs = groups.docs(group);
            let Some((first, others)) = docs.split_first() else { continue };
            // Equal signatures meet in the first band already.
            if groups.in_first_band() && !others.is_empty() {
                let parts = job.alike(docs)?;
                for part in &parts {
                    part.windows(2).for_each(|two| {
                        forest.join(two[0], two[1]);
                    });
                }
                if parts.len() > 1 {
                    let firsts = parts.iter().filter_map(|part| part.first().copied());
                    parted.0.insert(*first, firsts.collect());
                }
            }
            roots.extend(parted.firsts(first).iter().map(|doc| forest.root(*doc)));
        }
        roots.sort_unstable();
        roots.dedup();
        let mut apart = roots.len();
        let mut row = None;
        while apart > 1
            && let Some(two) = groups.next_two()?
        {
            if row != Some(two.0) {
                row = Some(two.0);
                // A large bucket takes long: asks whether to go on.
                job.watch.expect(0)?;
            }
            let (Some(left), Some(right)) = (groups.first(two.0), groups.first(two.1)) else {
                continue;
            };
            let mut compared = None;
            for (x, y) in parted.twos(&left, &right) {
                if apart == 1 {
                    break;
                }
                if forest.root(x) == forest.root(y) {
                    continue;
                }
                let similar = *compared.get_or_insert_with(|| {
                    let (x, y) = groups.lanes(two);
                    !groups.met_before(x, y) && equal_lanes(x, y) >= job.least
                });
                if similar && job.are_similar(x, y)? {
                    apart -= usize::from(forest.join(x, y));
                }
            }
        }
    }
    let mut assigned = forest.trees();
    if keep != Keep::First {
        rename(&mut assigned, keep, job)?;
    }
    Ok(assigned)
}

/// Groups of equal signatures whose texts differ all the same, by the first document: the first one of
/// each part of equal texts.
#[derive(Default)]
struct Parted(FxHashMap<DocNo, Vec<DocNo>>);

impl Parted {
    /// Documents that stand for all of a group, whose first one is given.
    fn firsts<'f>(&'f self, first: &'f DocNo) -> &'f [DocNo] {
        match self.0.is_empty() {
            true => std::slice::from_ref(first),
            false => self.0.get(first).map_or(std::slice::from_ref(first), Vec::as_slice),
        }
    }

    /// Every two documents that stand for two groups.
    fn twos<'f>(
        &'f self,
        left: &'f DocNo,
        right: &'f DocNo,
    ) -> impl Iterator<Item = (DocNo, DocNo)> + 'f {
        let rights = self.firsts(right);
        self.firsts(left).iter().flat_map(move |x| rights.iter().map(move |y| (*x, *y)))
    }
}

/// Has each cluster, which its first document stands for, named after the one to keep.
fn rename(assigned: &mut ByNumber, keep: Keep, job: &mut Job<'_, '_>) -> Result<()> {
    let mut docs: Vec<DocNo> = assigned.iter().map(|(doc, _)| doc).collect();
    in_order_of(keep, &mut docs, job)?;
    let mut kept = ByNumber::new(NOBODY);
    for doc in docs {
        let root = DocNo(assigned.get(doc));
        if kept.get(root) == NOBODY {
            kept.set(root, doc.0);
        }
        assigned.set(doc, kept.get(root));
    }
    Ok(())
}

/// Trees of documents, in which parents have smaller numbers: the parent of each that was joined to
/// another one (R. E. Tarjan, *Efficiency of a good but not linear set union algorithm*, 1975; with
/// path halving).
struct Forest(ByNumber);

impl Forest {
    fn parent(&self, doc: DocNo) -> DocNo {
        match self.0.get(doc) {
            NOBODY => doc,
            parent => DocNo(parent),
        }
    }

    fn root(&mut self, mut doc: DocNo) -> DocNo {
        loop {
            let parent = self.parent(doc);
            if parent == doc {
                return doc;
            }
            let grandparent = self.parent(parent);
            if grandparent != parent {
                self.0.set(doc, grandparent.0);
            }
            doc = grandparent;
        }
    }

    /// Joins two trees; false where they were one.
    fn join(&mut self, a: DocNo, b: DocNo) -> bool {
        let (a, b) = (self.root(a), self.root(b));
        let root = a.min(b);
        if a != b {
            self.0.set(root, root.0);
            self.0.set(a.max(b), root.0);
        }
        a != b
    }

    /// The root of each document that was joined to another one.
    fn trees(self) -> ByNumber {
        let mut trees = self.0.clone();
        for (doc, parent) in self.0.iter() {
            // A parent comes before and has its root already.
            trees.set(doc, trees.get(DocNo(parent)));
        }
        trees
    }
}
