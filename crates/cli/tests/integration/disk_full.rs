//! The disk is full: an error that says so, the last commit when it is opened again, and with space
//! again the same end as if there had always been enough.
//!
//! The disk is a small file system in memory that only the test sees; where none can be mounted,
//! the size of files is limited instead. `TWINDEX_FULL_ROUNDS=100` tries so many amounts of free
//! space with each command.

use crate::cli_dedup_again;
use crate::command::{Done, Running, Shell, lines, number_from, report};
use crate::phases::{self, Phase};
use crate::support::Random;
use std::fs::{self, File};
use std::hash::{BuildHasher, RandomState};
use std::io::Write;
use std::os::unix::fs::FileExt;
use std::path::Path;

/// A folder in which space runs out.
struct Disk {
    shell: Shell,
    /// Ends with the process that mounted it.
    mounted: Option<Running>,
    _below: Shell,
}

const PAGE: usize = 4_096;

/// Takes all space that the command shall not have.
const FILLER: &str = "filler";

impl Disk {
    fn new() -> Self {
        let below = Shell::new();
        // The second is for those who are not root.
        for namespace in ["-m", "-rm"] {
            let script = "mount -t tmpfs -o size=24M none . && echo mounted && exec cat";
            let words = ["unshare", namespace, "sh", "-c", script];
            let Some(mut mounted) = below.start_other(&words) else { continue };
            if mounted.read_a_line_and_close() != "mounted\n" {
                continue;
            }
            let shell = below.as_seen_by(&mounted);
            if shell.run("--version").status == 0 {
                return Self { shell, mounted: Some(mounted), _below: below };
            }
        }
        report("nothing can be mounted here: the size of files is limited instead");
        Self { shell: below.copy(), mounted: None, _below: below }
    }

    /// The folder with these files only.
    fn begin(&self, start: &Shell) {
        for name in self.shell.names() {
            fs::remove_file(self.shell.path(&name)).expect("removed");
        }
        for name in start.names() {
            copy_sparsely(&start.path(&name), &self.shell.path(&name));
        }
    }

    /// Runs a command with so many bytes of free space.
    fn run(&self, words: &str, free: u64) -> Done {
        if self.mounted.is_none() {
            let used = fs::metadata(self.shell.path("i.twx")).map_or(0, |index| index.len());
            let blocks = (used + free) / 512;
            return self.shell.sh(&format!("trap '' XFSZ; ulimit -f {blocks}; $TWINDEX {words}"));
        }
        let mut filler = File::create(self.shell.path(FILLER)).expect("created");
        while filler.write_all(&[1; 1 << 16]).is_ok() {}
        let length = filler.metadata().expect("its size").len();
        filler.set_len(length.saturating_sub(free)).expect("cut");
        let done = self.shell.run(words);
        // A process that another test is just starting may have it open still.
        filler.set_len(0).expect("emptied");
        fs::remove_file(self.shell.path(FILLER)).expect("removed");
        done
    }

    /// What the operating system says when space is out.
    fn cause(&self) -> &'static str {
        if self.mounted.is_some() { "No space left on device" } else { "File too large" }
    }
}

/// Copies a file so that pages of zeros take no space, as when the command itself left them empty.
fn copy_sparsely(from: &Path, to: &Path) {
    let bytes = fs::read(from).expect("read");
    let new = File::create(to).expect("created");
    new.set_len(bytes.len() as u64).expect("its size");
    for (page, at) in bytes.chunks(PAGE).zip((0..).step_by(PAGE)) {
        if page.iter().any(|byte| *byte != 0) {
            new.write_all_at(page, at).expect("written");
        }
    }
}

/// Runs the command with little space, then gives it what it needs; returns whether it failed.
fn fails_cleanly(disk: &Disk, phase: &Phase, free: u64, expected: &[String], what: &str) -> bool {
    let what = format!("{what}, {free} bytes free");
    disk.begin(&phase.start);
    let names = disk.shell.names().len();
    let done = disk.run(&phase.words, free);
    let mut at = 0;
    if done.status != 0 {
        assert_eq!((done.status, done.stderr.lines().count()), (2, 1), "{what}: {done:?}");
        assert!(done.stderr.starts_with("twindex: i.twx: "), "{what}: {done:?}");
        assert!(done.stderr.contains(disk.cause()), "{what}: {done:?}");
        let left = disk.shell.names().len() - usize::from(disk.shell.path("i.twx").exists());
        assert!(left <= names, "{what}: {:?}", disk.shell.names());
        // Also while there is no space at all it can be read.
        if disk.shell.path("i.twx").exists() {
            let list = disk.run("list i.twx", 0);
            assert_eq!(list.status, 0, "{what}: {list:?}");
            assert!(phase.commits.contains(&Some(list.stdout)), "{what}");
            disk.shell.assert_clean();
        }
    }
    phase.move_on(&disk.shell, &mut at, &what);
    phase.ends_as_if_unbroken(&disk.shell, at, expected, &what);
    done.status != 0
}

