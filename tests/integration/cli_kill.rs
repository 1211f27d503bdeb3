//! `kill -9` of the command, again and again, at times spread over the length of an unbroken run:
//! the next start recovers by itself, and what was committed is in.
//!
//! `TWINDEX_KILL_ROUNDS=200` kills each of the four commands 200 times, on more documents;
//! `TWINDEX_KILL_SEED` repeats a run's choices.

use crate::command::{Shell, jsonl};
use crate::support::{Random, text};
use std::hash::{BuildHasher, RandomState};
use std::thread::sleep;
use std::time::{Duration, Instant};

fn number_from(variable: &str) -> Option<u64> {
    std::env::var(variable).ok().and_then(|number| number.parse().ok())
}

/// The long run has more documents, so that the command flushes its memory on the way.
fn documents() -> usize {
    if number_from("TWINDEX_KILL_ROUNDS").is_some() { 70_000 } else { 1_500 }
}

/// A command that is killed, what it works on, and what it may leave behind.
struct Phase {
    name: &'static str,
    words: String,
    /// A folder with the inputs and, mostly, an index.
    start: Shell,
    /// What `list` prints after each commit of an unbroken run; `None` before there is an index.
    commits: Vec<Option<String>>,
    /// A number of the summary that tells what was in already, and its value at each commit.
    already: Option<(&'static str, Vec<u64>)>,
}

/// The command, run and killed until it is done.
struct History<'p> {
    phase: &'p Phase,
    shell: Shell,
    /// The commit that was seen last.
    at: usize,
}

impl Phase {
    fn begin(&self) -> History<'_> {
        History { phase: self, shell: self.start.copy(), at: 0 }
    }

    fn kill_again_and_again(&self) {
        let rounds = number_from("TWINDEX_KILL_ROUNDS").unwrap_or(5);
        let seed = number_from("TWINDEX_KILL_SEED")
            .unwrap_or_else(|| RandomState::new().hash_one(self.name) >> 32);
        let mut random = Random(seed);
        let (first, unbroken) = (self.begin(), self.begin());
        let length = first.runs().min(unbroken.runs());
        let what = format!("{}, TWINDEX_KILL_SEED={seed}, a run takes {length:?}", self.name);
        assert!(unbroken.list() == *self.commits.last().expect("one"), "{what}");
        let expected = unbroken.shell.answers();

        // A delay from each of so many equal parts of the length, in a random order.
        let mut parts: Vec<u64> = (0..rounds).collect();
        (1..parts.len()).for_each(|at| parts.swap(at, random.below(at as u64 + 1) as usize));
        let part_nanos = length.as_nanos() as u64 / rounds;
        let (mut killed, mut part_way, mut histories) = (0, 0, 0);
        let mut history = self.begin();
        for part in parts {
            let delay = Duration::from_nanos(part * part_nanos + random.below(part_nanos));
            let running = history.shell.start(&self.words);
            sleep(delay);
            let was_running = running.kill();
            killed += u32::from(was_running);
            let what = format!("{what}, killed after {delay:?}");
            history.recovers(random.below(4), &what);
            part_way += u32::from(0 < history.at && history.at + 1 < self.commits.len());
            if !was_running || random.below(2) == 0 {
                history.ends_as_if_unbroken(&expected, &what);
                history = self.begin();
                histories += 1;
            }
        }
        history.ends_as_if_unbroken(&expected, &what);
        report(&format!(
            "{what}: {rounds} rounds, {killed} killed before the end, {part_way} with some of its \
             commits, {} finished as an unbroken run",
            histories + 1
        ));
    }
}

#[expect(clippy::print_stderr, reason = "the seed repeats a failing run, the figures are a result")]
fn report(text: &str) {
    eprintln!("{text}");
}

