//! `--keep`: which of similar records is kept, in `dedup` and in `clusters`, beside brute force.

use crate::command::{Shell, number_from};
use crate::support::Random;
use serde_json::{Value, json};
use std::cmp::Ordering;
use std::collections::{BTreeSet, HashSet};
use std::thread::sleep;
use std::time::Instant;

/// A record of the input, as its fields say.
#[derive(Clone)]
struct Known {
    id: String,
    text: String,
    score: Option<f64>,
    date: String,
    site: &'static str,
}

impl Known {
    fn line(&self) -> String {
        let Self { id, text, score, date, site } = self;
        let mut record = json!({"id": id, "text": text, "date": date, "site": site});
        if let Some(score) = score {
            record["score"] = json!(score);
        }
        record.to_string() + "\n"
    }

    /// The shingles of nine characters: the text is lower-case and has single spaces.
    fn shingles(&self) -> HashSet<&[u8]> {
        self.text.as_bytes().windows(9).collect()
    }
}

/// Records whose texts move on by three words of 63 from one to the next in their group, so that
/// each is similar to its neighbours only. The input has them in a random order.
fn records(groups: usize, members: usize) -> Vec<Known> {
    let mut random = Random(11);
    let mut records = Vec::new();
    for group in 0..groups {
        let words: Vec<String> =
            (0..60 + 3 * members).map(|_| format!("{:06x}", random.below(1 << 24))).collect();
        for member in 0..members {
            let more = random.below(3) as usize;
            records.push(Known {
                id: format!("{group}-{member}"),
                text: words[3 * member..3 * member + 58 + more].join(" "),
                score: (random.below(10) > 0).then(|| random.below(40) as f64 / 4.0),
                date: format!("20{:02}-0{}-11", 10 + random.below(9), 1 + random.below(9)),
                site: ["wiki", "books", "crawl"][random.below(3) as usize],
            });
        }
    }
    (1..records.len()).for_each(|at| records.swap(at, random.below(at as u64 + 1) as usize));
    records
}

/// The kept records by definition: the preferred come first, and a record is kept if no kept one is
/// similar to it. In the order of the input.
fn kept(records: &[Known], by: impl Fn(&Known, &Known) -> Ordering) -> Vec<String> {
    let sets: Vec<_> = records.iter().map(Known::shingles).collect();
    let similar = |a: usize, b: usize| {
        let shared = sets[a].intersection(&sets[b]).count() as f64;
        shared / (sets[a].len() as f64 + sets[b].len() as f64 - shared) >= 0.86
    };
    let mut order: Vec<usize> = (0..records.len()).collect();
    order.sort_by(|a, b| by(&records[*a], &records[*b]));
    let mut kept: BTreeSet<usize> = BTreeSet::new();
    for at in order {
        if !kept.iter().any(|other| similar(*other, at)) {
            kept.insert(at);
        }
    }
    kept.into_iter().map(|at| records[at].id.clone()).collect()
}

