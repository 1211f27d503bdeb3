//! Compressed input that was cut short, is corrupt, or unpacks to more than anybody wants.

use crate::command::{Shell, jsonl};
use crate::packing::Packing;

const PACKED: [Packing; 2] = [Packing::Gzip, Packing::Zstd];

fn records() -> String {
    jsonl(&[("a", "some text"), ("b", "another text"), ("c", "a third text")])
}

#[test]
fn what_was_cut_short_anywhere_is_reported_as_failed() {
    for packing in PACKED {
        let shell = Shell::with(&[("x", "a text of its own")]);
        let packed = packing.pack(records());
        let name = format!("in.jsonl{}", packing.suffix());
        for length in 0..packed.len() {
            shell.write(&name, &packed[..length]);
            let done = shell.run(&format!("add i.twx --json {name}"));
            assert_eq!((done.status, done.counted("failed")), (2, 1), "{length}: {done:?}");
            let message = done.stderr.lines().next().unwrap_or_default();
            assert!(message.starts_with(&format!("twindex: {name}: cut short")), "{message}");
        }
        shell.write(&name, &packed);
        shell.run(&format!("add i.twx {name}")).succeeds();
        assert_eq!(shell.ids().len(), 4);
    }
}

#[test]
fn what_was_cut_short_is_reported_in_every_format() {
    for packing in PACKED {
        let shell = Shell::with(&[("x", "a text of its own")]);
        let packed = packing.pack("id,text\nx,y\n".repeat(300));
        let short = &packed[..packed.len() - 3];
        shell.write("d/in", short);
        for format in ["text", "lines", "jsonl", "csv"] {
            let words = format!("add i.twx -q --format {format}");
            for done in [shell.run(&format!("{words} d")), shell.pipe(&format!("{words} -"), short)]
            {
                assert!(done.status == 2 && done.stderr.contains("cut short"), "{done:?}");
            }
        }
        shell.assert_clean();
    }
}

#[test]
fn what_is_corrupt_is_an_error_and_other_files_go_on() {
    for packing in PACKED {
        let shell = Shell::new();
        let mut packed = packing.pack(records());
        let end = packed.len() - 6;
        packed[end] ^= 0xFF;
        shell.write("in.jsonl", packed);
        shell.write("next.jsonl", jsonl(&[("d", "more")]));
        let done = shell.run("add i.twx --json in.jsonl next.jsonl");
        assert_eq!((done.status, done.counted("failed")), (2, 1), "{done:?}");
        assert!(done.stderr.starts_with("twindex: in.jsonl: corrupt"), "{done:?}");
        assert!(shell.ids().contains(&"d".to_owned()));
    }
}

#[test]
fn what_follows_compressed_data_must_be_compressed_too() {
    for packing in PACKED {
        let shell = Shell::new();
        let two = [packing.pack("one\n"), packing.pack("two\n")].concat();
        shell.write("two", &two);
        shell.run("add i.twx --format lines two").succeeds();
        assert_eq!(shell.ids(), ["two:1", "two:2"]);
        shell.write("tail", [&two[..], b"some other bytes"].concat());
        let done = shell.run("add i.twx -q --format lines tail");
        assert!(done.status == 2 && done.stderr.contains("tail: corrupt"), "{done:?}");
    }
}

/// Without a bound, 53 bytes became an index of 539 MB.
#[test]
fn a_few_bytes_do_not_become_millions_of_documents() {
    for (line, format) in [("\n", "lines"), ("a\n", "lines"), ("{\"text\":\"\"}\n", "jsonl")] {
        let shell = Shell::new();
        shell.write("bomb.zst", Packing::Zstd.pack(line.repeat(1 << 20)));
        let done = shell.run(&format!("add i.twx --json --format {format} bomb.zst"));
        assert_eq!((done.status, done.counted("failed")), (2, 1), "{done:?}");
        let said = "twindex: bomb.zst: has more than 200 records for each of its compressed bytes";
        assert!(done.stderr.starts_with(said), "{done:?}");
        assert!((1 << 16..1 << 20).contains(&done.counted("added")), "{done:?}");
    }
}

#[test]
fn the_input_after_one_that_is_refused_is_read() {
    let shell = Shell::new();
    shell.write("bomb.zst", Packing::Zstd.pack("\n".repeat(1 << 20)));
    shell.write("good", "a good line\n");
    let done = shell.run("add i.twx --json --format lines bomb.zst good");
    assert_eq!((done.status, done.counted("failed")), (2, 1), "{done:?}");
    assert_eq!(shell.run("get i.twx good:1").status, 0);
}

#[test]
fn repetitive_logs_and_lines_that_are_not_compressed_are_read() {
    let shell = Shell::new();
    let line = |n: u64| format!("GET /health 200 {}\n", n / 100);
    let log: String = (0..100_000).map(line).collect();
    for packing in PACKED {
        let packed = packing.pack(&log);
        assert!(packed.len() * 60 < log.len(), "{packing:?}: {}", packed.len());
        shell.write("log", packed);
        let done = shell.run(&format!("add {packing:?}.twx --json --format lines log")).succeeds();
        assert_eq!(done.counted("added"), 100_000);
    }
    let few = Packing::Zstd.pack("\n".repeat(60_000));
    assert!(few.len() < 100);
    let done = shell.pipe("add few.twx --json --format lines -", few).succeeds();
    assert_eq!((done.counted("added"), done.counted("empty")), (60_000, 60_000));
    let plain = "\n".repeat(100_000);
    let done = shell.pipe("add plain.twx --json --format lines -", plain).succeeds();
    assert_eq!(done.counted("added"), 100_000);
}

