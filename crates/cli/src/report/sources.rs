//! Where removed records come from, and where the documents are that are kept for them.

use super::id_hash;
use super::removed::Removed;
use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap, VecDeque};

/// The most sources that are told apart in a report. The others are taken together.
pub(super) const MOST_SHOWN: usize = 12;

/// The most that are told apart while the input is read.
const MOST_KNOWN: usize = 1 << 16;

/// What a source beyond that is called.
const OTHERS: &str = "(others)";

/// The name of what is in the index and not in the input.
pub(super) const ELSEWHERE: &str = "(not in this input)";

/// Counts records by their source, and remembers the sources of those that matter.
#[derive(Default)]
pub(super) struct SourceMap {
    /// Whether sources are files and folders.
    are_paths: bool,
    names: Vec<String>,
    numbers: HashMap<String, u32>,
    records: Vec<u64>,
    of_ids: HashMap<u64, u32>,
    /// The sources of an id after its first one, in order.
    repeated: HashMap<u64, VecDeque<u32>>,
}

impl SourceMap {
    /// Begins with no records. `are_paths` says that sources are files and folders.
    pub(super) fn new(are_paths: bool) -> Self {
        Self { are_paths, ..Self::default() }
    }

    /// The number of a source.
    fn number(&mut self, name: &str) -> u32 {
        if let Some(number) = self.numbers.get(name) {
            return *number;
        }
        let name = if self.names.len() < MOST_KNOWN { name } else { OTHERS };
        if let Some(number) = self.numbers.get(name) {
            return *number;
        }
        let number = self.names.len() as u32;
        self.names.push(name.to_owned());
        self.numbers.insert(name.to_owned(), number);
        self.records.push(0);
        number
    }

    /// Counts a record of a source. `remember` says that its source will be asked for.
    pub(super) fn add(&mut self, name: &str, id: u64, remember: bool) {
        let number = self.number(name);
        self.records[number as usize] += 1;
        if remember && self.of_ids.contains_key(&id) {
            self.repeated.entry(id).or_default().push_back(number);
        } else if remember {
            self.of_ids.insert(id, number);
        }
    }

    /// Begins to count removed records.
    pub(super) fn counting(self) -> SourceCounts {
        SourceCounts { map: self, removed: HashMap::new() }
    }
}

/// Counts removed records by their source and that of the kept document.
pub(super) struct SourceCounts {
    map: SourceMap,
    removed: HashMap<(u32, u32), u64>,
}

impl SourceCounts {
    /// Counts a record. Records come in the order of the input: if an id occurs more than once, the
    /// first record is the one that was kept, and the later ones were removed.
    pub(super) fn add(&mut self, removed: &Removed) {
        let (id, kept) = (id_hash(&removed.id), removed.kept_hash());
        let again = self.map.repeated.get_mut(&id).and_then(VecDeque::pop_front);
        let from = again.unwrap_or_else(|| self.source(id));
        let to = self.source(kept);
        *self.removed.entry((from, to)).or_default() += 1;
    }

    /// The source of the first record with an id.
    fn source(&mut self, id: u64) -> u32 {
        let known = self.map.of_ids.get(&id).copied();
        known.unwrap_or_else(|| self.map.number(ELSEWHERE))
    }

    /// The sources that a report shows: folders in place of files if there are many, and those with
    /// the most removed records first.
    pub(super) fn table(self) -> SourceTable {
        let Self { map, removed } = self;
        let names = if map.are_paths { shortened(&map.names) } else { map.names.clone() };
        let mut by_name: BTreeMap<&str, Source> = BTreeMap::new();
        for (number, records) in map.records.iter().enumerate() {
            by_name.entry(&names[number]).or_default().records += records;
        }
        for ((from, to), count) in &removed {
            by_name.entry(&names[*from as usize]).or_default().removed += count;
            by_name.entry(&names[*to as usize]).or_default().kept_for += count;
        }
        let mut order: Vec<&str> = by_name.keys().copied().collect();
        order.retain(|name| {
            let source = &by_name[name];
            source.records + source.removed + source.kept_for > 0
        });
        order.sort_by_key(|name| (Reverse(by_name[name].removed + by_name[name].kept_for), *name));
        let left_out = order.len().saturating_sub(MOST_SHOWN);
        let rest = order.split_off(order.len().min(MOST_SHOWN));
        let mut sources: Vec<Source> = Vec::new();
        let mut places: HashMap<&str, usize> = HashMap::new();
        for (place, name) in order.iter().enumerate() {
            places.insert(name, place);
            sources.push(Source { name: (*name).to_owned(), ..by_name[name].clone() });
        }
        if !rest.is_empty() {
            let mut others = Source { name: format!("({left_out} others)"), ..Source::default() };
            for name in rest {
                places.insert(name, sources.len());
                others.records += by_name[name].records;
                others.removed += by_name[name].removed;
                others.kept_for += by_name[name].kept_for;
            }
            sources.push(others);
        }
        let mut matrix = vec![vec![0; sources.len()]; sources.len()];
        for ((from, to), count) in removed {
            let place = |number: u32| places[names[number as usize].as_str()];
            matrix[place(from)][place(to)] += count;
        }
        SourceTable { sources, matrix }
    }
}

