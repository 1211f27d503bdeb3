//! Reports: `dedup --report`, `clusters --report`, `report`; `--removed-text`.

use crate::command::{Done, Shell};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// A sentence of words that no other number has.
fn words(number: u64, count: u64) -> String {
    let mut state = number.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    let mut word = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        format!("{:06x} ", state & 0xFF_FFFF)
    };
    (0..count).map(|_| word()).collect()
}

/// Texts in groups: each has a part of its own, of a length that differs.
fn corpus(groups: u64, members: u64) -> String {
    let record = |group: u64, member: u64| {
        let own = words(1_000 + group * members + member, (member * 7 + group) % 13);
        json!({"id": format!("{group}-{member}"), "text": words(group, 60) + &own}).to_string()
    };
    let all = (0..members).flat_map(|member| (0..groups).map(move |group| (group, member)));
    all.map(|(group, member)| record(group, member) + "\n").collect()
}

fn page(shell: &Shell, name: &str) -> String {
    String::from_utf8(shell.read(name)).expect("UTF-8")
}

/// What stands between two parts of a page, each time.
fn between<'p>(page: &'p str, before: &str, after: &str) -> Vec<&'p str> {
    let parts = page.split(before).skip(1);
    parts.map(|part| part.split(after).next().unwrap_or_default()).collect()
}

/// The counts at the top of a page.
fn numbers(page: &str) -> BTreeMap<String, String> {
    let number = |part: &str| {
        let (name, value) = part.split_once("</dt><dd>").expect("a value");
        (name.to_owned(), value.to_owned())
    };
    between(page, "<div><dt>", "</dd>").into_iter().map(number).collect()
}

/// The counts that the bars of the histogram tell.
fn bars(page: &str) -> u64 {
    let titles = between(page, "<title>", "</title>").into_iter();
    let counts = titles.filter_map(|title| title.split_once(": ")?.1.strip_suffix(" removed"));
    counts.map(|count| count.replace(',', "").parse::<u64>().expect("a number")).sum()
}

/// What the page says of other thresholds.
fn thresholds(page: &str) -> BTreeMap<String, u64> {
    let table = between(page, "<table class=\"thresholds\">", "</table>")[0];
    let rows = between(table, "<tr", "</tr>");
    let row = |row: &&str| {
        let threshold = between(row, "<th scope=\"row\">", "</th>").first()?.to_string();
        let count = between(row, "<td class=\"number\">", "</td>")[0];
        let digits: String = count.chars().filter(char::is_ascii_digit).collect();
        Some((threshold, digits.parse().expect("a number")))
    };
    rows.iter().filter_map(row).collect()
}

/// The page without the time that the run took.
fn timeless(page: &str) -> String {
    let lead = between(page, "<p class=\"lead\">", "</p>")[0];
    page.replace(lead, "")
}

fn printed(done: &Done) -> String {
    done.stderr.lines().last().expect("a summary").to_owned()
}

#[test]
fn a_report_says_what_the_command_printed() {
    let shell = Shell::new();
    shell.write("in.jsonl", corpus(40, 5) + "no json\n");
    let run = "dedup i.twx in.jsonl -o out.jsonl --removed gone --report r.html";
    let done = shell.run(run);
    assert_eq!(done.status, 2, "a record failed: {done:?}");
    let page = page(&shell, "r.html");
    assert!(page.contains(&format!("<p class=\"lead\">{}</p>", printed(&done))), "{done:?}");
    let count = |name: &str| shell.read(name).split(|byte| *byte == b'\n').count() - 1;
    let (kept, gone) = (count("out.jsonl"), count("gone"));
    assert!(gone > 50 && kept + gone == 200, "{kept} and {gone}");
    let numbers = numbers(&page);
    assert_eq!(numbers["documents"], "200");
    assert_eq!(numbers["kept"], kept.to_string());
    assert!(numbers["removed"].starts_with(&format!("{gone} (")), "{numbers:?}");
    assert_eq!(numbers["failed"], "1");
    assert_eq!(bars(&page), gone as u64);
    assert_eq!(thresholds(&page)["0.8 (this report)"], gone as u64);
    assert!(page.contains("in.jsonl:201: not valid JSON"), "what failed is listed");
    // Texts come from the input, as the index stores none.
    assert!(page.contains("<del>") && page.contains("<ins>"));
    assert!(!page.contains("neither in the index nor in the input"));
    shell.assert_clean();

    // The run has finished; the audit is there, so the report can be written again.
    std::fs::remove_file(shell.path("r.html")).expect("removed");
    assert_eq!(shell.run(run).status, 2);
    assert_eq!(timeless(&self::page(&shell, "r.html")), timeless(&page));
}

