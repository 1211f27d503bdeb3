//! `plan`, and what packages take: completion scripts and manual pages. The histogram of `info`.

use crate::command::{Shell, jsonl};
use crate::support::{Random, text};
use serde_json::Value;

fn number(object: &Value, name: &str) -> f64 {
    object[name].as_f64().unwrap_or_else(|| panic!("no number {name} in {object}"))
}

#[test]
fn a_plan_is_what_a_new_index_gets() {
    let shell = Shell::new();
    for settings in ["", "--threshold 0.5 --recall 0.95", "--threshold 0.9 --lanes 64"] {
        let name = format!("i{}.twx", settings.len());
        shell.run(format!("create {name} {settings}").trim()).succeeds();
        let info = shell.run(&format!("info {name} --json")).json().remove(0);
        let plan = shell.run(format!("plan --json {settings}").trim()).succeeds().json().remove(0);
        for field in ["threshold", "recall", "lanes", "bands", "depth"] {
            assert_eq!(plan[field], info[field], "{settings}: {field}");
        }
        assert!(number(&plan, "recall_at_threshold") + 5e-5 >= number(&plan, "recall"));
    }
}

#[test]
fn the_table_tells_misses_from_extras() {
    let plan =
        Shell::new().run("plan --threshold 0.72 --textbook --json").succeeds().json().remove(0);
    let rows = plan["curve"].as_array().expect("an array");
    assert!(rows.iter().any(|row| row["similarity"] == 0.72), "the threshold has a row");
    for row in rows {
        let wanted = number(row, "similarity") >= 0.72;
        assert_eq!((row["missed"].is_null(), row["extra"].is_null()), (!wanted, wanted), "{row}");
        let textbook = (row["textbook_missed"].is_null(), row["textbook_extra"].is_null());
        assert_eq!(textbook, (!wanted, wanted), "{row}");
        if wanted {
            assert!(number(row, "textbook_missed") >= number(row, "missed"), "{row}");
        } else {
            assert!(number(row, "textbook_extra") <= number(row, "extra"), "{row}");
        }
        assert!((number(row, "candidate") + number(row, "unmet") - 1.0).abs() < 1e-3, "{row}");
    }
    let last = rows.last().expect("a row");
    assert_eq!((number(last, "similarity"), number(last, "reported")), (1.0, 1.0));
}

/// What is reported was compared before, so it is no more than that, and misses are no fewer.
#[test]
fn no_pair_is_reported_that_is_not_compared() {
    let shell = Shell::new();
    for settings in
        ["", "--threshold 0.5 --recall 0.999", "--threshold 0.7 --lanes 64 --recall 0.9"]
    {
        let plan = shell.run(format!("plan --textbook --json {settings}").trim());
        let plan = plan.succeeds().json().remove(0);
        for row in plan["curve"].as_array().expect("an array") {
            // The last of four digits may be rounded otherwise.
            let at_most = |less: f64, more: f64| less <= more * 1.001;
            let (reported, compared) = (number(row, "reported"), number(row, "candidate"));
            assert!(at_most(reported, compared), "{settings}: {row}");
            if let Some(missed) = row["missed"].as_f64() {
                assert!(at_most(number(row, "unmet"), missed), "{settings}: {row}");
            }
            if let Some(extra) = row["textbook_extra"].as_f64() {
                assert!(at_most(extra, number(row, "textbook")), "{settings}: {row}");
            }
        }
        assert!(number(&plan, "recall_at_threshold") >= number(&plan, "recall"), "{settings}");
    }
}

#[test]
fn piped_columns_have_names_and_no_drawing() {
    let done = Shell::new().run("plan").succeeds();
    let (settings, table) = done.stdout.split_once("similarity\t").expect("a heading");
    assert!(settings.lines().all(|line| line.split('\t').count() == 2), "{settings}");
    assert!(table.lines().all(|line| line.split('\t').count() >= 5), "{table}");
    assert!(table.starts_with("reported\tmissed\textra\tcandidate\tunmet\n"), "{table}");
    assert!(!done.stdout.contains("textbook") && !done.stderr.contains("textbook"), "{done:?}");
    let rule = Shell::new().run("plan --textbook").succeeds();
    assert!(rule.stderr.contains("by the textbook's 16 of 16 it would be 36.7 %"), "{rule:?}");
    assert!(rule.stdout.contains("\ttextbook\ttextbook_missed\ttextbook_extra\n"));
}

#[test]
fn an_error_tells_how_many_lanes_it_needs() {
    let shell = Shell::new();
    // The binomial law at one half: 0.25 / E^2, and 0.8 % more for lanes of one byte.
    for (error, needed, lanes) in [("0.05", 101, 128), ("0.0315", 254, 256), ("0.025", 404, 512)] {
        let plan = shell.run(&format!("plan --error {error} --json")).succeeds().json().remove(0);
        let found = plan["lanes_for_error"].as_u64().expect("a number");
        assert!(found.abs_diff(needed) <= 1, "{error}: {found} lanes");
        assert_eq!(plan["lanes"], lanes, "{error}");
    }
    shell.run("plan --error 0.01").fails_with("needs 2,520 lanes, and a signature has 512 at most");
    shell.run("plan --error 0.5").fails_with("expected a number above 0, below 0.5");
    assert_eq!(shell.run("plan --error 0.05 --lanes 64").status, 2);
}

