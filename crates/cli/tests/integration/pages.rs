//! Running the examples of a page: every line of a ```console block that begins with `$ ` is run in
//! `sh`, in the order of its section, which has a folder of its own with the files of docs/examples
//! and the Gospels in it. What differs from run to run is masked, and `...` stands for anything.

use crate::PROGRAM;
use crate::command::Shell;
use std::path::Path;

/// A command with what it should print.
pub struct Example {
    /// The line of the page.
    line: usize,
    pub command: String,
    expected: Vec<String>,
}

/// The root of the repository.
fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).expect("a package is in crates/")
}

/// The examples of each section of a page, with its title.
pub fn sections(page: &str) -> Vec<(String, Vec<Example>)> {
    let text = std::fs::read_to_string(root().join(page)).expect("the page is there");
    let mut sections = vec![(page.to_owned(), Vec::<Example>::new())];
    let (mut inside, mut console) = (false, false);
    for (number, line) in (1..).zip(text.lines()) {
        let (_, examples) = sections.last_mut().expect("the first");
        if let Some(language) = line.strip_prefix("```") {
            inside = !inside;
            console = inside && language == "console";
        } else if let (true, Some(command)) = (console, line.strip_prefix("$ ")) {
            examples.push(Example { line: number, command: command.into(), expected: Vec::new() });
        } else if console {
            let last = examples.last_mut();
            last.unwrap_or_else(|| panic!("{page}:{number}: no command"))
                .expected
                .push(line.into());
        } else if !inside && (line.starts_with("## ") || line.starts_with("### ")) {
            sections.push((line.trim_start_matches('#').trim().into(), Vec::new()));
        }
    }
    sections
}

/// The line without what differs from run to run: numbers before ` s` and `B/s`, and seconds of
/// summaries.
fn masked(line: &str) -> String {
    const MARKS: [char; 3] = [',', ':', ';'];
    let words: Vec<&str> = line.split_whitespace().collect();
    let mut out = Vec::new();
    for (at, word) in words.iter().enumerate() {
        let next = words.get(at + 1).map_or("", |next| next.trim_end_matches(MARKS));
        let is_number = word.parse::<f64>().is_ok();
        match (is_number, next) {
            (true, "s" | "B/s" | "kB/s" | "MB/s" | "GB/s") => out.push("N".to_owned()),
            // A rate of a busy machine has a smaller unit.
            _ if word.trim_end_matches(MARKS).ends_with("B/s") => out.push("RATE".to_owned()),
            _ => out.push(without_seconds(word)),
        }
    }
    out.join(" ")
}

fn without_seconds(word: &str) -> String {
    const FIELD: &str = "\"seconds\":";
    let Some((before, after)) = word.split_once(FIELD) else { return word.to_owned() };
    let rest = after.trim_start_matches(|c: char| c.is_ascii_digit() || ".e-".contains(c));
    format!("{before}{FIELD}N{rest}")
}

/// Whether a line is as expected, where `...` stands for any text.
fn fits(expected: &str, line: &str) -> bool {
    let mut parts = expected.split("...");
    let Some(mut rest) = parts.next().and_then(|first| line.strip_prefix(first)) else {
        return false;
    };
    let mut parts = parts.peekable();
    if parts.peek().is_none() {
        return rest.is_empty();
    }
    while let Some(part) = parts.next() {
        if parts.peek().is_none() {
            return rest.ends_with(part);
        }
        let Some(at) = rest.find(part) else { return false };
        rest = &rest[at + part.len()..];
    }
    false
}

/// Whether all lines are as expected, where a line `...` stands for any lines.
fn all_fit(expected: &[String], lines: &[String]) -> bool {
    match (expected.split_first(), lines.split_first()) {
        (None, None) => true,
        (Some((first, after)), _) if first == "..." => {
            (0..=lines.len()).any(|skipped| all_fit(after, &lines[skipped..]))
        }
        (Some((first, after)), Some((line, rest))) => fits(first, line) && all_fit(after, rest),
        _ => false,
    }
}

