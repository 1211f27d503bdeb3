//! `dedup` from a folder of shards to a folder of shards: each complete or absent, and together
//! what one file after the other gives.

use crate::columns::{arrow_file, arrow_stream, documents, parquet, table};
use crate::command::{Done, Shell, jsonl, number_from, report};
use crate::packing::Packing;
use crate::support::{Random, text};
use std::collections::BTreeMap;
use std::hash::{BuildHasher, RandomState};
use std::io::Write;
use std::path::Path;
use std::thread::sleep;
use std::time::{Duration, Instant};

/// The shards of the input, in the order in which they are read.
const SHARDS: [&str; 11] = [
    "a.jsonl",
    "b.jsonl.gz",
    "data/train-00000-of-00002.parquet",
    "data/train-00001-of-00002.parquet",
    "empty.jsonl",
    "rows.csv",
    "rows.tsv.zst",
    "stream.arrow",
    "table.arrow",
    "table.arrows",
    "z/none.csv",
];

/// A folder `in` of shards with `count` documents, of which two thirds are near duplicates of
/// documents in the same shard or another.
fn corpus(count: u64) -> Shell {
    let shell = Shell::new();
    let mut all = documents(count);
    all.iter_mut().for_each(|(_, text)| *text = Some(text.take().unwrap_or_default()));
    // Each family of three is spread over three shards.
    let mut parts: [Vec<_>; 8] = Default::default();
    all.into_iter().enumerate().for_each(|(at, document)| parts[at % 8].push(document));
    let [a, b, c, d, e, f, g, h] = parts;
    let lines = |part: &[(String, Option<String>)]| {
        let part = part.iter().map(|(id, text)| (&**id, text.as_deref().unwrap_or_default()));
        jsonl(&part.collect::<Vec<_>>())
    };
    shell.write("in/a.jsonl", lines(&a));
    shell.write("in/b.jsonl.gz", Packing::Gzip.pack(lines(&b).as_bytes()));
    shell.write("in/data/train-00000-of-00002.parquet", parquet(&table(&c), 50));
    shell.write("in/data/train-00001-of-00002.parquet", parquet(&table(&c).slice(0, 0), 50));
    shell.write("in/empty.jsonl", "");
    let rows = |part: &[(String, Option<String>)], between: char| {
        let row = |(id, text): &(String, Option<String>)| {
            format!("{id}{between}{}\n", text.as_deref().unwrap_or_default())
        };
        format!("id{between}text\n") + &part.iter().map(row).collect::<String>()
    };
    shell.write("in/rows.csv", rows(&d, ','));
    shell.write("in/rows.tsv.zst", Packing::Zstd.pack(rows(&e, '\t').as_bytes()));
    // So does Hugging Face name streams.
    shell.write("in/stream.arrow", arrow_stream(&table(&h)));
    shell.write("in/table.arrow", arrow_file(&table(&f)));
    shell.write("in/table.arrows", arrow_stream(&table(&g)));
    shell.write("in/z/none.csv", "id,text\n");
    shell
}

/// All files below a folder, by their paths below it.
fn files(shell: &Shell, folder: &str) -> BTreeMap<String, Vec<u8>> {
    fn walk(root: &Path, at: &Path, found: &mut BTreeMap<String, Vec<u8>>) {
        // A folder or file may go while it is looked at.
        let Ok(entries) = std::fs::read_dir(at) else { return };
        for entry in entries.flatten() {
            let path = entry.path();
            if path.is_dir() {
                walk(root, &path, found);
            } else if let Ok(content) = std::fs::read(&path) {
                let name = path.strip_prefix(root).expect("below").display().to_string();
                found.insert(name, content);
            }
        }
    }
    let (root, mut found) = (shell.path(folder), BTreeMap::new());
    walk(&root, &root, &mut found);
    found
}