#[test]
fn the_length_of_texts_tells_how_long_shingles_must_be() {
    let shell = Shell::new();
    let plan = shell.run("plan --length 50000 --json").succeeds().json().remove(0);
    // 20^5 is 3.2 million, 64 times the length; 20^6 is 64 million.
    assert_eq!((&plan["shingle"], &plan["length"]), (&"char:6".into(), &50_000.into()));
    assert!((number(&plan, "shingle_chance") - 50_000.0 / 64e6).abs() < 1e-6);
    assert!(shell.run("plan --json").json().remove(0)["shingle"].is_null());
    assert_eq!(shell.run("plan --length 0").status, 2);
}

#[test]
fn the_picture_is_written_where_it_was_asked_for() {
    let shell = Shell::new();
    shell.run("plan --svg curve.svg -q").succeeds();
    let svg = String::from_utf8(shell.read("curve.svg")).expect("UTF-8");
    assert!(svg.starts_with("<svg") && svg.contains("threshold 0.8"), "{svg}");
    shell.run("plan --svg no/such/folder.svg").fails_with("no/such/folder.svg: No such file");
}

#[test]
fn a_recall_out_of_reach_says_what_it_needs() {
    let shell = Shell::new();
    shell.run("plan --threshold 0.2").fails_with("needs 113 bands, 256 lanes give 32");
    shell.run("plan --threshold 0").fails_with("threshold 0: expected a number above 0");
    assert_eq!(shell.run("plan --docs 0").status, 2);
}

#[test]
fn info_counts_buckets_by_their_size() {
    let same = text(1, 0, 40);
    let ids: Vec<String> = (0..20).map(|n| n.to_string()).collect();
    let texts: Vec<String> = (0..20).map(|n| text(n.max(9), 0, 40)).collect();
    let documents: Vec<(&str, &str)> =
        ids.iter().zip(&texts).map(|(id, text)| (id.as_str(), text.as_str())).collect();
    let shell = Shell::with(&documents);
    shell.pipe("add i.twx -q -", jsonl(&[("same", &same)])).succeeds();
    let info = shell.run("info i.twx --all-bands --json").succeeds().json().remove(0);
    // 10 copies in each of 16 bands; the 11 others are alone.
    assert_eq!(info["largest_bucket"], 10);
    let classes = info["bucket_sizes"].as_array().expect("an array");
    let counts: Vec<u64> = classes.iter().filter_map(|class| class["buckets"].as_u64()).collect();
    assert_eq!(counts, [11 * 16, 0, 0, 0, 16]);
    assert_eq!((&classes[4]["from"], &classes[4]["to"]), (&9.into(), &16.into()));
    let piped = shell.run("info i.twx").succeeds().stdout;
    assert!(piped.contains("\ncounted_bands\t1\n"), "{piped}");
    assert!(piped.contains("\nbuckets_of_1\t11\n"), "{piped}");
    assert!(piped.ends_with("\nbuckets_of_9_to_16\t1\n"), "{piped}");
}

#[test]
fn completions_know_every_command() {
    let shell = Shell::new();
    for name in ["bash", "zsh", "fish"] {
        let script = shell.run(&format!("completions {name}")).succeeds().stdout;
        for command in ["compare", "query", "completions", "compact"] {
            assert!(script.contains(command), "{name}: {command}");
        }
    }
    assert_eq!(shell.run("completions cmd").status, 2);
}

#[cfg(unix)]
#[test]
fn bash_takes_the_completions() {
    let shell = Shell::new();
    let complete = "command -v bash >/dev/null || { echo compare; exit; }; \
         bash -c 'eval \"$($0 completions bash)\"; COMP_WORDS=(twindex comp); COMP_CWORD=1; \
         _twindex twindex comp twindex; echo \"${COMPREPLY[@]}\"' $TWINDEX";
    assert!(shell.sh(complete).succeeds().stdout.contains("compare"));
}

#[test]
fn there_is_a_manual_page_for_every_command() {
    let shell = Shell::new();
    let done = shell.run("man pages/man1 --json").succeeds();
    let mut names: Vec<String> = std::fs::read_dir(shell.path("pages/man1"))
        .expect("a folder")
        .map(|entry| entry.expect("an entry").file_name().into_string().expect("UTF-8"))
        .collect();
    names.sort();
    assert_eq!(done.counted("pages"), names.len() as u64);
    assert!(names.contains(&"twindex.1".into()) && names.contains(&"twindex-compare.1".into()));
    for name in names {
        let page = String::from_utf8(shell.read(&format!("pages/man1/{name}"))).expect("UTF-8");
        for section in
            [".TH", ".SH NAME", ".SH SYNOPSIS", ".SH OPTIONS", ".SH EXAMPLES\n.nf\n  twindex"]
        {
            assert!(page.contains(section), "{name} has no {section}");
        }
    }
    shell.write("file", "");
    shell.run("man file").fails_with("file: is no folder");
}

