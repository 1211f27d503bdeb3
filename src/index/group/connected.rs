//! Single linkage: the connected components of the graph of similar pairs.

use crate::error::Result;
use crate::estimate::equal_lanes_from;
use crate::index::doc_map::{DocMap, NO_DOC};
use crate::index::group::groups::Groups;
use crate::index::group::linkage::{Assigned, Job, in_order_of};
use crate::index::group::order::{Keep, Order};
use crate::store::DocNo;
use rustc_hash::FxHashMap;

/// The number of pairs whose texts are compared together, on all threads. More would compare more
/// pairs that the others already connect.
const TOGETHER: usize = 256;

/// Connected components of the graph of similar pairs. Compares one document for each group of
/// equal signatures, and skips pairs that are already connected.
pub(crate) fn connected(job: &mut Job<'_, '_>, preference: &Order) -> Assigned {
    job.watch.begin("comparing documents", job.entries())?;
    let mut groups = Groups::new(job.snapshot, job.probe);
    let mut components = Components::new();
    while groups.next_bucket()? {
        job.watch.advance(groups.take_passed())?;
        components.begin_bucket(job, &groups)?;
        components.join_bucket(job, &mut groups)?;
    }
    components.forest.join_similar(job, &mut components.waiting)?;
    let mut assigned = components.forest.trees();
    if preference.keep != Keep::First || preference.preferred.is_some() {
        rename(&mut assigned, preference, job)?;
    }
    Ok(assigned)
}

/// The components that are known so far.
struct Components {
    forest: Forest,
    content_parts: ContentParts,
    /// The documents that represent the groups of the bucket.
    representatives: Vec<DocNo>,
    /// The number of trees to which they belong.
    trees: usize,
    /// Pairs that are similar by their estimates, and whose texts wait to be compared.
    waiting: Vec<(DocNo, DocNo)>,
}

impl Components {
    fn new() -> Self {
        Self {
            forest: Forest(DocMap::new(NO_DOC)),
            content_parts: ContentParts::default(),
            representatives: Vec::new(),
            trees: 0,
            waiting: Vec::new(),
        }
    }

    /// Takes up the groups of a bucket. Joins the documents of each group that have equal texts.
    fn begin_bucket(&mut self, job: &mut Job<'_, '_>, groups: &Groups<'_>) -> Result<()> {
        self.representatives.clear();
        for group in 0..groups.len() {
            let docs = groups.docs(group);
            let Some((first, others)) = docs.split_first() else { continue };
            // Equal signatures all meet in the first band, so they are joined there once.
            if groups.in_first_band() && !others.is_empty() {
                self.join_equal(*first, &job.split_by_content(docs)?);
            }
            self.representatives.extend_from_slice(self.content_parts.firsts(first));
        }
        self.trees = self.forest.count(&self.representatives);
        Ok(())
    }

    /// Joins the documents within each part of a group, which begins with this document.
    fn join_equal(&mut self, first: DocNo, parts: &[Vec<DocNo>]) {
        for two in parts.iter().flat_map(|part| part.windows(2)) {
            self.forest.join(two[0], two[1]);
        }
        if parts.len() > 1 {
            let firsts = parts.iter().filter_map(|part| part.first().copied());
            self.content_parts.0.insert(first, firsts.collect());
        }
    }

    /// Compares the groups of the bucket, until all belong to one tree.
    fn join_bucket(&mut self, job: &mut Job<'_, '_>, groups: &mut Groups<'_>) -> Result<()> {
        let mut row = None;
        while self.trees > 1
            && let Some(two) = groups.next_two()?
        {
            if row != Some(two.0) {
                row = Some(two.0);
                // A large bucket takes long, so each row of it checks for an interruption.
                job.watch.expect(0)?;
            }
            self.join_groups(job, groups, two)?;
        }
        Ok(())
    }

    /// Joins the documents that represent two groups, if the groups are similar.
    fn join_groups(
        &mut self,
        job: &mut Job<'_, '_>,
        groups: &Groups<'_>,
        two: (usize, usize),
    ) -> Result<()> {
        let (Some(left), Some(right)) = (groups.first(two.0), groups.first(two.1)) else {
            return Ok(());
        };
        let Self { forest, content_parts, representatives, trees, waiting } = self;
        let mut compared = None;
        for (x, y) in content_parts.twos(&left, &right) {
            if left == right && x >= y || forest.root(x) == forest.root(y) {
                continue;
            }
            let similar = *compared.get_or_insert_with(|| {
                let (x, y) = groups.lanes(two);
                equal_lanes_from(x, y, job.least).is_some()
            });
            if !similar {
                break;
            }
            if job.verifier.is_none() {
                *trees -= usize::from(forest.join(x, y));
                continue;
            }
            waiting.push((x, y));
            // Two groups may have many different texts, most of which one comparison joins.
            if waiting.len() >= TOGETHER {
                forest.join_similar(job, waiting)?;
                *trees = forest.count(representatives);
                job.watch.expect(0)?;
            }
        }
        Ok(())
    }
}

/// Groups with equal signatures but different texts. Maps the first document of such a group to the
/// first document of each of its parts with equal texts.
#[derive(Default)]
struct ContentParts(FxHashMap<DocNo, Vec<DocNo>>);

impl ContentParts {
    /// The documents that represent a group, which is given by its first document.
    fn firsts<'f>(&'f self, first: &'f DocNo) -> &'f [DocNo] {
        if self.0.is_empty() {
            std::slice::from_ref(first)
        } else {
            self.0.get(first).map_or(std::slice::from_ref(first), Vec::as_slice)
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

    /// Joins the trees of the pairs whose texts are similar.
    fn join_similar(
        &mut self,
        job: &mut Job<'_, '_>,
        waiting: &mut Vec<(DocNo, DocNo)>,
    ) -> Result<()> {
        let similar = job.are_similar(waiting)?;
        for ((x, y), similar) in waiting.drain(..).zip(similar) {
            if similar {
                self.join(x, y);
            }
        }
        Ok(())
    }

    /// The number of trees to which documents belong.
    fn count(&mut self, docs: &[DocNo]) -> usize {
        let mut roots: Vec<DocNo> = docs.iter().map(|doc| self.root(*doc)).collect();
        roots.sort_unstable();
        roots.dedup();
        roots.len()
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
