//! Outputs whose names end in `.gz` or `.zst` are compressed.

use crate::command::{Shell, jsonl};
use crate::support::text;
use std::io::Read;

fn unpacked(name: &str, bytes: &[u8]) -> String {
    let mut text = String::new();
    let read = if name.ends_with("gz") {
        flate2::read::MultiGzDecoder::new(bytes).read_to_string(&mut text)
    } else {
        zstd::Decoder::new(bytes).and_then(|mut zstd| zstd.read_to_string(&mut text))
    };
    read.unwrap_or_else(|error| panic!("{name} is not compressed: {error}"));
    text
}

fn input(count: u64) -> String {
    let id = |n: u64| format!("r{n}");
    (0..count).map(|n| jsonl(&[(&id(n), &text(n / 2, n % 2, 40))])).collect()
}

#[test]
fn the_output_of_dedup_is_compressed_if_its_name_says_so() {
    let shell = Shell::new();
    shell.write("in.jsonl", input(300));
    shell.run("dedup plain.twx -q in.jsonl -o out --removed gone").succeeds();
    let plain = |name: &str| String::from_utf8(shell.read(name)).expect("UTF-8");
    for (at, suffix) in ["gz", "zst"].into_iter().enumerate() {
        for batch in [7, 10_000] {
            let words = format!(
                "dedup {at}{batch}.twx -q in.jsonl --batch {batch} -o out.{suffix} \
                 --removed gone.{suffix}"
            );
            shell.run(&words).succeeds();
            for name in ["out", "gone"] {
                let packed = format!("{name}.{suffix}");
                assert_eq!(unpacked(suffix, &shell.read(&packed)), plain(name), "{words}");
            }
        }
        // What was written is read again.
        let again = shell.run(&format!("add again{at}.twx --json out.{suffix}")).succeeds();
        let kept = plain("out").lines().count() as u64;
        assert_eq!(again.counted("added"), kept, "its first line says that it holds JSON");
    }
    shell.pipe("dedup e.twx -q -o empty.gz -", "").succeeds();
    assert_eq!(unpacked("gz", &shell.read("empty.gz")), "");
}

#[test]
fn an_export_is_compressed_if_its_name_says_so() {
    let shell = Shell::with(&[("a", "some text"), ("b", "another one")]);
    let plain = shell.run("export i.twx -q").succeeds().stdout;
    for name in ["e.jsonl.gz", "e.zst"] {
        shell.run(&format!("export i.twx -q -o {name}")).succeeds();
        assert_eq!(unpacked(name, &shell.read(name)), plain);
    }
}

#[cfg(unix)]
#[test]
fn a_compressed_output_goes_on_where_it_was_interrupted() {
    for suffix in ["gz", "zst"] {
        let words = format!(
            "dedup i.twx -v --batch 40 --format lines --id-prefix p -o out.{suffix} \
                             --removed gone.{suffix} -"
        );
        // The last line of the first part has no end, which the second part adds.
        let lines: String = (0..300).map(|n| text(n / 2, n % 2, 40) + "\n").collect();
        let unbroken = Shell::new();
        unbroken.pipe(&words, lines.as_str()).succeeds();
        let shell = Shell::new();
        let mut running = shell.start(&words);
        running.send(&lines.split_inclusive('\n').take(130).collect::<String>());
        running.wait_for("committed 120 records");
        running.signal("INT");
        assert_eq!(running.end().status, 2);
        shell.pipe(&words, lines.as_str()).succeeds();
        for name in ["out", "gone"] {
            let name = format!("{name}.{suffix}");
            let [whole, resumed] = [&unbroken, &shell].map(|s| unpacked(suffix, &s.read(&name)));
            assert!(whole == resumed && !whole.is_empty(), "{name}");
        }
    }
}