/// Texts of which many are alike to different degrees.
fn alike(count: usize) -> String {
    let mut random = Random(7);
    let mut lines = String::new();
    let mut words = Vec::new();
    for number in 0..count {
        if number % 8 == 0 {
            words = (0..60).map(|_| format!("{:06x}", random.below(1 << 24))).collect();
        }
        for _ in 0..random.below(6) {
            words[random.below(60) as usize] = format!("{:06x}", random.below(1 << 24));
        }
        lines += &jsonl(&[(format!("r{}", number / 2).as_str(), words.join(" ").as_str())]);
    }
    lines
}

#[test]
fn a_sample_tells_what_each_threshold_would_remove() {
    let shell = Shell::new();
    shell.write("in.jsonl", alike(400));
    let plan = shell.run("plan --sample in.jsonl --threshold 0.72 --json").succeeds();
    let plan = plan.json().remove(0);
    assert_eq!(
        (number(&plan, "sample_documents"), &plan["sample_is_part"]),
        (400.0, &false.into())
    );
    assert_eq!(plan["suggested_shingle"], "char:9");
    // Records are numbered in a sample, so that ids that come twice are no matter.
    let unnamed: String = alike(400)
        .lines()
        .enumerate()
        .map(|(at, line)| line.replacen("\"id\":\"r", &format!("\"id\":\"{at}-"), 1) + "\n")
        .collect();
    shell.write("named.jsonl", unnamed);
    shell.run("add whole.twx named.jsonl --threshold 0.5 -q").succeeds();
    let pairs = shell.run("pairs whole.twx --threshold 0.5 --json -q").succeeds().json();
    let rows = plan["sample_thresholds"].as_array().expect("an array");
    assert_eq!(rows.len(), 12, "from .5 to 1 by .05, and .72");
    for (at, row) in rows.iter().enumerate() {
        let threshold = number(row, "threshold");
        let next = rows.get(at + 1).map_or(2.0, |next| number(next, "threshold"));
        let within = |pair: &&Value| (threshold..next).contains(&number(pair, "similarity"));
        assert_eq!(number(row, "pairs"), pairs.iter().filter(within).count() as f64, "{row}");
        let name = format!("t{at}.twx");
        shell.run(&format!("create {name} --threshold {threshold}")).succeeds();
        let dedup = format!("dedup {name} named.jsonl -o out --removed gone");
        let done = shell.run(&format!("{dedup} --json")).succeeds();
        assert_eq!(number(row, "removed"), done.counted("duplicates") as f64, "{row}");
        let share = number(row, "removed") / 400.0;
        assert!((number(row, "share_removed") - share).abs() < 1e-4, "{row}");
    }
    assert!(number(&rows[0], "removed") > number(&rows[6], "removed"));
}

#[test]
fn a_sample_is_bounded_and_its_mistakes_are_said() {
    let shell = Shell::new();
    shell.write("in.jsonl", alike(300) + "broken\n");
    let part = shell.run("plan --sample in.jsonl --sample-docs 100").succeeds();
    assert!(part.stderr.contains(" of the first 100 documents would be removed"), "{part:?}");
    assert!(part.stdout.contains("\nsample_failed\t0\n"), "{part:?}");
    let whole = shell.run("plan --sample in.jsonl");
    assert_eq!(whole.status, 2, "{whole:?}");
    assert!(whole.stderr.contains("in.jsonl:301: "), "{whole:?}");
    assert!(whole.stderr.contains("; 1 failed;"), "{whole:?}");
    assert!(whole.stdout.contains("\nsample_failed\t1\n"), "{whole:?}");
    assert!(whole.stdout.contains("\nthreshold\tpairs\tremoved\tshare_removed\n"), "{whole:?}");
    shell.run("plan --sample none.jsonl").fails_with("none.jsonl: No such file");
    let alone = shell.run("plan --sample-docs 5");
    assert!(alone.stderr.contains("--sample <PATH>"), "{alone:?}");
    // Their lanes do not reach the recall at .5, but at .8.
    shell.write("good.jsonl", alike(300));
    let few = shell.run("plan --sample good.jsonl --lanes 128 --json").succeeds();
    let few: Value = serde_json::from_str(&few.stdout).expect("JSON");
    let first = few["sample_thresholds"][0]["threshold"].as_f64().expect("a number");
    assert!(first > 0.5 && first <= 0.8, "{first}");
    // Shingles of characters are no advice for lines.
    let lines = shell.run("plan --sample good.jsonl --shingle line:2 --json").succeeds();
    let lines: Value = serde_json::from_str(&lines.stdout).expect("JSON");
    assert_eq!(lines["suggested_shingle"], Value::Null);
    shell.write("empty.jsonl", "");
    shell.run("plan --sample empty.jsonl").fails_with("no record that could be read");
    assert!(shell.names().iter().all(|name| name.ends_with(".jsonl")), "{:?}", shell.names());
}