#[test]
fn shards_hold_what_one_after_the_other_gives() {
    let shell = corpus(600);
    shell.run("dedup i.twx in -o out/ -q --removed gone.jsonl").succeeds();
    let found = files(&shell, "out");
    assert_eq!(found.keys().map(String::as_str).collect::<Vec<_>>(), SHARDS);
    std::fs::create_dir_all(shell.path("one/data")).expect("a folder");
    std::fs::create_dir_all(shell.path("one/z")).expect("a folder");
    for shard in SHARDS {
        // By its name alone, an output that ends in .arrow is no stream.
        let out = if shard == "stream.arrow" { "stream.arrows" } else { shard };
        shell
            .run(&format!("dedup one.twx in/{shard} -o one/{out} -q --removed gone2.jsonl"))
            .succeeds();
    }
    std::fs::rename(shell.path("one/stream.arrows"), shell.path("one/stream.arrow"))
        .expect("renamed");
    assert!(found == files(&shell, "one"));
    assert!(found["rows.csv"].len() < shell.read("in/rows.csv").len(), "nothing was removed");
    assert_eq!(shell.read("in/z/none.csv"), found["z/none.csv"]);
    let is_file = |name: &str| found[name].starts_with(b"ARROW1");
    assert!(is_file("table.arrow") && !is_file("stream.arrow") && !is_file("table.arrows"));
    // A second run keeps the same again.
    shell.run("dedup i.twx in -o out -q --removed gone.jsonl").succeeds();
    assert!(found == files(&shell, "out"));
}

#[test]
fn a_shard_is_complete_or_absent_whenever_the_command_is_killed() {
    let rounds = number_from("TWINDEX_KILL_ROUNDS").unwrap_or(6);
    let seed = number_from("TWINDEX_KILL_SEED")
        .unwrap_or_else(|| RandomState::new().hash_one("shards") >> 32);
    report(&format!("shards, TWINDEX_KILL_SEED={seed}"));
    let mut random = Random(seed);
    let words = "dedup i.twx in -o out/ -q --batch 40 --removed gone.jsonl";
    let unbroken = corpus(1_500);
    let start = Instant::now();
    unbroken.run(words).succeeds();
    let length = start.elapsed().as_nanos() as u64;
    let expected = files(&unbroken, "out");
    let audit = unbroken.read("gone.jsonl");
    let (mut killed, mut part_way) = (0, 0);
    let mut shell = corpus(1_500);
    for round in 0..rounds {
        let what = format!("TWINDEX_KILL_SEED={seed}, round {round}");
        let running = shell.start(words);
        sleep(Duration::from_nanos(random.below(length)));
        killed += u64::from(running.kill_on_the_way());
        let mut found = files(&shell, "out");
        found.retain(|name, _| !name.ends_with(".part"));
        part_way += u64::from(!found.is_empty() && found.len() < SHARDS.len());
        for (name, content) in &found {
            assert!(expected.get(name) == Some(content), "{what}: {name}");
        }
        if random.below(3) == 0 || found.len() == SHARDS.len() {
            shell.run(words).succeeds();
            assert!(files(&shell, "out") == expected, "{what}");
            assert!(shell.read("gone.jsonl") == audit, "{what}");
            shell = corpus(1_500);
        }
    }
    shell.run(words).succeeds();
    assert!(files(&shell, "out") == expected);
    report(&format!(
        "{rounds} rounds, {killed} killed before the end, {part_way} with some shards"
    ));
}

#[test]
fn many_shards_without_records_do_not_take_many_open_files() {
    let shell = Shell::new();
    (0..600).for_each(|number| shell.write(&format!("in/{number}.csv"), "id,text\n"));
    shell.write("in/z.jsonl", jsonl(&[("a", "a text of some words")]));
    let done =
        shell.sh("ulimit -n 100; \"$TWINDEX\" dedup i.twx in -o out/ -q --removed gone.jsonl");
    done.succeeds();
    assert_eq!(files(&shell, "out").len(), 601);
}