/// Names of sources, cut to the folders in which they are if there are many: to as many parts of
/// the path as leave few enough.
fn shortened(names: &[String]) -> Vec<String> {
    let cut = |name: &String, parts: usize| -> String {
        let mut ends = name.match_indices('/').map(|(at, _)| at + 1).filter(|at| *at > 1);
        match ends.nth(parts.saturating_sub(1)) {
            Some(end) if end < name.len() => name[..end].to_owned(),
            _ => name.clone(),
        }
    };
    let at = |parts: usize| -> Vec<String> { names.iter().map(|name| cut(name, parts)).collect() };
    let distinct = |names: &[String]| {
        let mut names: Vec<&String> = names.iter().filter(|name| *name != ELSEWHERE).collect();
        names.sort_unstable();
        names.dedup();
        names.len()
    };
    if distinct(names) <= MOST_SHOWN {
        return names.to_vec();
    }
    let deepest = names.iter().map(|name| name.matches('/').count()).max().unwrap_or(0);
    // More parts tell more sources apart. What does not fit is taken together later.
    let tells = |names: &Vec<String>| distinct(names) > 1;
    let fits = |names: &Vec<String>| tells(names) && distinct(names) <= MOST_SHOWN;
    let folders = (1..=deepest).rev().map(at).find(fits);
    folders.or_else(|| (1..=deepest).map(at).find(tells)).unwrap_or_else(|| names.to_vec())
}

/// A source of records.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Source {
    /// A file, a folder, or the value of a field.
    pub(super) name: String,
    /// All its records.
    pub(super) records: u64,
    /// Those that were removed.
    pub(super) removed: u64,
    /// Records of any source that were removed for a document of this one.
    pub(super) kept_for: u64,
}

/// The sources, and from which to which duplicates lead.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct SourceTable {
    pub(super) sources: Vec<Source>,
    /// For each source, the number of its records that were removed for documents of each source.
    pub(super) matrix: Vec<Vec<u64>>,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn removed(id: &str, of: &str) -> Removed {
        Removed { id: id.into(), of: of.into(), against: None, similarity: 1.0, text: None }
    }

    #[test]
    fn removed_records_are_counted_by_both_sources() {
        let mut map = SourceMap::default();
        for (name, id) in [("a", "1"), ("a", "2"), ("b", "3")] {
            map.add(name, id_hash(id), true);
        }
        let mut counts = map.counting();
        for (id, of) in [("2", "1"), ("3", "1"), ("3", "old")] {
            counts.add(&removed(id, of));
        }
        let table = counts.table();
        let names: Vec<&str> = table.sources.iter().map(|source| source.name.as_str()).collect();
        assert_eq!(names, ["a", "b", ELSEWHERE]);
        assert_eq!(table.matrix, [[1, 0, 0], [1, 0, 1], [0, 0, 0]]);
        assert_eq!((table.sources[0].records, table.sources[0].kept_for), (2, 2));
    }

    #[test]
    fn a_copy_comes_from_where_it_was_read() {
        let mut map = SourceMap::new(true);
        for (name, id) in [("a", "1"), ("b", "1"), ("c", "1")] {
            map.add(name, id_hash(id), true);
        }
        let mut counts = map.counting();
        counts.add(&removed("1", "1"));
        counts.add(&removed("1", "1"));
        assert_eq!(counts.table().matrix, [[0, 0, 0], [1, 0, 0], [1, 0, 0]]);
    }

    #[test]
    fn many_files_are_told_apart_by_their_folders() {
        let names: Vec<String> =
            (0..60).map(|n| format!("/corpus/{}/{n}.jsonl", ["en", "de", "fr"][n % 3])).collect();
        let short = shortened(&names);
        assert_eq!(&short[..3], ["/corpus/en/", "/corpus/de/", "/corpus/fr/"]);
        let few: Vec<String> = names[..3].to_vec();
        assert_eq!(shortened(&few), few);
        let shards: Vec<String> = (0..40).map(|n| format!("shards/{n}.jsonl")).collect();
        assert_eq!(shortened(&shards), shards, "one folder tells nothing");
        let with_elsewhere = [shards, vec![ELSEWHERE.to_owned()]].concat();
        assert_eq!(shortened(&with_elsewhere), with_elsewhere, "nor does it beside others");
    }

    #[test]
    fn what_does_not_fit_is_taken_together() {
        let mut map = SourceMap::default();
        for n in 0..40 {
            map.add(&format!("s{n:02}"), n, true);
        }
        let table = map.counting().table();
        assert_eq!(table.sources.len(), MOST_SHOWN + 1);
        assert_eq!(table.sources.iter().map(|source| source.records).sum::<u64>(), 40);
        assert!(table.sources[MOST_SHOWN].name.contains("28 others"));
    }
}