/// A folder with the files that examples may name.
fn folder() -> Shell {
    let shell = Shell::new();
    for (from, to) in
        [("docs/examples", ""), ("crates/lab/data/gospels", "crates/lab/data/gospels/")]
    {
        for entry in std::fs::read_dir(root().join(from)).expect("a folder") {
            let path = entry.expect("an entry").path();
            let name = path.file_name().and_then(|name| name.to_str()).expect("a name");
            shell.write(&format!("{to}{name}"), std::fs::read(&path).expect("a file"));
        }
    }
    std::fs::create_dir(shell.path("target")).expect("a folder");
    shell
}

pub fn run_page(page: &str, least: usize) {
    let mut seen = 0;
    for (title, examples) in sections(page) {
        let shell = folder();
        for Example { line, command, expected } in examples {
            // Both streams, as a person sees them.
            // An alias holds from the next line on.
            let script = format!(
                "alias {PROGRAM}='\"$TWINDEX\"'
unset NO_COLOR
"
            );
            let done = shell.sh(&format!(
                "{script}{{
{command}
}} 2>&1"
            ));
            let got: Vec<String> = done.stdout.lines().map(masked).collect();
            let mut expected: Vec<String> = expected.iter().map(|line| masked(line)).collect();
            while expected.last().is_some_and(String::is_empty) {
                expected.pop();
            }
            let tells_nothing = expected.iter().all(|line| line == "...");
            assert!(done.status == 0 || !tells_nothing, "{page}:{line}: {command}: {done:?}");
            assert!(
                all_fit(&expected, &got),
                "{page}:{line}: {title}: {command}\nexpected:\n{}\ngot:\n{}",
                expected.join("\n"),
                done.stdout
            );
            seen += 1;
        }
    }
    assert!(seen >= least, "{page}: {seen} examples");
}

#[test]
fn what_differs_from_run_to_run_is_masked() {
    for (expected, line) in [
        (
            "added 3 documents in 0.1 s: 9 B of text, 3.5 MB/s",
            "added 3 documents in 12.0 s: 9 B of text, 9.1 kB/s",
        ),
        ("{\"bytes\":3,\"seconds\":0.1}", "{\"bytes\":3,\"seconds\":2e-5}"),
        ("a   b", "a\tb"),
        ("signature 00ff...", "signature 00ffee"),
        ("...", "anything"),
    ] {
        assert!(fits(&masked(expected), &masked(line)), "{expected}: {line}");
    }
    assert!(!fits(&masked("added 3 documents"), &masked("added 4 documents")));
    assert!(!fits("a...c", "abcd"));
    let lines = |text: &str| text.lines().map(str::to_owned).collect::<Vec<_>>();
    assert!(all_fit(&lines("a\n...\nd"), &lines("a\nb\nc\nd")));
    assert!(!all_fit(&lines("a\n...\ne"), &lines("a\nb\nc\nd")));
}

/// Every command that the help lists has an example on the page.
pub fn has_examples_of_every_command(page: &str) {
    let help = Shell::new().run("--help").succeeds().stdout;
    let (_, commands) = help.split_once("Commands:\n").expect("a list of commands");
    let names = commands.lines().take_while(|line| !line.is_empty());
    let names: Vec<&str> = names.filter_map(|line| line.split_whitespace().next()).collect();
    assert!(!names.is_empty(), "no commands in {help}");
    let sections = sections(page);
    let all: Vec<&str> = sections
        .iter()
        .flat_map(|(_, examples)| examples)
        .map(|example| example.command.as_str())
        .collect();
    for name in names.into_iter().filter(|name| *name != "help") {
        let called = all.iter().any(|line| line.contains(&format!("{PROGRAM} {name}")));
        assert!(called, "{page} has no example of {name}");
    }
}
