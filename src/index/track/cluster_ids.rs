//! Which documents belong together, and which cluster id each of these groups gets.

use crate::error::Result;
use crate::store::{ClusterRows, DocNo};
use rustc_hash::FxHashMap;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicU32, Ordering};

/// What happened to a tracked cluster.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ClusterEvent {
    /// Documents that were in no cluster form one.
    Formed {
        /// The id of the new cluster.
        cluster: u64,
    },
    /// A cluster has become part of another, which had more documents.
    Joined {
        /// The id of the cluster that is no more.
        cluster: u64,
        /// The id of the cluster that has its documents.
        into: u64,
    },
    /// A part of a cluster has become one of its own, because a document that connected them was
    /// removed.
    Split {
        /// The id of the new cluster.
        cluster: u64,
        /// The id of the cluster whose documents these were.
        from: u64,
    },
    /// The last document of a cluster was removed.
    Ended {
        /// The id of the cluster that is no more.
        cluster: u64,
    },
}

/// What can be joined.
#[derive(Clone, Copy, Debug)]
enum Node {
    /// A document that is not tracked yet.
    New(DocNo),
    /// A document, and the cluster that it was in.
    Document(DocNo, Option<u64>),
    /// All documents of a cluster that has lost none.
    Cluster(u64),
}

/// The documents that are not tracked yet, each with a place from 0 on, in their order.
pub(super) enum NewDocs {
    /// All numbers of a range: the first, and how many they are. Some may have no document.
    Range(DocNo, u32),
    /// Some numbers, which ascend. After many replacements few numbers have a document, and a place
    /// for each number would take far more memory than the documents do.
    Listed(Vec<DocNo>),
}

impl NewDocs {
    fn count(&self) -> u32 {
        match self {
            Self::Range(_, count) => *count,
            Self::Listed(docs) => docs.len() as u32,
        }
    }

    fn place(&self, doc: DocNo) -> Option<u32> {
        match self {
            Self::Range(first, count) => doc.0.checked_sub(first.0).filter(|place| *place < *count),
            Self::Listed(docs) => docs.binary_search(&doc).ok().map(|place| place as u32),
        }
    }

    /// The document at a place, which must be below the count.
    fn at(&self, place: u32) -> DocNo {
        match self {
            Self::Range(first, _) => DocNo(first.0 + place),
            Self::Listed(docs) => docs[place as usize],
        }
    }
}

/// Documents and clusters that are joined to each other: a forest, in which each root stands for
/// one group. The nodes of new documents have the first numbers, in the order of the documents.
///
/// Threads join nodes at the same time, without locks (R. J. Anderson, H. Woll, *Wait-free parallel
/// algorithms for the union-find problem*, 1991). A parent has a smaller number than its children,
/// so there are no cycles, whichever thread is faster.
pub(super) struct Joins {
    new: NewDocs,
    /// The clusters in which new documents were before a repair.
    restored: FxHashMap<DocNo, u64>,
    /// The nodes after those of new documents.
    others: Vec<Node>,
    /// The parent of each node. A root is its own parent.
    parents: Vec<AtomicU32>,
    of_document: FxHashMap<DocNo, u32>,
    of_cluster: FxHashMap<u64, u32>,
}

impl Joins {
    /// Nothing is joined yet.
    pub(super) fn new(new: NewDocs) -> Self {
        Self {
            restored: FxHashMap::default(),
            others: Vec::new(),
            parents: (0..new.count()).map(AtomicU32::new).collect(),
            new,
            of_document: FxHashMap::default(),
            of_cluster: FxHashMap::default(),
        }
    }

    /// Lets a document of a cluster stand for itself, because the cluster has lost another.
    pub(super) fn loosen(&mut self, doc: DocNo, cluster: u64) {
        match self.new.place(doc) {
            Some(_) => drop(self.restored.insert(doc, cluster)),
            None => drop(self.number(Node::Document(doc, Some(cluster)))),
        }
    }

    /// Gives a document that is tracked the node of its cluster, or one of its own.
    pub(super) fn place(&mut self, doc: DocNo, cluster: Option<u64>) {
        match cluster {
            Some(cluster) => {
                let node = self.number(Node::Cluster(cluster));
                self.of_document.insert(doc, node);
            }
            None => drop(self.number(Node::Document(doc, None))),
        }
    }

