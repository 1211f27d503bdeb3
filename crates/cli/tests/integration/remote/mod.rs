//! Files behind addresses: read and written as those on this machine are, or an error.

mod s3;
mod web;

use crate::columns::{documents, parquet, table};
use crate::command::{Done, Shell, jsonl};
use crate::packing::Packing;
use s3::S3;
use std::sync::atomic::Ordering;
use std::thread::sleep;
use std::time::Duration;
use web::{Manners, Web};

const WHOLE: Manners = Manners {
    ranges: false,
    cut: None,
    busy: 0,
    takes_only: false,
    changes: false,
    redirects: false,
};
const RANGES: Manners = Manners { ranges: true, ..WHOLE };

/// Some documents as JSON Lines, with families of three that are similar.
fn lines(count: u64) -> String {
    let documents = documents(count);
    let pairs = documents.iter().map(|(id, text)| (&**id, text.as_deref().unwrap_or_default()));
    jsonl(&pairs.collect::<Vec<_>>())
}

/// What an index lists, with hashes of the texts and without times.
fn listing(shell: &Shell, index: &str) -> Vec<String> {
    let export = shell.run(&format!("export {index} -q")).succeeds().stdout;
    let documents = export.lines().filter(|line| line.contains("\"id\""));
    let mut documents: Vec<_> = documents
        .map(|line| {
            let mut value: serde_json::Value = serde_json::from_str(line).expect("JSON");
            value["inserted"] = serde_json::Value::Null;
            value.to_string()
        })
        .collect();
    documents.sort();
    documents
}

#[test]
fn a_web_server_gives_the_documents_that_files_give() {
    for manners in [WHOLE, RANGES, Manners { busy: 2, ..RANGES }] {
        let (shell, web) = (Shell::new(), Web::start(manners));
        let lines = lines(300);
        let rows = parquet(&table(&documents(300)), 50);
        for (name, content) in [
            ("a.jsonl", lines.clone().into_bytes()),
            ("a.jsonl.gz", Packing::Gzip.pack(&lines)),
            ("rows.parquet", rows.clone()),
            ("named-nothing", lines.clone().into_bytes()),
        ] {
            shell.write(name, &content);
            let address = web.put(name, content);
            shell.run(&format!("add local-{name}.twx {name} -q")).succeeds();
            shell.run(&format!("add web-{name}.twx {address} -q")).succeeds();
            let local = listing(&shell, &format!("local-{name}.twx"));
            assert!(local == listing(&shell, &format!("web-{name}.twx")), "{name}");
            assert_eq!(local.len(), 300);
        }
        // One text, and records without ids, are named by the address.
        let text = web.put("a%20text.txt", "some text");
        web.put("a text.txt", "some text");
        let bare = web.put("bare.csv", "text\nsome words\n");
        shell.run(&format!("add names.twx {text} {bare} -q")).succeeds();
        let listed = shell.run("list names.twx").succeeds().stdout;
        let ids: Vec<_> = listed.lines().filter_map(|line| line.split('\t').next()).collect();
        assert_eq!(ids, [text, format!("{bare}:2")]);
    }
}

#[test]
fn only_the_columns_asked_for_are_fetched() {
    let (shell, web) = (Shell::new(), Web::start(RANGES));
    let mut random = crate::support::Random(7);
    let noise: Vec<u8> = (0..30 << 20).map(|_| random.below(256) as u8).collect();
    let rows = crate::columns::with_bytes(&table(&documents(300)), &noise);
    let file = parquet(&rows, 1 << 20);
    let whole = file.len() as u64;
    let address = web.put("wide.parquet", file);
    shell.run(&format!("add i.twx {address} -q")).succeeds();
    let sent = web.sent.load(Ordering::Relaxed);
    assert!(sent < whole / 2, "{sent} of {whole} bytes");
}