#[test]
fn other_thresholds_are_told_as_runs_find_them() {
    let shell = Shell::new();
    shell.write("in.jsonl", corpus(60, 6));
    shell.run("dedup i.twx in.jsonl -o out --removed gone -q --report r.html").succeeds();
    let told = thresholds(&page(&shell, "r.html"));
    for threshold in ["0.6", "0.7", "0.75", "0.85", "0.9", "0.95"] {
        let words = format!(
            "dedup t{threshold}.twx in.jsonl -o t{threshold} --removed gone2 --json \
             --threshold {threshold}"
        );
        let found = shell.run(&words).succeeds().counted("duplicates");
        let difference = told[threshold].abs_diff(found);
        assert!(difference <= 6 + found / 10, "{threshold}: {} and not {found}", told[threshold]);
    }
}

#[test]
fn a_run_that_was_stopped_gets_the_same_report() {
    let input = corpus(40, 5);
    let words = "dedup i.twx -v --batch 20 -o out --removed gone --removed-text --report r.html";
    let unbroken = Shell::new();
    unbroken.pipe(words, input.as_str()).succeeds();
    let shell = Shell::new();
    let mut running = shell.start(words);
    running.send(&input.split_inclusive('\n').take(90).collect::<String>());
    running.wait_for("committed 80 records");
    running.signal("INT");
    assert_eq!(running.end().status, 2);
    assert!(!shell.path("r.html").exists());
    shell.pipe(words, input.as_str()).succeeds();
    assert_eq!(timeless(&page(&shell, "r.html")), timeless(&page(&unbroken, "r.html")));
}

#[test]
fn a_stream_shows_the_texts_that_are_kept_somewhere() {
    let shell = Shell::new();
    let words = "-q -o - --report";
    let missing = "neither in the index nor in the input";
    shell.pipe(&format!("dedup a.twx {words} a.html"), corpus(20, 4)).succeeds();
    let none = page(&shell, "a.html");
    assert!(none.contains(missing) && bars(&none) > 20, "no file keeps the audit");
    let words = format!("dedup b.twx --store-text --removed-text {words} b.html");
    shell.pipe(&words, corpus(20, 4)).succeeds();
    let both = page(&shell, "b.html");
    assert!(!both.contains(missing) && both.contains("<del>"));
}

#[test]
fn a_dry_run_writes_the_report_and_nothing_else() {
    let shell = Shell::new();
    shell.write("in.jsonl", corpus(20, 4));
    let done = shell.run("dedup i.twx in.jsonl --dry-run --report r.html").succeeds();
    assert_eq!(shell.names(), ["in.jsonl", "r.html"]);
    let page = page(&shell, "r.html");
    assert!(page.contains("Duplicates that would be removed from in.jsonl"));
    let removed = done.stdout.lines().count();
    assert!(numbers(&page)["would be removed"].starts_with(&format!("{removed} (")));
}

