//! The two clustering algorithms, leader clustering and union-find, over document numbers.

use crate::error::Result;
use crate::estimate::equal_lanes;
use crate::index::ask::search::buckets;
use crate::index::ask::verify::Verifier;
use crate::index::group::buckets::Buckets;
use crate::index::group::clusters::{Keep, Order};
use crate::index::group::doc_map::DocMap;
use crate::index::group::groups::Groups;
use crate::index::group::sort;
use crate::index::snapshot::Snapshot;
use crate::lsh::Probe;
use crate::store::{DocNo, Watch};
use rustc_hash::FxHashMap;

/// Stands for "no document": an index has fewer documents, so the number is never used.
pub(crate) const NO_DOC: u32 = u32::MAX;

/// The input of a clustering, and the watch that reports its progress.
pub(crate) struct Job<'s, 'w> {
    pub(crate) snapshot: &'s Snapshot,
    pub(crate) probe: Probe,
    /// The minimum number of equal lanes of a similar document or, with texts, of one to verify.
    pub(crate) least: usize,
    pub(crate) threshold: f64,
    /// Compares texts; `None` for estimates.
    pub(crate) verifier: Option<Verifier<'s>>,
    pub(crate) watch: Watch<'w>,
}

impl Job<'_, '_> {
    /// The number of entries in all bands of the probe.
    fn entries(&self) -> u64 {
        self.snapshot.len().saturating_mul(self.probe.bands() as u64)
    }
}

impl Job<'_, '_> {
    /// Whether two documents with enough equal lanes are similar.
    fn are_similar(&mut self, a: DocNo, b: DocNo) -> Result<bool> {
        match &mut self.verifier {
            Some(verifier) => Ok(verifier.similarity(a, b)? >= self.threshold),
            None => Ok(true),
        }
    }

    /// Splits documents with equal signatures into parts with equal content. Without texts, there
    /// is only one part.
    fn split_by_content(&mut self, docs: &[DocNo]) -> Result<Vec<Vec<DocNo>>> {
        match &mut self.verifier {
            Some(verifier) => verifier.split_by_content(docs),
            None => Ok(vec![docs.to_vec()]),
        }
    }
}

/// Maps each document to the representative of its cluster.
type Assigned = Result<DocMap>;

/// Leader clustering (J. A. Hartigan, *Clustering Algorithms*, 1975, chapter 3). Visits documents
/// in this order. A document without a representative becomes one, and takes all similar
/// documents that have none.
pub(crate) fn by_representative(job: &mut Job<'_, '_>, preference: &Order) -> Assigned {
    // Reading the buckets is half of the reported work; the queries are the other half.
    job.watch.begin("reading buckets", 2 * job.entries())?;
    let mut order = sharing_a_bucket(job)?;
    in_order_of(preference, &mut order, job)?;
    job.watch.begin("comparing documents", 0)?;
    let share = job.entries() / order.len().max(1) as u64;
    let view = job.snapshot.view();
    let plan = job.snapshot.settings().plan;
    let mut assigned = DocMap::new(NO_DOC);
    let (mut lanes, mut found) = (Vec::new(), Vec::new());
    for doc in order {
        job.watch.advance(share)?;
        let is_free = |doc: DocNo| assigned.get(doc) == NO_DOC;
        if !is_free(doc) {
            continue;
        }
        lanes.clear();
        view.with_signature(doc, |own, _| lanes.extend_from_slice(own))?;
        view.candidates_among(
            &buckets(&lanes, plan, job.probe),
            None,
            is_free,
            |other, theirs| {
                if equal_lanes(&lanes, theirs) >= job.least {
                    found.push(other);
                }
            },
        )?;
        if let Some(verifier) = &mut job.verifier {
            verifier.retain_similar(doc, &mut found, job.threshold)?;
        }
        // The document itself is among the found ones.
        found.drain(..).for_each(|other| assigned.set(other, doc.0));
    }
    Ok(assigned)
}

/// The documents that share a bucket with another document, by number.
fn sharing_a_bucket(job: &mut Job<'_, '_>) -> Result<Vec<DocNo>> {
    let view = job.snapshot.view();
    let mut shares_a_bucket = DocMap::new(NO_DOC);
    let mut buckets = Buckets::new(job.snapshot.settings().plan, job.probe);
    while buckets.next(&view)? {
        job.watch.advance(buckets.take_passed())?;
        buckets.docs().iter().for_each(|doc| shares_a_bucket.set(*doc, doc.0));
    }
    Ok(shares_a_bucket.iter().map(|(doc, _)| doc).collect())
}