#[test]
fn a_cut_connection_is_an_error_and_never_a_short_input() {
    let lines = lines(2_000);
    let rows = parquet(&table(&documents(2_000)), 100);
    for (name, content) in [
        ("a.jsonl", lines.clone().into_bytes()),
        ("a.txt", lines.clone().into_bytes()),
        ("a.jsonl.zst", Packing::Zstd.pack(&lines)),
        ("a.parquet", rows),
    ] {
        let half = content.len() / 2;
        // The state of a file has no name here, so it cannot be asked for again.
        let web = Web::start(Manners { cut: Some((half, u64::MAX)), ..WHOLE });
        let address = web.put(name, content.clone());
        let shell = Shell::new();
        let done = shell.run(&format!("add i.twx {address}"));
        assert_eq!(done.status, 2, "{name}: {done:?}");
        assert!(done.stderr.contains(&format!("{address}: ")), "{name}: {done:?}");
        // Here the rest is asked for, once the connection is cut.
        let web = Web::start(Manners { cut: Some((half, 2)), ..RANGES });
        let address = web.put(name, content);
        shell.run(&format!("add j.twx {address} -q")).succeeds();
        let expected = if name == "a.txt" { 1 } else { 2_000 };
        assert_eq!(listing(&shell, "j.twx").len(), expected, "{name}");
    }
}

#[test]
fn two_states_of_a_file_are_never_joined() {
    let lines = lines(2_000);
    let cut = Some((lines.len() / 2, 1));
    let web = Web::start(Manners { cut, changes: true, ..RANGES });
    let address = web.put("a.jsonl", lines);
    let shell = Shell::new();
    let done = shell.run(&format!("add i.twx {address}"));
    assert_eq!(done.status, 2, "{done:?}");
    assert!(done.stderr.contains(&format!("{address}: ")), "{done:?}");
}

#[test]
fn a_server_that_answers_with_another_page_has_not_taken_an_output() {
    let web = Web::start(Manners { redirects: true, ..WHOLE });
    web.put("page", "for people");
    let shell = Shell::new();
    shell.write("a.jsonl", lines(30));
    let out = format!("{}/kept.jsonl", web.address);
    let done = shell.run(&format!("dedup i.twx a.jsonl -o {out} -q --removed gone.jsonl"));
    done.fails_with("the server said that it took the file, and has none");
    let staged = shell.names().into_iter().any(|name| name.starts_with("i.twx."));
    assert!(staged, "it can be copied again: {:?}", shell.names());
}

#[test]
fn addresses_that_lead_nowhere_are_named_with_the_reason() {
    let (shell, web) = (Shell::new(), Web::start(RANGES));
    let address = web.put("a.jsonl", lines(3));
    for (words, message) in [
        (format!("add i.twx {}/nosuch.jsonl", web.address), "nosuch.jsonl: is not there"),
        (format!("add i.twx {}/", web.address), "a web server does not list its files"),
        (format!("add i.twx {address}?token=1"), "is an address with a query"),
        ("add i.twx ftp://127.0.0.1/a.jsonl".to_owned(), "ftp:// is not known"),
        (format!("dedup i.twx {address} -o {address}"), "a.jsonl: is an input"),
        (format!("dedup i.twx {address} -o {}/", web.address), "holds the input"),
        (
            format!("dedup i.twx {address} -o {}", address.replace("http", "HTTP")),
            "a.jsonl: is an input",
        ),
        (format!("add i.twx {}/b%2Fa.jsonl", web.address), "a slash within a name"),
        (format!("dedup i.twx {address} -o o --removed {}/gone", web.address), "name a file"),
    ] {
        let done = shell.run(&words);
        assert_eq!(done.status, 2, "{words}: {done:?}");
        assert!(done.stderr.contains(message), "{words}: {done:?}");
        assert!(shell.names().is_empty(), "{words}: {:?}", shell.names());
    }
}