#[test]
fn a_removed_record_is_not_taken_for_a_document_of_its_id() {
    let shell = Shell::new();
    let (old, page) = (words(1, 60), words(2, 60));
    let line = |id: &str, text: &str| json!({"id": id, "text": text}).to_string() + "\n";
    shell.write("before.jsonl", line("home", &old) + &line("about", &page));
    shell.run("add i.twx before.jsonl -q --store-text").succeeds();
    shell.write("in.jsonl", line("home", &format!("{page}and more")));
    shell.run("dedup i.twx in.jsonl -q -o out --removed gone --report r.html").succeeds();
    let page_of = page_text(&page);
    let report = self::page(&shell, "r.html");
    let pair = between(&report, "<article class=\"pair\">", "</article>")[0];
    assert!(pair.matches(&page_of).count() == 2 && pair.contains("and more"), "{pair}");
    assert!(!pair.contains(&page_text(&old)), "that is another text of the same id");
}

#[test]
fn a_duplicate_of_another_index_is_shown_with_the_text_of_that_index() {
    let line = |id: &str, text: &str| json!({"id": id, "text": text}).to_string() + "\n";
    let (ferry, crash) = (words(1, 60), words(2, 60));
    for stores in ["", " --store-text"] {
        let shell = Shell::new();
        shell.pipe(&format!("add test.twx -q{stores} -"), line("1", &crash)).succeeds();
        shell.write("in.jsonl", line("1", &ferry) + &line("2", &format!("{crash}and more")));
        let words = "dedup i.twx in.jsonl -q -o out --removed gone --against test.twx";
        shell.run(&format!("{words} --report r.html")).succeeds();
        let gone = String::from_utf8(shell.read("gone")).expect("text");
        assert!(gone.contains("\"duplicate_of\":\"1\"") && gone.contains("\"test.twx\""), "{gone}");
        let report = page(&shell, "r.html");
        let pair = between(&report, "<article class=\"pair\">", "</article>")[0];
        assert!(pair.contains("in <bdi>test.twx</bdi>"), "{pair}");
        assert!(!pair.contains(&page_text(&ferry)), "that is another document of the id");
        assert_eq!(pair.contains("neither in the index nor in the input"), stores.is_empty());
    }
}

/// Of words, a few scattered edits leave most characters and half of the shingles.
#[test]
fn texts_that_were_compared_are_not_doubted() {
    let shell = Shell::new();
    let line = |id: &str, text: &str| json!({"id": id, "text": text}).to_string() + "\n";
    let first = words(1, 400);
    let edited = |(at, word): (usize, &str)| if at % 20 == 7 { "edited" } else { word }.to_owned();
    let second: Vec<String> = first.split_whitespace().enumerate().map(edited).collect();
    shell.write("in.jsonl", line("a", &first) + &line("b", &second.join(" ")));
    let words = "dedup i.twx in.jsonl -q --store-text --shingle word:5 --threshold 0.5";
    shell.run(&format!("{words} -o out --report r.html")).succeeds();
    let report = page(&shell, "r.html");
    assert_eq!(between(&report, "<article class=\"pair\">", "</article>").len(), 1);
    assert!(!report.contains("These are not the texts that were compared"));
}

/// The index has another text of the id by now.
#[test]
fn texts_that_were_not_compared_are_told() {
    let shell = Shell::new();
    let line = |id: &str, text: &str| json!({"id": id, "text": text}).to_string() + "\n";
    let (first, second) = (words(1, 60), words(2, 60));
    let copy = line("copy", &format!("{first}and more"));
    shell.write("in.jsonl", line("a", &first) + &copy + &line("a", &second));
    shell.run("dedup i.twx in.jsonl -q --store-text -o out --report r.html").succeeds();
    let report = page(&shell, "r.html");
    let pair = between(&report, "<article class=\"pair\">", "</article>")[0];
    assert!(pair.contains("These are not the texts that were compared"), "{pair}");
}

/// A part of a text that no fold hides.
fn page_text(text: &str) -> String {
    let text = text.trim_end();
    text[text.len() - 60..].to_owned()
}