#[cfg(unix)]
#[test]
fn an_input_is_not_written_to_through_a_link() {
    let shell = Shell::new();
    let lines =
        jsonl(&[("a", "the same text of some words"), ("b", "the same text of some words")]);
    shell.write("in/sub/a.jsonl", &lines);
    std::fs::create_dir(shell.path("out")).expect("a folder");
    std::os::unix::fs::symlink("../in/sub", shell.path("out/sub")).expect("a link");
    let done = shell.run("dedup i.twx in -o out/");
    assert_eq!(done.status, 2, "{done:?}");
    assert!(done.stderr.contains("out/sub/a.jsonl: is an input"), "{done:?}");
    assert_eq!(shell.read("in/sub/a.jsonl"), lines.as_bytes());
}

#[cfg(unix)]
#[test]
fn an_input_that_goes_during_the_run_has_no_shard() {
    let shell = Shell::new();
    shell.sh("mkfifo first.jsonl").succeeds();
    shell.write("second.jsonl", jsonl(&[("b", "another text of some words")]));
    shell.write("third.jsonl", "");
    let running = shell.start("dedup i.twx first.jsonl second.jsonl third.jsonl -o out/");
    // Opening the pipe waits until the command has opened it, too.
    let pipe = std::fs::OpenOptions::new().write(true).open(shell.path("first.jsonl"));
    std::fs::remove_file(shell.path("second.jsonl")).expect("removed");
    let mut pipe = pipe.expect("a pipe");
    pipe.write_all(jsonl(&[("a", "a text of some words")]).as_bytes()).expect("written");
    drop(pipe);
    let done = running.finish();
    assert_eq!(done.status, 2, "{done:?}");
    assert!(done.stderr.contains("second.jsonl: No such file"), "{done:?}");
    let found: Vec<_> = files(&shell, "out").into_keys().collect();
    assert_eq!(found, ["first.jsonl", "third.jsonl"]);
}

/// What becomes of the shards of a folder that is changed while a pipe before it is read.
#[cfg(unix)]
fn while_it_reads(change: impl FnOnce(&Shell)) -> (Done, Vec<String>) {
    let shell = Shell::new();
    shell.sh("mkfifo first.jsonl").succeeds();
    shell.write("in/b.jsonl", jsonl(&[("b", "another text of some words")]));
    shell.write("in/d.jsonl", jsonl(&[("d", "a text that is quite unlike it")]));
    let running = shell.start("dedup i.twx first.jsonl in -o out/ --removed gone");
    // Opening the pipe waits until the command has opened it, too.
    let pipe = std::fs::OpenOptions::new().write(true).open(shell.path("first.jsonl"));
    change(&shell);
    let written = pipe
        .and_then(|mut pipe| pipe.write_all(jsonl(&[("a", "a text of some words")]).as_bytes()));
    written.expect("written");
    (running.finish(), files(&shell, "out").into_keys().collect())
}

#[cfg(unix)]
#[test]
fn a_file_that_comes_into_a_folder_during_the_run_is_an_error_and_one_that_goes_is_left_out() {
    let (done, left) = while_it_reads(|shell| {
        shell.write("in/c.jsonl", jsonl(&[("c", "a third text, and a longer one")]));
    });
    done.fails_with("in/c.jsonl: was not there when the run began; run the same command again");
    assert_eq!(left, [""; 0]);
    let (done, left) = while_it_reads(|shell| {
        std::fs::remove_file(shell.path("in/b.jsonl")).expect("removed");
    });
    done.succeeds();
    assert_eq!(left, ["d.jsonl", "first.jsonl"]);
}