#[test]
fn a_web_server_takes_outputs_when_they_are_complete() {
    let (shell, web) = (Shell::new(), Web::start(RANGES));
    let address = web.put("a.jsonl", lines(300));
    let out = format!("{}/out/kept.jsonl.gz", web.address);
    shell.run(&format!("dedup i.twx {address} -o {out} -q --removed gone.jsonl")).succeeds();
    shell.write("a.jsonl", lines(300));
    shell.run("dedup j.twx a.jsonl -o kept.jsonl.gz -q --removed gone2.jsonl").succeeds();
    assert!(web.file("out/kept.jsonl.gz").expect("an output") == shell.read("kept.jsonl.gz"));
    assert!(shell.read("gone.jsonl") == shell.read("gone2.jsonl"));
    shell.run(&format!("list i.twx -o {}/ids.tsv -q", web.address)).succeeds();
    shell.run("list j.twx -o ids.tsv -q").succeeds();
    let ids = |table: Vec<u8>| String::from_utf8(table).expect("UTF-8").lines().count();
    assert_eq!(ids(web.file("ids.tsv").expect("an output")), ids(shell.read("ids.tsv")));
    let made =
        ["a.jsonl", "gone.jsonl", "gone2.jsonl", "i.twx", "ids.tsv", "j.twx", "kept.jsonl.gz"];
    let mut names = shell.names();
    names.sort();
    assert_eq!(names, made);
}

#[test]
fn an_address_that_may_only_be_written_takes_an_output() {
    let (shell, web) = (Shell::new(), Web::start(Manners { takes_only: true, ..WHOLE }));
    shell.write("a.jsonl", lines(30));
    let out = format!("{}/kept.jsonl", web.address);
    shell.run(&format!("dedup i.twx a.jsonl -o {out} -q --removed gone.jsonl")).succeeds();
    assert!(web.file("kept.jsonl").is_some());
}

#[cfg(unix)]
#[test]
fn a_signal_ends_a_copy_that_takes_too_long_and_the_same_command_copies_again() {
    let (shell, web) = (Shell::new(), Web::start(WHOLE));
    shell.write("a.jsonl", lines(3_000));
    let out = format!("{}/kept.jsonl", web.address);
    let words = format!("dedup i.twx a.jsonl -o {out} --removed gone.jsonl");
    web.hangs.store(true, Ordering::Relaxed);
    let mut running = shell.start(&words);
    let staged = || shell.names().into_iter().find(|name| name.starts_with("i.twx."));
    while running.is_running() && !staged().is_some_and(|name| name.ends_with(".kept.jsonl")) {
        sleep(Duration::from_millis(10));
    }
    running.signal("INT");
    let done = running.finish();
    assert_eq!(done.status, 2, "{done:?}");
    assert!(done.stderr.contains("kept.jsonl: interrupted; what it is to hold"), "{done:?}");
    assert!(staged().is_some());
    web.hangs.store(false, Ordering::Relaxed);
    shell.run(&words).succeeds();
    shell.run("dedup j.twx a.jsonl -o local.jsonl -q --removed gone2.jsonl").succeeds();
    assert!(web.file("kept.jsonl") == Some(shell.read("local.jsonl")));
    assert_eq!(staged(), None);
}