#[test]
fn what_stays_by_another_rule_is_not_estimated() {
    let shell = Shell::new();
    shell.write("in.jsonl", corpus(20, 4));
    let words = "dedup i.twx in.jsonl -q -o out --removed gone --remove contained";
    shell.run(&format!("{words} --report r.html")).succeeds();
    shell.run("clusters i.twx -q --linkage connected --threshold 0.5 --report c.html");
    let (contained, connected) = (page(&shell, "r.html"), page(&shell, "c.html"));
    assert!(!contained.contains("class=\"thresholds\""));
    assert!(!connected.contains("class=\"thresholds\""));
    assert!(connected.contains("by a chain of similar pairs"));
}

#[test]
fn copies_of_another_file_come_from_there() {
    let shell = Shell::new();
    shell.write("day-1.jsonl", corpus(20, 1));
    shell.write("day-2.jsonl", corpus(20, 1));
    let words = "dedup i.twx day-1.jsonl day-2.jsonl -q -o out --removed gone --report r.html";
    shell.run(words).succeeds();
    let page = page(&shell, "r.html");
    let heat = between(&page, "<table class=\"heat\">", "</table>")[0];
    let rows = between(heat, "<tr>", "</tr>");
    let second = rows.iter().find(|row| row.contains("day-2.jsonl</bdi>")).expect("a row");
    assert!(second.contains(">20</td>"), "{heat}");
}

#[test]
fn sources_are_the_files_of_the_input() {
    let shell = Shell::new();
    let all = corpus(20, 4);
    let (first, second) = all.split_at(all.match_indices('\n').nth(29).expect("a line").0 + 1);
    shell.write("shards/a.jsonl", first);
    shell.write("shards/b.jsonl", second);
    shell.run("dedup i.twx shards -o out --removed gone -q --report r.html").succeeds();
    let page = page(&shell, "r.html");
    let table = between(&page, "<table class=\"sortable\"><caption>Records by", "</table>")[0];
    let cells = |name: &str| -> Vec<String> {
        let row = table.split(name).nth(1).expect("a row").split("</tr>").next().expect("it");
        between(row, "<td class=\"number\">", "</td>").into_iter().map(str::to_owned).collect()
    };
    let (a, b) = (cells("shards/a.jsonl"), cells("shards/b.jsonl"));
    assert_eq!((&a[0][..], &b[0][..]), ("30", "50"));
    let gone = String::from_utf8(shell.read("gone")).expect("UTF-8").lines().count();
    let number = |text: &str| text.parse::<usize>().expect("a number");
    assert_eq!(number(&a[1]) + number(&b[1]), gone);
    assert_eq!(number(&a[3]) + number(&b[3]), gone);
}

#[test]
fn sources_are_the_values_of_a_field() {
    let shell = Shell::new();
    let all = corpus(20, 4);
    let sites = ["one.example", "two, \"quoted\"", "three"];
    let records = all.lines().map(|line| serde_json::from_str::<Value>(line).expect("an object"));
    let (mut table, mut objects) = ("id,text,site\r\n".to_owned(), String::new());
    for (number, record) in records.enumerate() {
        let site = sites[number % 3];
        let (id, text) = (record["id"].as_str().expect("it"), record["text"].as_str().expect("it"));
        table += &format!("{id},{text},\"{}\"\r\n", site.replace('"', "\"\""));
        objects += &(json!({"id": id, "text": text, "site": site}).to_string() + "\n");
    }
    shell.write("in.csv", table);
    shell.write("in.jsonl", objects);
    let sources = |name: &str| -> String {
        let words = format!("dedup {name}.twx {name} -o {name}.out --removed gone -q");
        let words = format!("{words} --report {name}.html --group-field site");
        assert_eq!(shell.run(&words).succeeds().stderr, "", "all records have it");
        let page = page(&shell, &format!("{name}.html"));
        between(&page, "<section id=\"sources\"", "</section>")[0].to_owned()
    };
    let (of_table, of_objects) = (sources("in.csv"), sources("in.jsonl"));
    assert_eq!(of_table, of_objects);
    for site in ["one.example", "two, &quot;quoted&quot;", "three"] {
        assert!(of_table.contains(&format!("<bdi>{site}</bdi>")), "{of_table}");
    }
    let without = "dedup i.twx in.csv -o out --group-field site";
    shell.run(without).fails_with("--group-field is for --report");
    let other = "dedup i.twx in.csv -q -o out --removed gone --report r.html --group-field host";
    let said = shell.run(other).succeeds().stderr;
    assert!(said.contains("no record has the field `host`"), "{said}");
}