type Rule = (&'static str, fn(&Known, &Known) -> Ordering);

/// Absent numbers come last.
fn greatest(a: &Known, b: &Known) -> Ordering {
    let score = |known: &Known| known.score.unwrap_or(-1.0);
    score(b).total_cmp(&score(a))
}

fn site(known: &Known) -> usize {
    ["books", "wiki", "crawl"].iter().position(|site| *site == known.site).expect("a site")
}

const RULES: [Rule; 6] = [
    ("--keep first", |_, _| Ordering::Equal),
    ("--keep max:score", greatest),
    ("--keep min:date", |a, b| a.date.cmp(&b.date)),
    ("--keep longest", |a, b| b.text.len().cmp(&a.text.len())),
    ("--keep id", |a, b| a.id.cmp(&b.id)),
    ("--keep prefer:books,wiki --group-field site", |a, b| site(a).cmp(&site(b))),
];

fn shell(records: &[Known]) -> Shell {
    let shell = Shell::new();
    shell.write("in.jsonl", records.iter().map(Known::line).collect::<String>());
    shell
}

fn lines(shell: &Shell, name: &str) -> Vec<String> {
    let content = String::from_utf8(shell.read(name)).expect("UTF-8");
    content.lines().map(str::to_owned).collect()
}

fn names(folder: &std::path::Path) -> Vec<String> {
    let name = |entry: std::io::Result<std::fs::DirEntry>| {
        entry.expect("an entry").file_name().into_string().expect("UTF-8")
    };
    let mut names: Vec<String> = std::fs::read_dir(folder).expect("a folder").map(name).collect();
    names.sort_unstable();
    names
}

fn ids(lines: &[u8]) -> Vec<String> {
    let id = |line: &str| {
        let record: Value = serde_json::from_str(line).expect("JSON");
        record["id"].as_str().expect("an id").to_owned()
    };
    std::str::from_utf8(lines).expect("UTF-8").lines().map(id).collect()
}

#[test]
fn the_preferred_records_are_those_of_brute_force() {
    let records = records(30, 9);
    let shell = shell(&records);
    let options = "--threshold 0.86 --store-text -q";
    let mut results = BTreeSet::new();
    for (number, (rule, by)) in RULES.into_iter().enumerate() {
        let expected = kept(&records, by);
        let out = format!("{number}.jsonl");
        let command = format!(
            "dedup {number}.twx in.jsonl -o {out} --removed {number}.audit {options} {rule}"
        );
        shell.run(&command).succeeds();
        assert_eq!(ids(&shell.read(&out)), expected, "{rule}");
        let whole: Vec<String> = lines(&shell, "in.jsonl");
        assert!(lines(&shell, &out).iter().all(|line| whole.contains(line)), "{rule}");
        assert_eq!(ids(&shell.read(&format!("{number}.audit"))).len(), 270 - expected.len());
        let left = shell.names().into_iter().filter(|name| name.contains("chosen"));
        assert_eq!(left.count(), 0, "{rule}");
        // The same again changes nothing.
        let before = shell.read(&out);
        shell.run(&command).succeeds();
        assert_eq!(shell.read(&out), before, "{rule}");
        results.insert(expected);
    }
    assert_eq!(results.len(), RULES.len(), "the rules tell records apart");
}

#[test]
fn the_representatives_are_those_of_brute_force() {
    let records = records(20, 7);
    let shell = shell(&records);
    shell.run("add i.twx in.jsonl --threshold 0.86 --store-text -q").succeeds();
    for (rule, by) in RULES {
        let reads = if rule.contains(':') { " --records in.jsonl" } else { "" };
        let printed = shell.run(&format!("clusters i.twx --duplicates -q {rule}{reads}"));
        let removed: BTreeSet<String> =
            printed.succeeds().stdout.lines().map(str::to_owned).collect();
        let left = records.iter().map(|known| known.id.clone()).filter(|id| !removed.contains(id));
        assert_eq!(left.collect::<Vec<_>>(), kept(&records, by), "{rule}");
    }
}

#[test]
fn what_earlier_runs_have_kept_stays() {
    let records = records(10, 5);
    let shell = shell(&records);
    let worst: Vec<Known> =
        records.iter().filter(|known| known.id.ends_with("-2")).cloned().collect();
    shell.write("first.jsonl", worst.iter().map(Known::line).collect::<String>());
    let options = "--threshold 0.86 --store-text -q --removed /dev/null --keep max:score";
    shell.run(&format!("dedup i.twx first.jsonl -o first.out {options}")).succeeds();
    shell.run(&format!("dedup i.twx in.jsonl -o second.out {options}")).succeeds();
    let second = ids(&shell.read("second.out"));
    assert!(worst.iter().all(|known| second.contains(&known.id)), "{second:?}");
    let before = |a: &Known, b: &Known| {
        let is_new = |known: &Known| !known.id.ends_with("-2");
        is_new(a).cmp(&is_new(b)).then(greatest(a, b))
    };
    assert_eq!(second, kept(&records, before));
    let third = format!("dedup i.twx in.jsonl -o third.out --skip-known {options}");
    shell.run(&third).succeeds();
    assert!(shell.read("third.out").is_empty());
}

#[test]
fn folders_and_tables_keep_their_order() {
    let records = records(12, 6);
    let shell = shell(&records);
    for (number, part) in records.chunks(25).enumerate() {
        let lines: String = part.iter().map(Known::line).collect();
        shell.write(&format!("parts/{number}.jsonl"), lines);
    }
    let expected = kept(&records, greatest);
    let options = "--threshold 0.86 --store-text -q --removed /dev/null --keep max:score";
    shell.run(&format!("dedup parts.twx parts -o out/ {options}")).succeeds();
    let shards = (0..3).map(|number| ids(&shell.read(&format!("out/{number}.jsonl"))));
    assert_eq!(shards.collect::<Vec<_>>().concat(), expected);
    assert_eq!(names(&shell.path("out")), ["0.jsonl", "1.jsonl", "2.jsonl"]);

    let mut table = String::from("id,score,text\n");
    for Known { id, text, score, .. } in &records {
        let score = score.map_or(String::new(), |score| score.to_string());
        table += &format!("{id},\"{score}\",{text}\n");
    }
    shell.write("in.csv", table);
    shell.run(&format!("dedup table.twx in.csv -o out.csv {options}")).succeeds();
    let rows: Vec<String> = lines(&shell, "out.csv");
    assert_eq!(rows[0], "id,score,text");
    let found: Vec<&str> = rows[1..].iter().filter_map(|row| row.split(',').next()).collect();
    assert_eq!(found, expected);
}

#[test]
fn a_killed_run_goes_on() {
    let rounds = number_from("TWINDEX_KILL_ROUNDS").unwrap_or(6);
    let records = records(60, 8);
    let command = "dedup i.twx in.jsonl -o out.jsonl --removed audit.jsonl --threshold 0.86 \
                   --store-text -q --keep max:score --batch 16";
    let whole = shell(&records);
    let start = Instant::now();
    whole.run(command).succeeds();
    let length = start.elapsed();
    let (output, audit) = (whole.read("out.jsonl"), whole.read("audit.jsonl"));
    assert_eq!(ids(&output), kept(&records, greatest));
    let broken = shell(&records);
    for round in 0..rounds {
        let running = broken.start(command);
        sleep(length.mul_f64((round as f64 + 0.5) / rounds as f64));
        running.kill();
        if broken.path("out.jsonl").exists() {
            assert_eq!(broken.read("out.jsonl"), output, "it has its name when it is complete");
        }
    }
    broken.run(command).succeeds();
    assert_eq!(broken.read("out.jsonl"), output);
    let sorted = |lines: &[u8]| {
        let mut ids = ids(lines);
        ids.sort_unstable();
        ids
    };
    assert_eq!(sorted(&broken.read("audit.jsonl")), sorted(&audit));
    assert!(broken.names().iter().all(|name| !name.contains(".part")), "{:?}", broken.names());
}

#[test]
fn representatives_chosen_by_records_of_which_some_are_bad_are_an_error() {
    let records = records(2, 2);
    let shell = shell(&records);
    shell.run("add i.twx in.jsonl -q").succeeds();
    shell.write("bad.jsonl", "no JSON\n");
    let words = "--keep max:score --records in.jsonl --records";
    for (file, cause) in [("bad.jsonl", "bad.jsonl:1: not valid"), ("none", "none: No such file")] {
        for command in ["clusters i.twx", "report i.twx -o page.html"] {
            let done = shell.run(&format!("{command} {words} {file}"));
            assert_eq!(done.status, 2, "{done:?}");
            assert!(done.stderr.contains(cause), "{done:?}");
        }
    }
}

#[test]
fn of_records_with_one_id_the_last_one_tells_the_representative() {
    let shell = Shell::new();
    let line = |id: &str, score: &str| {
        let text = "a text that is in the index twice, under two names";
        format!("{{\"id\":\"{id}\",\"text\":\"{text}\"{score}}}\n")
    };
    for (last, kept) in [(",\"score\":1", "b"), ("", "b"), (",\"score\":3", "a")] {
        shell.write("in.jsonl", line("a", ",\"score\":9") + &line("b", ",\"score\":2"));
        shell.write("more.jsonl", line("a", last));
        shell.run("add i.twx in.jsonl more.jsonl -q").succeeds();
        let words = "clusters i.twx --keep max:score --records in.jsonl --records more.jsonl";
        assert_eq!(shell.run(words).succeeds().column(0), [kept], "{last}");
    }
}

#[test]
fn what_cannot_be_preferred_is_said() {
    let shell = shell(&records(2, 2));
    shell
        .run("dedup i.twx in.jsonl -o out --keep max:skore")
        .fails_with("no record has a number or date in `skore`");
    shell.run("dedup i.twx - -o out --keep max:score").fails_with("reads its input twice");
    shell
        .run("dedup i.twx none.jsonl -o out --keep max:score")
        .fails_with("none.jsonl: No such file");
    shell
        .run("dedup i.twx in.jsonl -o out --keep max:score --remove spans")
        .fails_with("is for --remove similar and contained");
    shell.run("dedup i.twx in.jsonl -o out --group-field site").fails_with("--group-field is for");
    assert!(!shell.path("i.twx").exists());
    shell.run("add i.twx in.jsonl -q").succeeds();
    shell.run("clusters i.twx --keep max:score").fails_with("say --records FILE");
    shell
        .run("clusters i.twx --keep max:skore --records in.jsonl")
        .fails_with("no document of the index has");
    let dry = shell.run("dedup d.twx in.jsonl --dry-run --keep max:score --json");
    assert_eq!(dry.succeeds().summary()["dry_run"], true);
    assert!(!shell.path("d.twx").exists());
}
