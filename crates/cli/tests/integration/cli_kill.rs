//! `kill -9` of the command, again and again, at times spread over the length of an unbroken run:
//! the next start recovers by itself, and what was committed is in.
//!
//! `TWINDEX_KILL_ROUNDS=200` kills each of the commands 200 times, on more documents;
//! `TWINDEX_KILL_SEED` repeats a run's choices.

use crate::command::{Shell, number_from, report};
use crate::phases::{self, Phase};
use crate::support::Random;
use std::hash::{BuildHasher, RandomState};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// The long run has more documents, so that the command flushes its memory on the way.
fn documents() -> usize {
    if number_from("TWINDEX_KILL_ROUNDS").is_some() { 70_000 } else { 1_500 }
}

/// The command, run and killed until it is done.
struct History<'p> {
    phase: &'p Phase,
    shell: Shell,
    /// The commit that was seen last.
    at: usize,
}

fn begin(phase: &Phase) -> History<'_> {
    History { phase, shell: phase.start.copy(), at: 0 }
}

fn kill_again_and_again(phase: &Phase) {
    let rounds = number_from("TWINDEX_KILL_ROUNDS").unwrap_or(5);
    let seed = number_from("TWINDEX_KILL_SEED")
        .unwrap_or_else(|| RandomState::new().hash_one(phase.name) >> 32);
    report(&format!("{}, TWINDEX_KILL_SEED={seed}", phase.name));
    let mut random = Random(seed);
    let (first, unbroken) = (begin(phase), begin(phase));
    let length = first.runs().min(unbroken.runs());
    let what = format!("{}, TWINDEX_KILL_SEED={seed}, a run takes {length:?}", phase.name);
    assert!(phases::listing(&unbroken.shell) == *phase.commits.last().expect("one"), "{what}");
    let expected = unbroken.shell.answers();

    // A delay from each of so many equal parts of the length, in a random order.
    let mut parts: Vec<u64> = (0..rounds).collect();
    (1..parts.len()).for_each(|at| parts.swap(at, random.below(at as u64 + 1) as usize));
    let part_nanos = length.as_nanos() as u64 / rounds;
    let (mut killed, mut part_way, mut histories) = (0, 0, 0);
    let mut history = begin(phase);
    for part in parts {
        let delay = Duration::from_nanos(part * part_nanos + random.below(part_nanos));
        let running = history.shell.start(&phase.words);
        sleep(delay);
        let ended = running.kill();
        let was_running = ended.is_none();
        // What creates a file may find that of the round before.
        let is_well = ended.is_none_or(|status| status.success()) || phase.creates();
        assert!(is_well, "{what}: it failed by itself after {delay:?}: {ended:?}");
        killed += u32::from(was_running);
        let what = format!("{what}, killed after {delay:?}");
        history.recovers(random.below(4), &what);
        part_way += u32::from(0 < history.at && history.at + 1 < phase.commits.len());
        if !was_running || random.below(2) == 0 {
            phase.ends_as_if_unbroken(&history.shell, history.at, &expected, &what);
            history = begin(phase);
            histories += 1;
        }
    }
    phase.ends_as_if_unbroken(&history.shell, history.at, &expected, &what);
    report(&format!(
        "{what}: {rounds} rounds, {killed} killed before the end, {part_way} with some of its \
             commits, {} finished as an unbroken run",
        histories + 1
    ));
}

impl History<'_> {
    /// Runs the command to its end; returns how long that takes.
    fn runs(&self) -> Duration {
        let start = Instant::now();
        self.shell.run(&self.phase.words).succeeds();
        start.elapsed()
    }

    /// Whatever comes first after the kill finds the index at a commit, and none before the last.
    fn recovers(&mut self, first: u64, what: &str) {
        let first = ["list i.twx", "check i.twx", "info i.twx", "remove i.twx no-such-id"]
            .get(first as usize)
            .expect("one of four");
        if self.shell.path("i.twx").exists() {
            let done = self.shell.run(first);
            assert_eq!(done.status, 0, "{what}: {first}: {done:?}");
            self.shell.assert_clean();
        }
        self.phase.move_on(&self.shell, &mut self.at, &format!("{what}: {first}"));
    }
}

#[test]
fn a_killed_creation_leaves_nothing_or_an_empty_index() {
    kill_again_and_again(&phases::creation());
}

#[test]
fn a_killed_add_knows_what_is_in_and_adds_the_rest() {
    kill_again_and_again(&phases::addition(documents()));
}

#[test]
fn a_killed_add_that_creates_the_index_leaves_nothing_or_a_part() {
    kill_again_and_again(&phases::first_addition(documents() / 4));
}

#[test]
fn a_killed_removal_removes_the_rest() {
    kill_again_and_again(&phases::removal(documents()));
}

#[test]
fn a_killed_compaction_changes_no_answer() {
    kill_again_and_again(&phases::compaction(documents()));
}

#[test]
fn a_killed_backup_leaves_no_copy_or_a_whole_one() {
    kill_again_and_again(&phases::backup(documents()));
}

#[test]
fn a_killed_merge_knows_what_is_in_and_merges_the_rest() {
    kill_again_and_again(&phases::merging(documents()));
}

#[test]
fn a_killed_attachment_has_whole_indexes_in_and_attaches_the_rest() {
    kill_again_and_again(&phases::attaching(documents()));
}

#[test]
fn a_killed_import_knows_what_is_in_and_imports_the_rest() {
    kill_again_and_again(&phases::importing(documents() / 4));
}

#[test]
fn a_killed_removal_by_age_removes_the_rest() {
    kill_again_and_again(&phases::expiry(documents() / 4));
}