#[test]
fn the_audit_holds_the_texts_that_are_asked_for() {
    let shell = Shell::new();
    let input = corpus(10, 3);
    shell.write("in.jsonl", &input);
    let words = "dedup i.twx in.jsonl -q -o out --removed gone --removed-text";
    shell.run(words).succeeds();
    let parsed = |line: &str| serde_json::from_str::<Value>(line).expect("an object");
    let texts: BTreeMap<String, String> = input
        .lines()
        .map(parsed)
        .map(|line| (line["id"].to_string(), line["text"].to_string()))
        .collect();
    let gone = String::from_utf8(shell.read("gone")).expect("UTF-8");
    assert!(gone.lines().count() > 5);
    for line in gone.lines().map(parsed) {
        assert_eq!(line["text"].to_string(), texts[&line["id"].to_string()]);
    }
    let spans = "dedup s.twx in.jsonl -q -o s --removed s.gone --removed-text --remove spans";
    shell.run(spans).succeeds();
    let cut = String::from_utf8(shell.read("s.gone")).expect("UTF-8");
    assert!(cut.lines().count() > 5);
    for line in cut.lines().map(parsed) {
        assert_eq!(line["text"].to_string(), texts[&line["id"].to_string()], "as it came");
    }
}

#[test]
fn an_index_has_a_report_of_its_clusters() {
    let shell = Shell::new();
    shell.write("in.jsonl", corpus(30, 4));
    shell.run("add i.twx in.jsonl -q").succeeds();
    shell.run("add s.twx in.jsonl -q --store-text").succeeds();
    for index in ["i.twx", "s.twx"] {
        let done = shell.run(&format!("clusters {index} --report c.html")).succeeds();
        let page = page(&shell, "c.html");
        assert!(page.contains(&format!("<p class=\"lead\">{}</p>", printed(&done))), "{done:?}");
        let numbers = numbers(&page);
        assert_eq!(numbers["clusters"], done.stdout.lines().count().to_string());
        let summary = shell.run(&format!("clusters {index} --json")).succeeds().summary();
        let found = summary["duplicates"].as_u64().expect("a number");
        assert!(numbers["duplicates"].starts_with(&format!("{found} (")), "{numbers:?}");
        assert_eq!(thresholds(&page)["0.8 (this report)"], found);
        let printed = shell.run(&format!("report {index} -o r.html")).succeeds();
        assert!(printed.stdout.is_empty() && self::page(&shell, "r.html") == page);
        assert_eq!(page.contains("<ins>"), index == "s.twx", "only one has texts");
    }
    shell.assert_clean();
}

