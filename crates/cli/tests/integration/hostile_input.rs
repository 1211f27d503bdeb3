//! Input that has no end or no sense: memory stays within the limit, and what is wrong is said.

use crate::command::{Done, Shell, jsonl};

/// Runs a command on a file with one record that is too long between two good ones.
#[track_caller]
fn all_but_one(shell: &Shell, done: &Done, place: &str) {
    assert_eq!((done.status, done.counted("failed"), done.counted("added")), (2, 1, 2), "{done:?}");
    let message = done.stderr.lines().next().unwrap_or_default();
    assert!(message.starts_with(&format!("twindex: {place}: longer than 1K, ")), "{message}");
    assert!(message.contains("--max-record"), "{message}");
    assert_eq!(shell.ids().len(), 2);
    shell.assert_clean();
}

#[test]
fn a_line_longer_than_the_limit_is_reported_and_the_rest_goes_on() {
    for length in [1_025, 5_000, 5_000_000] {
        let shell = Shell::new();
        let long = "x".repeat(length);
        shell.write("in.txt", format!("first\n{long}\nlast\n"));
        let done = shell.run("add i.twx --json --max-record 1K --format lines in.txt");
        all_but_one(&shell, &done, "in.txt:2");
        assert_eq!(shell.ids(), ["in.txt:1", "in.txt:3"]);
    }
}

/// U+FDFA has 3 bytes, and NFKC makes 33 of them.
#[test]
fn a_record_that_normalisation_makes_longer_than_the_limit_is_reported() {
    let sign = '\u{FDFA}';
    for (count, fails) in [(31, false), (32, true), (300, true)] {
        let shell = Shell::new();
        let text: String = [sign].repeat(count).into_iter().collect();
        shell.write("in.txt", format!("first\n{text}\nlast\n"));
        let words = "--json --max-record 1K --format lines in.txt";
        let plain = shell.run(&format!("add plain.twx {words}")).succeeds();
        assert_eq!(plain.counted("added"), 3);
        let done = shell.run(&format!("add i.twx --normalize lower,nfkc,space {words}"));
        if !fails {
            assert_eq!(done.succeeds().counted("added"), 3);
            continue;
        }
        assert_eq!((done.status, done.counted("added")), (2, 2), "{done:?}");
        let said = "twindex: in.txt:2: longer than 1K when normalised, the most that a record may";
        assert!(done.stderr.starts_with(said), "{done:?}");
        let asked = shell.run(&format!("query i.twx {words}"));
        assert!(asked.stderr.contains(said), "{asked:?}");
        shell.write("other", &text);
        let words = "compare other in.txt --max-record 1K --normalize nfkc";
        shell.run(words).fails_with("other: longer than 1K when normalised");
    }
    // The tokens of a set count together.
    let shell = Shell::new();
    let set = |count: u64| (0..count).map(|n| format!("{sign}{n} ")).collect::<String>();
    shell.write("sets", format!("a\t{}\nb\t{}\n", set(20), set(40)));
    let words = "add i.twx --json --shingle token --normalize nfkc --format tokens";
    let done = shell.run(&format!("{words} --max-record 1K sets"));
    assert_eq!((done.status, done.counted("added")), (2, 1), "{done:?}");
    assert!(done.stderr.contains("sets:2: longer than 1K when normalised"), "{done:?}");
}

#[test]
fn a_json_record_longer_than_the_limit_is_reported_and_the_rest_goes_on() {
    for length in [1_025, 5_000_000] {
        let shell = Shell::new();
        let long = "x".repeat(length);
        let input = jsonl(&[("a", "first"), ("b", &long), ("c", "last")]);
        let done = shell.pipe("add i.twx --json --max-record 1K -", input);
        all_but_one(&shell, &done, "standard input:2");
        assert_eq!(shell.ids(), ["a", "c"]);
    }
}

#[test]
fn a_file_longer_than_the_limit_is_reported_and_the_rest_goes_on() {
    let shell = Shell::new();
    shell.write("d/a", "first");
    shell.write("d/b", "x".repeat(1_025));
    shell.write("d/c", "last");
    let done = shell.run("add i.twx --json --max-record 1K d");
    all_but_one(&shell, &done, "d/b");
}