/// Lets space run out at many moments.
fn fill(phase: &Phase) {
    let disk = Disk::new();
    let seed = number_from("TWINDEX_FULL_SEED")
        .unwrap_or_else(|| RandomState::new().hash_one(phase.name) >> 32);
    let mut random = Random(seed);
    let what = format!("{}, TWINDEX_FULL_SEED={seed}", phase.name);
    report(&what);
    disk.begin(&phase.start);
    disk.shell.run(&phase.words).succeeds();
    let expected = disk.shell.answers();

    // Ever more space until it is enough, then amounts below that.
    let (mut enough, mut rounds, mut failed) = (0, 0, 0);
    for free in (0..).map(|power| 4_096 << (2 * power)) {
        rounds += 1;
        if !fails_cleanly(&disk, phase, free, &expected, &what) {
            enough = free;
            break;
        }
        failed += 1;
    }
    let more = number_from("TWINDEX_FULL_ROUNDS").unwrap_or(3);
    for part in 0..more {
        let free = (part * enough + random.below(enough)) / more;
        failed += u32::from(fails_cleanly(&disk, phase, free, &expected, &what));
        rounds += 1;
    }
    report(&format!("{what}: {rounds} amounts of free space up to {enough}, {failed} too small"));
    // A file that need not grow has all the space it needs where only its size is limited.
    assert!(failed > 0 || disk.mounted.is_none(), "{what}");
}

#[test]
fn a_creation_without_space_leaves_no_index() {
    fill(&phases::creation());
}

#[test]
fn an_add_without_space_keeps_its_last_commit_and_can_be_run_again() {
    fill(&phases::addition(1_500));
}

#[test]
fn an_add_that_creates_the_index_without_space_can_be_run_again() {
    fill(&phases::first_addition(500));
}

#[test]
fn a_removal_without_space_keeps_its_last_commit_and_can_be_run_again() {
    fill(&phases::removal(1_500));
}

#[test]
fn a_compaction_without_space_changes_no_answer_and_can_be_run_again() {
    let phase = phases::compaction(1_500);
    // A packed file has no free pages, so compaction has to make it longer.
    let start = &phase.start;
    start.run("backup i.twx packed.twx -q").succeeds();
    fs::rename(start.path("packed.twx"), start.path("i.twx")).expect("renamed");
    fill(&phase);
}

#[test]
fn a_deduplication_without_space_goes_on_where_it_was() {
    let disk = Disk::new();
    let start = cli_dedup_again::begin(600);
    let unbroken = start.copy();
    unbroken.run(cli_dedup_again::WORDS).succeeds();
    let expected = cli_dedup_again::result(&unbroken);
    let mut failed = 0;
    for free in [0, 20_000, 70_000, 150_000, 300_000, 500_000, 1 << 20, 4 << 20] {
        disk.begin(&start);
        let done = disk.run(cli_dedup_again::WORDS, free);
        if done.status != 0 {
            failed += 1;
            assert_eq!((done.status, done.stderr.lines().count()), (2, 1), "{free}: {done:?}");
            assert!(done.stderr.contains(disk.cause()), "{free}: {done:?}");
            assert!(!disk.shell.path("out").exists(), "{free}");
            disk.shell.run(cli_dedup_again::WORDS).succeeds();
        }
        assert!(cli_dedup_again::result(&disk.shell) == expected, "{free} bytes free");
    }
    assert!(failed > 0 || disk.mounted.is_none());
}

#[test]
fn a_screening_without_space_leaves_no_file() {
    let disk = Disk::new();
    let start = Shell::new();
    start.pipe("add i.twx -q --store-text --passages 40 -", lines(3)).succeeds();
    // The thread that writes tells of the larger one late.
    start.write("small.txt", lines(1_000));
    start.write("large.txt", lines(20_000));
    let mut failed = 0;
    for free in [0, 20_000, 1 << 20, 3 << 19] {
        for out in ["out", "out.gz", "out.d/"] {
            disk.begin(&start);
            let words = "screen i.twx -q --format lines --removed found.jsonl small.txt large.txt";
            let done = disk.run(&format!("{words} -o {out}"), free);
            if out.ends_with('/') {
                let folder = disk.shell.path("out.d");
                let left = fs::read_dir(&folder).map_or(0, Iterator::count);
                assert!(left == if done.status == 0 { 2 } else { 0 }, "{free}: {done:?}");
                let _ = fs::remove_dir_all(folder);
            }
            if done.status != 0 {
                failed += 1;
                assert!(done.stderr.contains(disk.cause()), "{free}: {done:?}");
                let (mut names, mut before) = (disk.shell.names(), start.names());
                names.sort();
                before.sort();
                assert_eq!(names, before, "{out}, {free} bytes free: {done:?}");
            }
        }
    }
    assert!(failed > 0 || disk.mounted.is_none());
}

#[test]
fn a_backup_without_space_leaves_no_copy() {
    fill(&phases::backup(1_500));
}

#[test]
fn a_merge_without_space_keeps_its_last_commit_and_can_be_run_again() {
    fill(&phases::merging(1_500));
}

#[test]
fn an_attachment_without_space_keeps_its_last_commit_and_can_be_run_again() {
    fill(&phases::attaching(1_500));
}

#[test]
fn an_import_without_space_keeps_its_last_commit_and_can_be_run_again() {
    fill(&phases::importing(500));
}

#[test]
fn a_rebuild_and_a_repair_without_space_leave_the_index_and_name_it() {
    let shell = Shell::new();
    shell.pipe("add i.twx -q --store-text -", lines(4_000)).succeeds();
    let mut bytes = shell.read("i.twx");
    // A file that is too long is repaired.
    bytes.extend([0; PAGE]);
    shell.write("i.twx", &bytes);
    for command in ["check i.twx --repair", "rebuild i.twx --threshold 0.7"] {
        let blocks = bytes.len() / 512 / 4;
        let done = shell.sh(&format!("ulimit -f {blocks}; $TWINDEX {command}"));
        done.fails_with("i.twx: ");
        assert!(done.stderr.contains("File too large"), "{done:?}");
        assert!(!done.stderr.contains(".new"), "{done:?}");
        assert_eq!(shell.names(), ["i.twx"]);
        shell.run("check i.twx --repair -q").succeeds();
    }
    assert_eq!(shell.ids().len(), 4_000);
    shell.assert_clean();
}