#[test]
fn a_report_takes_the_place_of_nothing_that_is_read_or_written() {
    let shell = Shell::new();
    shell.write("in.jsonl", corpus(5, 2));
    shell.run("add i.twx in.jsonl -q").succeeds();
    let before = shell.read("i.twx");
    for (report, words) in [
        ("in.jsonl", "is read by this run"),
        ("i.twx", "is read by this run"),
        ("out", "cannot take both an output and the report"),
        ("gone", "cannot take both an output and the report"),
        (".", "name a file for the report"),
        ("nowhere/r.html", "No such file"),
    ] {
        let command = format!("dedup i.twx in.jsonl -o out --removed gone --report {report}");
        shell.run(&command).fails_with(words);
    }
    shell.run("report i.twx -o i.twx").fails_with("is the index; name another file");
    for name in ["r.html.gz", "r.csv", "r.jsonl.zst", "r.parquet", "r.html.xz"] {
        for words in
            ["report i.twx -o", "clusters i.twx --report", "dedup j in.jsonl -o out --report"]
        {
            let cause = format!("{name}: a report is a page of HTML; end its name in .html");
            shell.run(&format!("{words} {name}")).fails_with(&cause);
        }
    }
    for (words, cause) in [
        ("report i.twx -o nowhere/r.html", "No such file"),
        ("report i.twx -o -", "name a file for the report"),
        ("clusters i.twx -o x --report x", "cannot take both the results and the report"),
        ("clusters i.twx --report i.twx", "is the index; name another file"),
        ("dedup i.twx in.jsonl --dry-run -o out --report out", "an output and the report"),
        ("dedup i.twx in.jsonl -o kept/ --report kept/in.jsonl", "an output and the report"),
    ] {
        std::fs::create_dir_all(shell.path("kept")).expect("a folder");
        shell.run(words).fails_with(cause);
        std::fs::remove_dir(shell.path("kept")).expect("an empty folder");
    }
    assert!(shell.read("i.twx") == before);
    shell
        .run("dedup p.twx in.jsonl -o out --remove spans --report r.html")
        .fails_with("--report shows similar documents");
    assert_eq!(shell.names().len(), 2, "{:?}", shell.names());
    // The audit of a run that printed it is not kept.
    shell.run("dedup i.twx in.jsonl -o out -q").succeeds();
    let again = shell.run("dedup i.twx in.jsonl -o out -q --report r.html");
    assert_eq!(again.status, 2, "{again:?}");
    assert!(again.stderr.contains("--restart judges the records again"), "{again:?}");
    assert!(!shell.path("r.html").exists());
    shell.run("dedup i.twx in.jsonl -o out -q --report r.html --restart").succeeds();
    assert!(shell.path("r.html").exists());
}

#[test]
fn many_files_of_one_folder_are_sources() {
    let shell = Shell::new();
    let lines = corpus(40, 3);
    let lines: Vec<&str> = lines.lines().collect();
    for (number, part) in lines.chunks(lines.len().div_ceil(15)).enumerate() {
        shell.write(&format!("shards/{number:02}.jsonl"), part.join("\n"));
    }
    shell.run("dedup i.twx shards -o out --removed gone --report r.html").succeeds();
    let page = page(&shell, "r.html");
    assert!(page.contains("section id=\"sources\""), "no sources");
    assert!(page.contains("3 others)"), "15 files, of which 12 are shown");
}

#[test]
fn what_lies_below_the_threshold_is_found_behind_many_copies() {
    let shell = Shell::new();
    let text = |group: u64, half: u64, copy: u64| {
        words(group, 150) + &words(7_000 + 2 * group + half, 25) + &words(9_000 + copy, 1)
    };
    let mut lines = String::new();
    for (group, half, copy) in (0..10)
        .flat_map(|group| (0..2).flat_map(move |half| (0..20).map(move |copy| (group, half, copy))))
    {
        let id = format!("{group}-{half}-{copy}");
        lines += &(json!({"id": id, "text": text(group, half, copy)}).to_string() + "\n");
    }
    shell.write("in.jsonl", lines);
    shell.run("add i.twx -q --store-text in.jsonl").succeeds();
    for keep in ["first", "longest"] {
        shell.run(&format!("report i.twx -o {keep}.html --keep {keep}")).succeeds();
        let page = page(&shell, &format!("{keep}.html"));
        let found = thresholds(&page);
        assert_eq!(found.get("0.7"), Some(&390), "{keep}: {found:?}");
        assert_eq!(numbers(&page)["duplicates"], "380 (95.0 %)", "{keep}");
        // No document is both kept and a duplicate.
        let duplicates = shell.run(&format!("clusters i.twx --duplicates -q --keep {keep}"));
        let duplicates = duplicates.succeeds();
        let gone = duplicates.column(0);
        let kept = between(&page, "<span class=\"fate\">kept</span> <bdi>", "</bdi>");
        assert!(kept.len() > 10, "{keep}: {kept:?}");
        assert!(kept.iter().all(|id| !gone.contains(id)), "{keep}: {kept:?}");
    }
}