/// What is at the address when a killed run goes on: what it has copied itself, nothing, or what an
/// earlier run has written.
#[cfg(target_os = "linux")]
#[test]
fn a_killed_run_replaces_no_larger_output_behind_an_address() {
    // The input, the output, the file of the output that is looked at, and more options.
    let ways = [
        ("in/a.jsonl", "kept.jsonl", "kept.jsonl", ""),
        ("in/a.jsonl", "kept.jsonl", "kept.jsonl", " --keep longest"),
        ("in", "kept/", "kept/a.jsonl", " --keep longest"),
    ];
    for (there, (input, out, name, options)) in
        ["its own", "nothing", "more"].into_iter().flat_map(|there| ways.map(|way| (there, way)))
    {
        let (shell, web) = (Shell::new(), Web::start(WHOLE));
        shell.write("in/a.jsonl", lines(30));
        let out = format!("{}/{out}", web.address);
        let words = format!("dedup i.twx {input} -o {out} -q --skip-known --removed gone{options}");
        shell.run(&words).succeeds();
        let whole = web.file(name).expect("an output");
        web.remove(name);
        let id = shell.ids()[0].clone();
        shell.run(&format!("remove i.twx -q {id}")).succeeds();
        crate::cli_dedup_replaced::killed_at_rename(&shell, &words);
        let all = String::from_utf8(shell.read("in/a.jsonl")).expect("UTF-8");
        let own = all.split_inclusive('\n').find(|line| line.contains(&format!("\"{id}\"")));
        let own = own.expect("the record").as_bytes().to_vec();
        match there {
            "its own" => drop(web.put(name, own.clone())),
            "more" => drop(web.put(name, whole.clone())),
            _ => {}
        }
        let done = shell.run(&words);
        if there == "more" {
            done.fails_with("an earlier run has written");
            assert!(web.file(name) == Some(whole), "{name}{options}");
        } else {
            done.succeeds();
            assert!(web.file(name) == Some(own), "{there}: {name}{options}");
        }
    }
}

/// Runs the command with the server's variables.
fn with(server: &S3, shell: &Shell, words: &str) -> Done {
    shell.start_in_environment(words, &server.variables()).finish()
}

#[test]
fn a_bucket_is_read_and_written_like_a_folder() {
    let Some(server) = S3::start() else { return };
    let shell = Shell::new();
    let all = documents(900);
    let (first, rest) = all.split_at(300);
    let (second, third) = rest.split_at(300);
    let as_lines = |part: &[(String, Option<String>)]| {
        let part = part.iter().map(|(id, text)| (&**id, text.as_deref().unwrap_or_default()));
        jsonl(&part.collect::<Vec<_>>())
    };
    shell.write("in/a b.jsonl", as_lines(first));
    shell.write("in/data/train-0.parquet", parquet(&table(second), 50));
    shell.write("in/z.jsonl.gz", Packing::Gzip.pack(as_lines(third)));
    // What the command writes, it reads: the bucket is filled through it.
    with(
        &server,
        &shell,
        "dedup fill.twx in -o s3://corpus/in/ -q --threshold 1 --removed /dev/null",
    )
    .succeeds();
    shell.run("dedup l.twx in -o filled/ -q --threshold 1 --removed /dev/null").succeeds();
    for name in ["a b.jsonl", "data/train-0.parquet", "z.jsonl.gz"] {
        let object = server.object(&format!("in/{}", name.replace(' ', "%20")));
        let object = object.or_else(|| server.object(&format!("in/{name}")));
        let object = object.expect(name);
        assert!(object == shell.read(&format!("filled/{name}")), "{name}: {} bytes", object.len());
    }
    // A folder of the bucket gives what a folder of files gives.
    with(&server, &shell, "add bucket.twx s3://corpus/in/ -q").succeeds();
    shell.run("add folder.twx filled -q").succeeds();
    assert!(listing(&shell, "bucket.twx") == listing(&shell, "folder.twx"));
    let words = "dedup d.twx s3://corpus/in/ -o s3://corpus/kept/ -q --removed gone.jsonl";
    with(&server, &shell, words).succeeds();
    shell.run("dedup e.twx filled -o kept/ -q --removed gone2.jsonl").succeeds();
    for name in ["data/train-0.parquet", "z.jsonl.gz"] {
        let kept = shell.read(&format!("kept/{name}"));
        assert!(server.object(&format!("kept/{name}")) == Some(kept), "{name}");
    }
    assert!(shell.read("gone.jsonl") == shell.read("gone2.jsonl"));
    // Empty objects whose names end in a slash stand for folders.
    if !server.checks_keys() {
        server.put_empty("in/data/");
        server.put_empty("in/lonely/");
        with(&server, &shell, "add marked.twx s3://corpus/in/ -q").succeeds();
        assert!(listing(&shell, "marked.twx") == listing(&shell, "folder.twx"));
    }
    let globbed = "add g.twx s3://corpus/in/ -q -g *.parquet";
    with(&server, &shell, globbed).succeeds();
    assert_eq!(listing(&shell, "g.twx").len(), 300);
    // A folder that is left out is left out with all its files.
    with(&server, &shell, "add h.twx S3://corpus/in/ -q -g !data").succeeds();
    assert_eq!(listing(&shell, "h.twx").len(), 600);
    for words in [
        "dedup k.twx s3://corpus/in/z.jsonl.gz -o s3a://corpus//in/z.jsonl.gz",
        "query g.twx s3://corpus/in/ -q -o s3://corpus/in/z.jsonl",
    ] {
        with(&server, &shell, words).fails_with(": is an input; write to another file");
    }
    with(&server, &shell, "pairs bucket.twx -q --threshold .7 -o s3://corpus/pairs.parquet")
        .succeeds();
    shell.run("pairs bucket.twx -q --threshold .7 -o pairs.parquet").succeeds();
    assert!(server.object("pairs.parquet") == Some(shell.read("pairs.parquet")));
    let left = shell.names().into_iter().find(|name| name.contains("twx."));
    assert_eq!(left, None, "what was made for the bucket is gone");
    let done = with(&server, &shell, "add bucket.twx s3://corpus/nosuch.jsonl");
    assert!(done.stderr.contains("s3://corpus/nosuch.jsonl: is not there"), "{done:?}");
    if server.checks_keys() {
        let mut variables = server.variables();
        variables[1].1 = "wrong";
        let done = shell.start_in_environment("add x.twx s3://corpus/in/", &variables).finish();
        assert!(done.stderr.contains("access was denied"), "{done:?}");
    }
}