#[cfg(unix)]
#[test]
fn what_cannot_be_found_in_a_folder_is_reported_and_has_no_shard() {
    let shell = Shell::new();
    shell.write("in/a.jsonl", jsonl(&[("a", "a text of some words")]));
    std::os::unix::fs::symlink("../in", shell.path("in/b")).expect("a link");
    shell.write("in/c.jsonl", jsonl(&[("c", "another text of some words")]));
    let done = shell.run("dedup i.twx in -o out/ --follow --removed gone");
    assert!(done.status == 2 && done.stderr.contains("a symbolic link back to in"), "{done:?}");
    assert_eq!(files(&shell, "out").into_keys().collect::<Vec<_>>(), ["a.jsonl", "c.jsonl"]);
}

#[test]
fn a_stopped_run_does_not_go_on_with_files_that_were_changed() {
    let words = "dedup i.twx in -o out/ -q --batch 10 --removed gone.jsonl";
    let state = ".twindex-dedup.part";
    for changed in [state, "a.jsonl", "data/train-00000-of-00002.parquet"] {
        let stopped = |_: &u32| {
            let shell = corpus(900);
            let mut running = shell.start(words);
            while running.is_running()
                && !shell.path("out/data/train-00000-of-00002.parquet").exists()
            {
                sleep(Duration::from_millis(1));
            }
            running.kill();
            shell.path("out").join(state).exists().then_some(shell)
        };
        // The command may be done before it is killed.
        let shell = (0..50).find_map(|round| stopped(&round)).expect("a run that was killed");
        let path = format!("out/{changed}");
        let mut content = shell.read(&path);
        let message = if changed == "a.jsonl" {
            std::fs::remove_file(shell.path(&path)).expect("removed");
            format!("{path}: is gone")
        } else {
            match changed == state {
                // What was written after the last commit may go, so its last byte says nothing.
                true => content[0] ^= 1,
                // The next run compares only the length of a complete shard.
                false => content.truncate(content.len() - 1),
            }
            shell.write(&path, content);
            format!("{path}: is not as the interrupted run has left it")
        };
        let lasting = || {
            let all = files(&shell, "out").into_iter();
            all.filter(|(name, _)| name == state || !name.ends_with(".part")).collect::<Vec<_>>()
        };
        let found = lasting();
        let done = shell.run(words);
        assert_eq!(done.status, 2, "{changed}: {done:?}");
        assert!(done.stderr.contains(&message), "{changed}: {done:?}");
        let left = lasting();
        let is_kept = |((name, now), (before, was)): (&(_, Vec<u8>), &(_, Vec<u8>))| {
            name == before && if name == state { was.starts_with(now) } else { was == now }
        };
        let names = |files: &[(String, Vec<u8>)]| -> Vec<(String, usize)> {
            files.iter().map(|(name, content)| (name.clone(), content.len())).collect()
        };
        assert!(
            left.len() == found.len() && left.iter().zip(&found).all(is_kept),
            "{changed}: {:?}, then {:?}",
            names(&found),
            names(&left)
        );
        shell.run(&format!("{words} --restart")).succeeds();
        assert_eq!(files(&shell, "out").into_keys().collect::<Vec<_>>(), SHARDS, "{changed}");
    }
}

#[test]
fn a_shard_that_cannot_be_read_stays_absent_and_the_others_are_written() {
    let shell = corpus(60);
    shell.write("in/broken.parquet", "PAR1 and no more");
    let done = shell.run("dedup i.twx in -o out/ --removed gone.jsonl");
    assert_eq!(done.status, 2, "{done:?}");
    assert!(done.stderr.contains("in/broken.parquet: "), "{done:?}");
    assert_eq!(files(&shell, "out").keys().map(String::as_str).collect::<Vec<_>>(), SHARDS);
}

