//! Commands that are stopped on the way, by a kill or a full disk: what they work on, and what they
//! may leave behind.

use crate::command::{Shell, jsonl};
use crate::support::text;
use serde_json::Value;
use std::collections::HashSet;

/// A command that changes an index, and the index at each of its commits.
pub struct Phase {
    pub name: &'static str,
    pub words: String,
    /// A folder with the inputs and, mostly, an index.
    pub start: Shell,
    /// What `list` prints after each commit of an unbroken run; `None` before there is an index.
    pub commits: Vec<Option<String>>,
    /// A number of the summary that tells what was in already, and its value at each commit.
    already: Option<(&'static str, Vec<u64>)>,
}

/// What `list` prints, if there is an index.
pub fn listing(shell: &Shell) -> Option<String> {
    let exists = shell.path("i.twx").exists();
    exists.then(|| shell.run("list i.twx").succeeds().stdout)
}

impl Phase {
    /// Whether the command makes a file, and refuses one that is there.
    pub fn creates(&self) -> bool {
        ["create", "backup"].iter().any(|word| self.words.starts_with(word))
    }

    /// Moves `at` on to the commit at which the index is. It is never an earlier one.
    #[track_caller]
    pub fn move_on(&self, shell: &Shell, at: &mut usize, what: &str) {
        let list = listing(shell);
        *at += self.commits.iter().skip(*at).take_while(|commit| **commit != list).count();
        assert!(*at < self.commits.len(), "{what}: at no later commit: {list:?}");
    }