#[test]
fn standard_input_longer_than_the_limit_is_reported_and_the_rest_goes_on() {
    let shell = Shell::new();
    shell.write("a", "first");
    shell.write("c", "last");
    for length in [1_025, 5_000] {
        let shell = shell.copy();
        let input = "some\n".repeat(length / 5 + 1);
        let done = shell.pipe("add i.twx --json --max-record 1K --format text a - c", input);
        all_but_one(&shell, &done, "standard input:1");
    }
}

#[test]
fn a_record_of_exactly_the_limit_is_taken() {
    let shell = Shell::new();
    let text = "x".repeat(1_024);
    shell.write("whole", &text);
    shell.write("lines", format!("{text}\r\n{text}\n{text}"));
    shell.run("add i.twx --max-record 1K whole").succeeds();
    shell.run("add i.twx --max-record 1K --format lines lines").succeeds();
    shell.pipe("add i.twx --max-record 1024 --format text -", text).succeeds();
    assert_eq!(shell.ids().len(), 5);
}

#[test]
fn a_query_leaves_out_records_over_the_limit() {
    let shell = Shell::with(&[("a", "some text")]);
    let input = "x".repeat(2_000) + "\nsome text\n";
    let done = shell.pipe("query i.twx --max-record 1K -", input);
    assert_eq!((done.status, done.column(1)), (2, vec!["a"]), "{done:?}");
    assert!(done.stderr.starts_with("twindex: standard input:1: longer than 1K"), "{done:?}");
}

#[test]
fn a_limit_that_is_no_size_is_an_error() {
    for bad in ["0", "-1", "1.5M", "much", "1KB"] {
        let done = Shell::new().run(&format!("add i.twx --max-record={bad} -"));
        assert_eq!(done.status, 2, "{bad}: {done:?}");
        assert!(done.stderr.contains("expected a number of bytes"), "{bad}: {done:?}");
    }
}

#[test]
fn a_too_long_id_of_a_list_is_reported_and_the_rest_removed() {
    for length in [4_097, 5_000_000] {
        let shell = Shell::with(&[("a", "1"), ("b", "2"), ("c", "3")]);
        shell.write("ids", format!("a\n{}\nc\n", "x".repeat(length)));
        let removed = shell.run("remove i.twx --ids-from ids -q");
        removed.fails_with("ids:2: longer than 4,096 bytes");
        assert_eq!(shell.ids(), ["b"]);
    }
}

#[test]
fn json_nested_100_000_deep_is_taken_or_refused_wherever_it_stands() {
    let deep = |open: &str, close: &str| (open.repeat(100_000), close.repeat(100_000));
    let arrays = (deep("[", "]"), "not valid JSON");
    let objects = (deep("{\"a\":", "}"), "no field `text`");
    for ((open, close), alone) in [arrays, objects] {
        for (nested, sound) in [
            (format!("{open}1{close}"), true),
            (format!("{open}1"), false),
            (format!("{open}!{close}"), false),
            (open, false),
        ] {
            let unless_sound = |cause| Some(if sound { cause } else { "not valid JSON" });
            for (record, cause) in [
                (nested.clone(), unless_sound(alone)),
                (format!("{{\"id\":{nested},\"text\":\"t\"}}"), unless_sound("field `id`")),
                (format!("{{\"id\":\"x\",\"text\":{nested}}}"), unless_sound("field `text`")),
                (
                    format!("{{\"id\":\"x\",\"more\":{nested},\"text\":\"t\"}}"),
                    if sound { None } else { Some("not valid JSON") },
                ),
                (format!("{{\"id\":\"x\",\"text\":\"t\"}}{nested}"), Some("not valid JSON")),
            ] {
                let shell = Shell::new();
                let input = jsonl(&[("a", "1")]) + &record + "\n" + &jsonl(&[("b", "2")]);
                let done = shell.pipe("add i.twx --json --format jsonl -", input);
                let failed = u64::from(cause.is_some());
                let start: String = record.chars().take(40).collect();
                assert_eq!(done.counted("failed"), failed, "{start}: {done:?}");
                assert_eq!(done.counted("added"), 3 - failed, "{start}");
                let message = done.stderr.lines().next().unwrap_or_default();
                if let Some(cause) = cause {
                    assert!(
                        message.starts_with("twindex: standard input:2: "),
                        "{start}: {message}"
                    );
                    assert!(message.contains(cause) && message.len() < 400, "{start}: {message}");
                } else {
                    assert_eq!(done.status, 0, "{start}: {done:?}");
                }
            }
        }
    }
}