#[test]
fn what_has_no_place_in_a_folder_of_shards_is_refused_before_anything_is_made() {
    let shell = corpus(60);
    shell.write("texts/a.txt", "a text");
    shell.write("other/a.jsonl", "");
    shell.write("parts/a.jsonl.part", "");
    shell.write("odd/rows.jsonl", parquet(&table(&documents(3)), 50));
    shell.write("deep/d/in/a.jsonl", "");
    shell.write("blocked/a.jsonl/x.jsonl", "");
    shell.write("file/data", "");
    let before = shell.names();
    for (words, message) in [
        ("in -o out/ --removed out/a.jsonl.part", "out/a.jsonl.part: is another file of this run"),
        ("in -o texts/ --removed texts/a.jsonl.part", "a.jsonl.part: is another file of this run"),
        (
            "in/a.jsonl parts/a.jsonl.part -o out/ --format jsonl",
            "out/a.jsonl.part: would be written",
        ),
        ("in deep/d/in -o out/", "deep/d/in: has the same name as another folder of this run"),
        ("odd/rows.jsonl --format parquet -o out/", "its name does not say what it holds"),
        ("in/data --format jsonl -o out/", "its name does not say what it holds"),
        ("in -o blocked/", "blocked/a.jsonl: is a folder"),
        ("in -o file/", "file/data: is a file"),
        ("texts -o out/ --dry-run", "texts/a.txt: is one text"),
        ("in -o in/", "in: is an input; name another folder"),
        ("in -o .", ".: holds the input in; name another folder"),
        ("in -o in/out/", "in/out: is in the input in; name another folder"),
        ("- -o out/", "out: is a folder, and standard input has no name there"),
        ("texts -o out/", "texts/a.txt: is one text, but the folder out takes files of records"),
        ("in other -o out/", "out/a.jsonl: would be written for in/a.jsonl and other/a.jsonl"),
        ("in -o no/out/", "no/out: its folder no: No such file"),
        ("in -o texts --removed texts/a.jsonl", "texts/a.jsonl: is another file of this run"),
        (
            "in/a.jsonl -o out.jsonl --removed texts/",
            "texts/: is a folder; name a file for the audit",
        ),
    ] {
        let done = shell.run(&format!("dedup i.twx {words}"));
        assert_eq!(done.status, 2, "{words}: {done:?}");
        assert!(done.stderr.contains(message), "{words}: {done:?}");
        assert_eq!(shell.names(), before, "{words}");
    }
    // Files that are named themselves keep their names, and a dry run writes none.
    shell.run("dedup i.twx in -o out/ --dry-run -q").succeeds();
    assert_eq!(shell.names(), before);
    shell.run("dedup i.twx in/a.jsonl in/rows.csv -o out/ -q --removed gone.jsonl").succeeds();
    assert_eq!(files(&shell, "out").into_keys().collect::<Vec<_>>(), ["a.jsonl", "rows.csv"]);
}

#[test]
fn a_refused_run_leaves_nothing_of_the_shards_that_it_has_written() {
    let shell = Shell::new();
    let lines = |family: u64, ids: std::ops::Range<u64>| -> String {
        ids.map(|n| jsonl(&[(&format!("r{n}"), &text(family + n, 0, 30))])).collect()
    };
    shell.pipe("add i.twx -q -", lines(0, 0..40)).succeeds();
    shell.write("in/a.jsonl", lines(1_000, 100..110));
    shell.write("in/b.arrow", arrow_file(&table(&documents(3))));
    shell.write("in/b.parquet", parquet(&table(&documents(3)), 50));
    shell.write("in/c.jsonl", lines(2_000, 0..40));
    shell.run("dedup i.twx in -q -o out/ --removed gone").fails_with("--replace-most");
    assert!(files(&shell, "out").is_empty(), "{:?}", files(&shell, "out").keys());
    assert!(!shell.path("gone.part").exists());
    shell.run("dedup i.twx in -q -o out/ --removed gone --replace-most").succeeds();
    assert_eq!(
        files(&shell, "out").into_keys().collect::<Vec<_>>(),
        ["a.jsonl", "b.arrow", "b.parquet", "c.jsonl"]
    );
}