    /// Runs the command to its end: it knows what is in, and the answers are those of a run that
    /// was never stopped.
    #[track_caller]
    pub fn ends_as_if_unbroken(&self, shell: &Shell, at: usize, expected: &[String], what: &str) {
        if !self.creates() || !shell.path("i.twx").exists() {
            let done = shell.run(&format!("{} --json", self.words)).succeeds();
            if let Some((field, numbers)) = &self.already {
                assert_eq!(Some(&done.counted(field)), numbers.get(at), "{what}: {done:?}");
            }
        }
        shell.assert_clean();
        let answers = shell.answers();
        for (answer, expected) in answers.iter().zip(expected) {
            assert!(answer == expected, "{what}: {answer}\nis not\n{expected}");
        }
        assert_eq!(answers.len(), expected.len());
    }
}

fn list(ids: impl Iterator<Item = String>) -> Option<String> {
    Some(ids.map(|id| id + "\n").collect())
}

/// Documents `prefix:FROM` to `prefix:TO` in families of three that are similar, as JSON Lines.
fn families(prefix: &str, numbers: impl Iterator<Item = usize>, change: u64) -> String {
    let lines = numbers.map(|n| {
        let text = text(n as u64 / 3 + change, n as u64 % 3, 20);
        jsonl(&[(&format!("{prefix}:{n}"), &text)])
    });
    lines.collect()
}

pub fn creation() -> Phase {
    Phase {
        name: "create",
        words: "create i.twx".into(),
        start: Shell::new(),
        commits: vec![None, Some(String::new())],
        already: None,
    }
}

/// Adds this many documents to a small index, in 30 commits.
pub fn addition(count: usize) -> Phase {
    let batch = count / 30;
    let start = Shell::new();
    // Seven runs, so that this one's is merged with them; every tenth document is replaced.
    for part in 0..7 {
        let old = families("d", (part..count / 10).step_by(7).map(|n| 10 * n), 1_000_000);
        start.pipe("add i.twx -q -", old).succeeds();
    }
    let old: Vec<String> = start.ids();
    start.write("in.jsonl", families("d", 0..count, 0));
    let boundaries: Vec<usize> = (0..count).step_by(batch).chain([count]).collect();
    let number = |id: &str| id.trim_start_matches("d:").parse::<usize>().expect("a number");
    let commits = boundaries.iter().map(|end| {
        let kept = old.iter().filter(|id| number(id) >= *end).cloned();
        list(kept.chain((0..*end).map(|n| format!("d:{n}"))))
    });
    Phase {
        name: "add",
        words: format!("add i.twx --batch {batch} --replace-most in.jsonl"),
        commits: commits.collect(),
        start,
        already: Some(("unchanged", boundaries.iter().map(|end| *end as u64).collect())),
    }
}

/// Adds this many documents to an index that it creates, in 10 commits.
pub fn first_addition(count: usize) -> Phase {
    let batch = count / 10;
    let start = Shell::new();
    start.write("in.jsonl", families("d", 0..count, 0));
    let boundaries: Vec<usize> = (0..count).step_by(batch).chain([count]).collect();
    let ids = |end: &usize| list((0..*end).map(|n| format!("d:{n}")));
    Phase {
        name: "add to a new index",
        words: format!("add i.twx --batch {batch} in.jsonl"),
        start,
        commits: [None].into_iter().chain(boundaries.iter().map(ids)).collect(),
        already: Some((
            "unchanged",
            [0].into_iter().chain(boundaries.iter().map(|end| *end as u64)).collect(),
        )),
    }
}

/// Removes most of this many documents, in three commits.
pub fn removal(count: usize) -> Phase {
    // Ids in one commit of the command.
    const AT_ONCE: usize = 100_000;
    let start = Shell::new();
    for part in 0..3 {
        start.pipe("add i.twx -q -", families("d", (part..count).step_by(3), 0)).succeeds();
    }
    let before = start.ids();
    // Four of five documents, between ids that are in no index, so that there are three commits.
    let removed: Vec<String> = (0..count).filter(|n| n % 5 > 0).map(|n| format!("d:{n}")).collect();
    let unknown = 260_000 / removed.len();
    let named: Vec<String> = removed
        .iter()
        .flat_map(|id| {
            [id.clone()].into_iter().chain((0..unknown).map(move |n| format!("{id}.{n}")))
        })
        .collect();
    start.write("ids", named.join("\n"));
    let ends: Vec<usize> = (0..named.len()).step_by(AT_ONCE).chain([named.len()]).collect();
    let gone_at = |end: &usize| named[..*end].iter().filter(|id| !id.contains('.'));
    let commits = ends.iter().map(|end| {
        let gone: HashSet<_> = gone_at(end).collect();
        list(before.iter().filter(|id| !gone.contains(id)).cloned())
    });
    let missing = named.len() - removed.len();
    Phase {
        name: "remove",
        words: "remove i.twx --ids-from ids".into(),
        commits: commits.collect(),
        start,
        already: Some((
            "missing",
            ends.iter().map(|end| (missing + gone_at(end).count()) as u64).collect(),
        )),
    }
}

/// Compacts an index that had this many documents.
pub fn compaction(count: usize) -> Phase {
    let start = Shell::new();
    for part in 0..5 {
        start.pipe("add i.twx -q -", families("d", (part..count).step_by(5), 0)).succeeds();
    }
    let gone: String = (0..count).step_by(3).map(|n| format!("d:{n}\n")).collect();
    start.pipe("remove i.twx -q --ids-from -", gone).succeeds();
    Phase {
        name: "compact",
        words: "compact i.twx".into(),
        commits: vec![Some(start.run("list i.twx").succeeds().stdout)],
        start,
        already: None,
    }
}

/// Copies an index of this many documents, of which a third was removed.
pub fn backup(count: usize) -> Phase {
    let compaction = compaction(count);
    let start = compaction.start;
    std::fs::rename(start.path("i.twx"), start.path("source.twx")).expect("renamed");
    Phase {
        name: "backup",
        words: "backup source.twx i.twx".into(),
        start,
        commits: [None].into_iter().chain(compaction.commits).collect(),
        already: None,
    }
}

/// Merges two indexes of this many documents together into one that has a tenth of them with other
/// texts.
pub fn merging(count: usize) -> Phase {
    let addition = addition(count);
    let start = addition.start;
    for (name, numbers) in [("a.twx", 0..count / 2), ("b.twx", count / 2..count)] {
        start.pipe(&format!("add {name} -q -"), families("d", numbers, 0)).succeeds();
    }
    Phase {
        name: "merge",
        words: format!("merge i.twx a.twx b.twx --replace-most --batch {}", count / 30),
        start,
        ..addition
    }
}

/// Attaches the two indexes of [`merging`] instead, each in a commit of its own.
pub fn attaching(count: usize) -> Phase {
    let start = merging(count).start;
    let merged = start.copy();
    let mut commits = vec![listing(&merged)];
    for source in ["a.twx", "b.twx"] {
        merged.run(&format!("merge i.twx -q {source} --replace-most")).succeeds();
        commits.push(listing(&merged));
    }
    let unchanged = [0, count / 2, count].map(|documents| documents as u64).to_vec();
    Phase {
        name: "merge --attach",
        words: "merge i.twx a.twx b.twx --replace-most --attach".into(),
        start,
        commits,
        already: Some(("unchanged", unchanged)),
    }
}

/// Imports this many documents into an index that it creates, in 10 commits.
pub fn importing(count: usize) -> Phase {
    let addition = first_addition(count);
    let start = addition.start;
    start.run("add source.twx -q in.jsonl").succeeds();
    start.run("export source.twx -q -o out.jsonl").succeeds();
    let words = format!("import i.twx out.jsonl --batch {}", count / 10);
    Phase { name: "import", words, start, ..addition }
}

/// Removes four of five documents for their age.
pub fn expiry(count: usize) -> Phase {
    let start = Shell::new();
    start.pipe("add source.twx -q -", families("d", 0..count, 0)).succeeds();
    let export = start.run("export source.twx -q").succeeds().stdout;
    let aged = export.lines().enumerate().map(|(number, line)| {
        let mut line: Value = serde_json::from_str(line).expect("JSON");
        if number % 5 > 0 {
            line["inserted"] = 1_000_000.into();
        }
        line.to_string() + "\n"
    });
    start.pipe("import i.twx -q", aged.collect::<String>()).succeeds();
    let left = (0..count).filter(|n| (n + 1).is_multiple_of(5)).map(|n| format!("d:{n}"));
    Phase {
        name: "remove --older-than",
        words: "remove i.twx --older-than 365d".into(),
        commits: vec![list((0..count).map(|n| format!("d:{n}"))), list(left)],
        start,
        already: None,
    }
}

/// Repairs an index in which a page of band entries is damaged, so that nothing is lost.
pub fn repair(count: usize) -> Phase {
    let start = Shell::new();
    start.pipe("add i.twx -q -", families("d", 0..count, 0)).succeeds();
    // Compaction writes so few documents to a run only if one was removed.
    start.pipe("add i.twx -q -", families("more", 0..1, 0)).succeeds();
    start.run("remove i.twx -q more:0").succeeds();
    start.run("compact i.twx -q").succeeds();
    let list = start.run("list i.twx").succeeds().stdout;
    let whole = start.read("i.twx");
    let damaged = (1..whole.len() / 4096).find(|page| {
        let mut bytes = whole.clone();
        bytes[page * 4096 + 100] ^= 16;
        start.write("i.twx", bytes);
        let check = start.run("check i.twx");
        check.status == 2 && check.stderr.contains("damaged: postings page")
    });
    assert!(damaged.is_some(), "a page of band entries");
    Phase {
        name: "check --repair",
        words: "check i.twx --repair".into(),
        commits: vec![Some(list)],
        start,
        already: None,
    }
}