/// Sorts documents, given in the order of numbers, by how much they are preferred.
fn in_order_of(preference: &Order, docs: &mut [DocNo], job: &mut Job<'_, '_>) -> Result<()> {
    /// The number of documents read between two checks for an interruption.
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
    match preference.keep {
        Keep::First => {}
        Keep::Longest => sort::sort_by_greatest(docs, |doc| Ok(read(doc)?.text_length))?,
        Keep::Id => {
            sort::sort_by_bytes(docs, sort::ROOM, |doc, out| {
                out.extend_from_slice(read(doc)?.id.as_bytes());
                Ok(())
            })?;
        }
    }
    if let Some(preferred) = &preference.preferred {
        // Documents that are not preferred keep the order that they have by now.
        docs.sort_by_key(|doc| preferred.place(*doc));
    }
    Ok(())
}

/// Connected components of the graph of similar pairs. Compares one document for each group of
/// equal signatures, and skips pairs that are already connected.
pub(crate) fn connected(job: &mut Job<'_, '_>, preference: &Order) -> Assigned {
    job.watch.begin("comparing documents", job.entries())?;
    let mut forest = Forest(DocMap::new(NO_DOC));
    let mut groups = Groups::new(job.snapshot, job.probe);
    let mut roots = Vec::new();
    let mut content_parts = ContentParts::default();
    while groups.next_bucket()? {
        job.watch.advance(groups.take_passed())?;
        roots.clear();
        for group in 0..groups.len() {
            let docs = groups.docs(group);
            let Some((first, others)) = docs.split_first() else { continue };
            // Equal signatures all meet in the first band, so they are joined there once.
            if groups.in_first_band() && !others.is_empty() {
                let parts = job.split_by_content(docs)?;
                for part in &parts {
                    part.windows(2).for_each(|two| {
                        forest.join(two[0], two[1]);
                    });
                }
                if parts.len() > 1 {
                    let firsts = parts.iter().filter_map(|part| part.first().copied());
                    content_parts.0.insert(*first, firsts.collect());
                }
            }
            roots.extend(content_parts.firsts(first).iter().map(|doc| forest.root(*doc)));
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
                // A large bucket takes long, so each row of it checks for an interruption.
                job.watch.expect(0)?;
            }
            let (Some(left), Some(right)) = (groups.first(two.0), groups.first(two.1)) else {
                continue;
            };
            let mut compared = None;
            for (x, y) in content_parts.twos(&left, &right) {
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
    if preference.keep != Keep::First || preference.preferred.is_some() {
        rename(&mut assigned, preference, job)?;
    }
    Ok(assigned)
}

/// Groups with equal signatures but different texts. Maps the first document of such a group to the
/// first document of each of its parts with equal texts.
#[derive(Default)]
struct ContentParts(FxHashMap<DocNo, Vec<DocNo>>);

impl ContentParts {
    /// The documents that represent a group, which is given by its first document.
    fn firsts<'f>(&'f self, first: &'f DocNo) -> &'f [DocNo] {
        match self.0.is_empty() {
            true => std::slice::from_ref(first),
            false => self.0.get(first).map_or(std::slice::from_ref(first), Vec::as_slice),
        }
    }

    /// All pairs of documents that represent two groups.
    fn twos<'f>(
        &'f self,
        left: &'f DocNo,
        right: &'f DocNo,
    ) -> impl Iterator<Item = (DocNo, DocNo)> + 'f {
        let rights = self.firsts(right);
        self.firsts(left).iter().flat_map(move |x| rights.iter().map(move |y| (*x, *y)))
    }
}

/// Replaces the first document of each cluster by the one that is preferred.
fn rename(assigned: &mut DocMap, preference: &Order, job: &mut Job<'_, '_>) -> Result<()> {
    let mut docs: Vec<DocNo> = assigned.iter().map(|(doc, _)| doc).collect();
    in_order_of(preference, &mut docs, job)?;
    let mut kept = DocMap::new(NO_DOC);
    for doc in docs {
        let root = DocNo(assigned.get(doc));
        if kept.get(root) == NO_DOC {
            kept.set(root, doc.0);
        }
        assigned.set(doc, kept.get(root));
    }
    Ok(())
}

/// A union-find forest with path halving (R. E. Tarjan, *Efficiency of a Good But Not Linear Set
/// Union Algorithm*, 1975). Maps each joined document to its parent. A parent never has a higher
/// number than its child.
struct Forest(DocMap);

impl Forest {
    fn parent(&self, doc: DocNo) -> DocNo {
        match self.0.get(doc) {
            NO_DOC => doc,
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

    /// Joins two trees; returns false if they were already one.
    fn join(&mut self, a: DocNo, b: DocNo) -> bool {
        let (a, b) = (self.root(a), self.root(b));
        let root = a.min(b);
        if a != b {
            self.0.set(root, root.0);
            self.0.set(a.max(b), root.0);
        }
        a != b
    }

    /// Maps each joined document to its root.
    fn trees(self) -> DocMap {
        let mut trees = self.0.clone();
        for (doc, parent) in self.0.iter() {
            // A parent has a lower number than its child, so it already maps to its root.
            trees.set(doc, trees.get(DocNo(parent)));
        }
        trees
    }
}