#[test]
fn a_large_output_goes_to_a_bucket_in_parts() {
    let Some(server) = S3::start() else { return };
    let shell = Shell::new();
    let text = |n: u64| crate::support::text(n, 0, 400);
    let all: Vec<_> = (0..9_000).map(|n| (format!("d{n}"), text(n))).collect();
    let lines = jsonl(&all.iter().map(|(id, text)| (&**id, &**text)).collect::<Vec<_>>());
    assert!(lines.len() > 17 << 20, "several parts");
    shell.write("a.jsonl", &lines);
    with(&server, &shell, "dedup i.twx a.jsonl -o s3://corpus/big.jsonl -q --threshold 1")
        .succeeds();
    assert!(server.object("big.jsonl").as_deref() == Some(lines.as_bytes()));
    with(&server, &shell, "add j.twx s3://corpus/big.jsonl -q").succeeds();
    assert_eq!(listing(&shell, "j.twx").len(), 9_000);
}

#[test]
fn a_run_that_was_killed_goes_on_and_its_output_is_complete_or_absent() {
    let Some(server) = S3::start() else { return };
    let shell = Shell::new();
    shell.write("a.jsonl", lines(3_000));
    shell.run("dedup whole.twx a.jsonl -o whole.jsonl -q --removed gone.jsonl").succeeds();
    let whole = shell.read("whole.jsonl");
    let words = "dedup i.twx a.jsonl -o s3://corpus/kept.jsonl -q --batch 50 --removed g.jsonl";
    for round in 1..8 {
        let running = shell.start_in_environment(words, &server.variables());
        sleep(Duration::from_millis(40 * round));
        running.kill();
        let object = server.object("kept.jsonl");
        assert!(object.is_none_or(|object| object == whole));
    }
    with(&server, &shell, words).succeeds();
    // What is complete is left alone.
    let done = with(&server, &shell, &words.replace(" -q", ""));
    assert!(done.stderr.starts_with("already finished"), "{done:?}");
    let object = server.object("kept.jsonl").expect("an output");
    assert!(object == whole, "{} of {} bytes", object.len(), whole.len());
    assert!(shell.read("g.jsonl") == shell.read("gone.jsonl"));
}