impl History<'_> {
    /// Runs the command to its end; returns how long that takes.
    fn runs(&self) -> Duration {
        let start = Instant::now();
        self.shell.run(&self.phase.words).succeeds();
        start.elapsed()
    }

    fn exists(&self) -> bool {
        self.shell.path("i.twx").exists()
    }

    /// What `list` prints, if there is an index.
    fn list(&self) -> Option<String> {
        self.exists().then(|| self.shell.run("list i.twx").succeeds().stdout)
    }

    /// Whatever comes first after the kill finds the index at a commit, and none before the last.
    fn recovers(&mut self, first: u64, what: &str) {
        let first = ["list i.twx", "check i.twx", "info i.twx", "remove i.twx no-such-id"]
            .get(first as usize)
            .expect("one of four");
        if self.exists() {
            let done = self.shell.run(first);
            assert_eq!(done.status, 0, "{what}: {first}: {done:?}");
            self.shell.assert_clean();
        }
        let list = self.list();
        let later = self.phase.commits.iter().skip(self.at);
        let passed = later.take_while(|commit| **commit != list).count();
        self.at += passed;
        assert!(
            self.at < self.phase.commits.len(),
            "{what}: {first}: at no later commit: {list:?}"
        );
    }

    /// Runs the command to its end: it knows what is in, and the answers are those of a run that
    /// was never killed.
    fn ends_as_if_unbroken(&self, expected: &[String], what: &str) {
        let creation_is_done = self.phase.words.starts_with("create") && self.exists();
        if !creation_is_done {
            let done = self.shell.run(&format!("{} --json", self.phase.words)).succeeds();
            if let Some((field, numbers)) = &self.phase.already {
                assert_eq!(Some(&done.counted(field)), numbers.get(self.at), "{what}: {done:?}");
            }
        }
        self.shell.assert_clean();
        let answers = self.shell.answers();
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

#[test]
fn a_killed_creation_leaves_nothing_or_an_empty_index() {
    let phase = Phase {
        name: "create",
        words: "create i.twx".into(),
        start: Shell::new(),
        commits: vec![None, Some(String::new())],
        already: None,
    };
    phase.kill_again_and_again();
}

#[test]
fn a_killed_add_knows_what_is_in_and_adds_the_rest() {
    let (count, batch) = (documents(), documents() / 30);
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
    let phase = Phase {
        name: "add",
        words: format!("add i.twx --batch {batch} in.jsonl"),
        commits: commits.collect(),
        start,
        already: Some(("unchanged", boundaries.iter().map(|end| *end as u64).collect())),
    };
    phase.kill_again_and_again();
}

#[test]
fn a_killed_add_that_creates_the_index_leaves_nothing_or_a_part() {
    let (count, batch) = (documents() / 4, documents() / 40);
    let start = Shell::new();
    start.write("in.jsonl", families("d", 0..count, 0));
    let boundaries: Vec<usize> = (0..count).step_by(batch).chain([count]).collect();
    let ids = |end: &usize| list((0..*end).map(|n| format!("d:{n}")));
    let phase = Phase {
        name: "add to a new index",
        words: format!("add i.twx --batch {batch} in.jsonl"),
        start,
        commits: [None].into_iter().chain(boundaries.iter().map(ids)).collect(),
        already: Some((
            "unchanged",
            [0].into_iter().chain(boundaries.iter().map(|end| *end as u64)).collect(),
        )),
    };
    phase.kill_again_and_again();
}

#[test]
fn a_killed_removal_removes_the_rest() {
    // Ids in one commit of the command.
    const AT_ONCE: usize = 100_000;
    let count = documents();
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
        let gone: std::collections::HashSet<_> = gone_at(end).collect();
        list(before.iter().filter(|id| !gone.contains(id)).cloned())
    });
    let missing = named.len() - removed.len();
    let phase = Phase {
        name: "remove",
        words: "remove i.twx --ids-from ids".into(),
        commits: commits.collect(),
        start,
        already: Some((
            "missing",
            ends.iter().map(|end| (missing + gone_at(end).count()) as u64).collect(),
        )),
    };
    phase.kill_again_and_again();
}

#[test]
fn a_killed_compaction_changes_no_answer() {
    let count = documents();
    let start = Shell::new();
    for part in 0..5 {
        start.pipe("add i.twx -q -", families("d", (part..count).step_by(5), 0)).succeeds();
    }
    let gone: String = (0..count).step_by(3).map(|n| format!("d:{n}\n")).collect();
    start.pipe("remove i.twx -q --ids-from -", gone).succeeds();
    let phase = Phase {
        name: "compact",
        words: "compact i.twx".into(),
        commits: vec![Some(start.run("list i.twx").succeeds().stdout)],
        start,
        already: None,
    };
    phase.kill_again_and_again();
}