#[cfg(target_os = "linux")]
mod memory {
    use crate::command::{Running, Shell};
    use std::io::Write;

    /// Limit and all else that a small index needs.
    const MOST: u64 = 48 << 20;

    /// Sends so many blocks of 64 KiB.
    fn flood(running: &mut Running, byte: u8, blocks: usize) {
        for _ in 0..blocks {
            running.stdin().write_all(&[byte; 64 << 10]).expect("it reads");
        }
    }

    #[track_caller]
    fn stays_small(words: &str, byte: u8) {
        let shell = Shell::with(&[("a", "some text")]);
        let mut running = shell.start(words);
        // 50 MiB: whoever holds all of it takes more memory than it may.
        flood(&mut running, byte, 800);
        let peak = running.peak_memory();
        assert!(peak < MOST, "{words}: {peak} bytes of memory for a flood of {byte}");
        drop(running);
        shell.assert_clean();
    }

    #[test]
    fn an_endless_line_takes_no_more_memory_than_the_limit() {
        for byte in [b'x', b' ', b'{', b'"', 0, 0xFF] {
            stays_small("add i.twx -q --max-record 1M -", byte);
        }
        stays_small("query i.twx -q --max-record 1M -", b'x');
        stays_small("add i.twx -q --max-record 1M --format jsonl -", b'[');
    }

    #[test]
    fn an_endless_list_of_ids_takes_little_memory() {
        stays_small("remove i.twx -q --ids-from -", b'x');
        stays_small("remove i.twx -q --ids-from -", b'\n');
    }

    #[test]
    fn endless_blank_lines_take_little_memory() {
        for format in ["jsonl", "csv", "tsv", "warc"] {
            stays_small(&format!("add i.twx -q --format {format} -"), b'\n');
        }
    }

    #[test]
    fn a_text_that_normalisation_makes_many_times_longer_takes_little_memory() {
        let shell = Shell::with(&[("a", "some text")]);
        shell.write("text", "\u{FDFA}".repeat(1 << 20));
        let words = "add j.twx -q --normalize lower,nfkc,space --max-record 3M text -";
        let mut running = shell.start(words);
        running.wait_for("text: longer than 3M when normalised");
        let peak = running.peak_memory();
        assert_eq!(running.finish().status, 2);
        assert!(peak < MOST, "{peak} bytes of memory");
    }

    #[test]
    fn a_device_without_end_is_not_read_into_memory() {
        let shell = Shell::with(&[("a", "some text")]);
        let mut running = shell.start("add i.twx -q --max-record 1M /dev/zero -");
        running.wait_for("/dev/zero: longer than 1M");
        assert!(running.peak_memory() < MOST);
        assert_eq!(running.finish().status, 2);
    }
}

#[test]
fn records_that_share_a_part_do_not_make_dedup_compare_each_with_all() {
    let shell = Shell::new();
    let words = |from: usize, count: usize| {
        (from..from + count)
            .map(|n| format!("{:07}", n * 7_919_317 % 9_999_991))
            .collect::<Vec<_>>()
    };
    let (shared, mut records) = (words(0, 60).join(" "), String::new());
    for n in 0..300 {
        let own = words(1000 + 20 * n, 18).join(" ");
        records += &format!("{{\"id\":\"{n}\",\"text\":\"{shared} {own}\"}}\n");
    }
    shell.write("in.jsonl", records);
    let all = shell.run("dedup all.twx in.jsonl -o all.jsonl --json --removed a").succeeds();
    assert_eq!((all.counted("added"), all.counted("limited")), (300, 0), "{all:?}");
    let words = "dedup few.twx in.jsonl -o few.jsonl --removed b --batch 20 --max-candidates 9";
    let few = shell.run(&format!("{words} --json")).succeeds();
    assert_eq!(few.counted("added"), 300);
    assert!((1..300).contains(&few.counted("limited")), "{few:?}");
    let few = shell.run(&format!("{words} --restart --skip-known")).succeeds();
    assert!(!few.stderr.contains("--max-candidates"), "known records are not compared: {few:?}");
    let none = shell.run("dedup few.twx in.jsonl -o few.jsonl --max-candidates 0");
    assert!(none.status == 2 && none.stderr.contains("--max-candidates"), "{none:?}");
}