    /// The node of a document, if it has one.
    pub(super) fn node(&self, doc: DocNo) -> Option<u32> {
        self.new.place(doc).or_else(|| self.of_document.get(&doc).copied())
    }

    /// The number of a node, which is added if it is not known yet.
    fn number(&mut self, node: Node) -> u32 {
        let next = self.parents.len() as u32;
        let number = match node {
            Node::New(doc) | Node::Document(doc, _) => match self.new.place(doc) {
                Some(place) => return place,
                None => self.of_document.entry(doc).or_insert(next),
            },
            Node::Cluster(cluster) => self.of_cluster.entry(cluster).or_insert(next),
        };
        if *number == next {
            self.others.push(node);
            self.parents.push(AtomicU32::new(next));
        }
        *number
    }

    fn at(&self, number: u32) -> Node {
        if let Some(other) = number.checked_sub(self.new.count()) {
            return self.others[other as usize];
        }
        let doc = self.new.at(number);
        match self.restored.get(&doc) {
            Some(cluster) => Node::Document(doc, Some(*cluster)),
            None => Node::New(doc),
        }
    }

    /// The node that stands for the group of a node, until the group is joined to another.
    pub(super) fn root(&self, mut node: u32) -> u32 {
        // Nothing but these numbers passes between threads.
        const ORDER: Ordering = Ordering::Relaxed;
        loop {
            let parent = self.parents[node as usize].load(ORDER);
            if parent == node {
                return node;
            }
            let grandparent = self.parents[parent as usize].load(ORDER);
            // If another thread was faster, the way is as short already.
            let _ = self.parents[node as usize].compare_exchange(parent, grandparent, ORDER, ORDER);
            node = grandparent;
        }
    }

    /// Whether two nodes belong to one group.
    pub(super) fn are_joined(&self, a: u32, b: u32) -> bool {
        a == b || self.root(a) == self.root(b)
    }

    /// Joins the groups of two nodes, and returns the root of both.
    pub(super) fn join(&self, a: u32, b: u32) -> u32 {
        const ORDER: Ordering = Ordering::Relaxed;
        loop {
            let (a, b) = (self.root(a), self.root(b));
            let (first, second) = (a.min(b), a.max(b));
            let joined =
                self.parents[second as usize].compare_exchange(second, first, ORDER, ORDER);
            if a == b || joined.is_ok() {
                return first;
            }
        }
    }

    /// Gives each group its cluster id and writes what has changed. `shrunk` are the clusters that
    /// have lost documents.
    ///
    /// A group keeps the id that most of its documents had, and of equally many the least. If
    /// several groups have documents of one cluster, the one with most of them keeps the id, and
    /// of equally many the one with the oldest document. A document that a split leaves alone is
    /// in no cluster.
    pub(super) fn write(
        mut self,
        rows: &mut ClusterRows<'_>,
        shrunk: &BTreeSet<u64>,
    ) -> Result<Vec<ClusterEvent>> {
        let groups = self.groups(rows)?;
        let ids = choose(&groups);
        let (mut events, mut places) = (Vec::new(), Vec::new());
        let mut heirs: BTreeMap<u64, Heir> = BTreeMap::new();
        for (group, id) in groups.iter().zip(ids) {
            let id = match id {
                None if group.is_alone() => None,
                None => Some(rows.new_cluster()?),
                id => id,
            };
            events.extend(group.event(id));
            for (former, count) in &group.former {
                let heir = heirs.entry(*former).or_default();
                heir.kept |= id == Some(*former);
                heir.most = heir.most.max((*count, id));
            }
            for node in &group.nodes {
                match *node {
                    Node::New(doc) => places.push((doc, id)),
                    Node::Document(doc, former) if former != id => {
                        rows.forget(doc)?;
                        places.push((doc, id));
                    }
                    Node::Cluster(cluster) if Some(cluster) != id => {
                        for doc in rows.members(cluster)? {
                            rows.forget(doc)?;
                            places.push((doc, id));
                        }
                    }
                    _ => {}
                }
            }
        }
        rows.put_all(places)?;
        let gone = |cluster: &&u64| !heirs.contains_key(cluster);
        events.extend(shrunk.iter().filter(gone).map(|id| ClusterEvent::Ended { cluster: *id }));
        events.extend(heirs.into_iter().filter(|(_, heir)| !heir.kept).filter_map(
            |(cluster, heir)| Some(ClusterEvent::Joined { cluster, into: heir.most.1? }),
        ));
        Ok(events)
    }