#[cfg(target_os = "linux")]
mod bombs {
    use super::*;
    use crate::command::Running;

    /// All that a small index needs, the limit of 1 MiB, and what a decoder holds.
    const MOST: u64 = 64 << 20;

    /// This many times 16 MiB of this byte, in a few kilobytes.
    fn bomb(packing: Packing, byte: u8, times: usize) -> Vec<u8> {
        packing.pack(vec![byte; 16 << 20]).repeat(times)
    }

    fn peak_at(mut running: Running, words: &'static str) -> u64 {
        running.wait_for(words);
        let peak = running.peak_memory();
        assert_eq!(running.finish().status, 2);
        peak
    }

    #[test]
    fn a_bomb_as_a_text_takes_no_more_memory_than_the_limit() {
        for packing in PACKED {
            let shell = Shell::with(&[("a", "some text")]);
            shell.write("bomb.txt", bomb(packing, b'x', 64));
            let running = shell.start("add i.twx -q --max-record 1M bomb.txt -");
            let peak = peak_at(running, "bomb.txt: longer than 1M");
            assert!(peak < MOST, "{packing:?}: {peak} bytes");
        }
    }

    /// Without the limit, 92 kB took 2.1 GB.
    #[test]
    fn a_bomb_in_an_export_is_passed_over() {
        let source = Shell::with(&[("a", "some text"), ("b", "another text")]);
        let export = source.run("export i.twx -q").succeeds().stdout;
        for packing in PACKED {
            let shell = Shell::new();
            let long = bomb(packing, b'x', 16);
            shell.write("export", [packing.pack(&export), long, packing.pack("\n")].concat());
            let mut running = shell.start("import i.twx --max-record 1M export");
            running.wait_for("export:4: longer than 1M, the most that a record may have");
            let peak = running.peak_memory_if_running().unwrap_or_default();
            let done = running.finish();
            assert_eq!(done.status, 2, "{done:?}");
            assert!(peak < MOST, "{packing:?}: {peak} bytes");
            assert_eq!(shell.ids(), ["a", "b"]);
        }
        source.write("export", export);
        let done = source.run("import j.twx --json --max-record 400 export");
        assert_eq!((done.status, done.counted("failed")), (2, 2), "{done:?}");
        assert!(done.stderr.starts_with("twindex: export:2: longer than 400 bytes"), "{done:?}");
    }

    #[test]
    fn many_bombs_in_a_directory_share_the_limit() {
        let shell = Shell::with(&[("a", "some text")]);
        for (number, packing) in PACKED.into_iter().cycle().take(40).enumerate() {
            shell.write(&format!("d/{number}"), bomb(packing, b' ', 64));
        }
        shell.write("d/z", "x".repeat(2 << 20));
        let running = shell.start("add i.twx -q --max-record 1M d -");
        let peak = peak_at(running, "d/z: longer than 1M");
        assert!(peak < MOST, "{peak} bytes");
    }

    #[test]
    fn a_bomb_of_one_line_or_record_is_passed_over() {
        for (packing, format, byte, times) in [
            (Packing::Zstd, "lines", b'x', 64),
            (Packing::Gzip, "lines", b'x', 8),
            (Packing::Zstd, "jsonl", b'[', 8),
            (Packing::Zstd, "csv", b'\n', 8),
            (Packing::Zstd, "tokens", b' ', 8),
        ] {
            let shell = Shell::new();
            shell.run("create i.twx --shingle token").succeeds();
            let start = packing.pack("id,text\n\"");
            shell.write("bomb", [start, bomb(packing, byte, times)].concat());
            let words = format!("add i.twx -q --max-record 1M --format {format} bomb -");
            let line = match format {
                "csv" => "bomb:2: a quote opens",
                _ => "bomb:2: longer than 1M",
            };
            let peak = peak_at(shell.start(&words), line);
            assert!(peak < MOST, "{format}: {peak} bytes");
        }
    }
}

#[test]
fn exports_and_lists_of_ids_may_be_compressed_too() {
    let shell = Shell::with(&[("a", "a text of some length"), ("b", "another one of it")]);
    let export = shell.run("export i.twx -q").succeeds().stdout.into_bytes();
    for packing in PACKED {
        shell.write("export", packing.pack(&export));
        let name = format!("{packing:?}.twx");
        shell.run(&format!("import {name} -q export")).succeeds();
        shell.write("ids", packing.pack(b"b\n"));
        shell.run(&format!("remove {name} -q --ids-from ids")).succeeds();
        assert_eq!(shell.run(&format!("list {name}")).stdout, "a\n");
        shell.write("ids", &packing.pack(b"a\n")[..9]);
        let cut = shell.run(&format!("remove {name} --ids-from ids"));
        assert!(cut.status == 2 && cut.stderr.contains("cut short"), "{cut:?}");
    }
}