    /// The groups in which something may have changed, in the order of their oldest documents.
    fn groups(&mut self, rows: &ClusterRows<'_>) -> Result<Vec<Group>> {
        let mut by_root: BTreeMap<u32, Vec<Node>> = BTreeMap::new();
        for number in 0..self.parents.len() as u32 {
            let root = self.root(number);
            let node = self.at(number);
            // A root is the first node of its group. If it is alone, it has changed only if it was
            // in a cluster.
            if root != number {
                by_root.entry(root).or_insert_with(|| vec![self.at(root)]).push(node);
            } else if matches!(node, Node::Document(_, Some(_))) {
                by_root.insert(root, vec![node]);
            }
        }
        let groups = by_root.into_values();
        let mut groups =
            groups.map(|nodes| Group::read(nodes, rows)).collect::<Result<Vec<_>>>()?;
        groups.sort_by_key(|group| group.oldest);
        Ok(groups)
    }
}

/// Nodes that are joined to each other and to no others.
struct Group {
    nodes: Vec<Node>,
    /// How many of the documents were in each cluster.
    former: BTreeMap<u64, u64>,
    /// The oldest document that stands for itself.
    oldest: Option<DocNo>,
}

impl Group {
    /// Finds the former clusters of these nodes. Reads how large they are if there are several.
    fn read(nodes: Vec<Node>, rows: &ClusterRows<'_>) -> Result<Self> {
        let (mut former, mut oldest) = (BTreeMap::new(), None);
        for node in &nodes {
            match *node {
                Node::New(doc) | Node::Document(doc, _) => {
                    oldest = Some(oldest.map_or(doc, |oldest: DocNo| oldest.min(doc)));
                    if let Node::Document(_, Some(cluster)) = *node {
                        *former.entry(cluster).or_default() += 1;
                    }
                }
                Node::Cluster(cluster) => {
                    former.insert(cluster, 1);
                }
            }
        }
        // Only if there is a choice, it matters how many documents the clusters have.
        if former.len() > 1 {
            for node in &nodes {
                if let Node::Cluster(cluster) = *node {
                    former.insert(cluster, rows.members(cluster)?.len() as u64);
                }
            }
        }
        Ok(Self { nodes, former, oldest })
    }

    /// Whether the group is one document.
    fn is_alone(&self) -> bool {
        matches!(self.nodes[..], [Node::Document(..)])
    }

    /// What the group has become, if that is another cluster than any before.
    fn event(&self, id: Option<u64>) -> Option<ClusterEvent> {
        let cluster = id.filter(|id| !self.former.contains_key(id))?;
        let most = self.former.iter().max_by_key(|(former, count)| (**count, Reverse(**former)));
        Some(match most {
            None => ClusterEvent::Formed { cluster },
            Some((from, _)) => ClusterEvent::Split { cluster, from: *from },
        })
    }
}

/// What became of the documents of a former cluster.
#[derive(Default)]
struct Heir {
    /// Whether a group has kept the id.
    kept: bool,
    /// The most documents that a group has of the cluster, and the id of that group.
    most: (u64, Option<u64>),
}

/// The former id that each group keeps, if any.
fn choose(groups: &[Group]) -> Vec<Option<u64>> {
    let mut claims: Vec<(Reverse<u64>, u64, usize)> = Vec::new();
    for (place, group) in groups.iter().enumerate() {
        claims.extend(group.former.iter().map(|(id, count)| (Reverse(*count), *id, place)));
    }
    claims.sort_unstable();
    let mut taken = BTreeSet::new();
    let mut ids = vec![None; groups.len()];
    for (_, id, place) in claims {
        if ids[place].is_none() && taken.insert(id) {
            ids[place] = Some(id);
        }
    }
    ids
}
