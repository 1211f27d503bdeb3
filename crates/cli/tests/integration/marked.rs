//! A byte order mark before what is read changes nothing of what it is taken for.

use crate::command::Shell;

const MARK: &str = "\u{feff}";

/// Where two inputs differ in nothing but a mark: both names as paths, so that only the content
/// tells.
fn write_both(shell: &Shell, text: &str) {
    shell.write("plain/in", text);
    shell.write("marked/in", format!("{MARK}{text}"));
}

#[test]
fn marked_fasta_on_standard_input_is_one_genome() {
    let fasta = ">s1\nACGTACGTAGG\nACGTT\n>s2\nTTTTACG\n";
    for before in ["", "\n", ";c\n"] {
        let shell = Shell::new();
        let input = format!("{MARK}{before}{fasta}");
        shell.pipe("add -q x.twx --shingle kmer:5 -", input).succeeds();
        shell.write("s.fa", fasta);
        let found = shell.run("query -q x.twx --scan --threshold 0.9 s.fa").succeeds();
        assert_eq!((found.column(1), found.column(2)), (vec!["#1"], vec!["1.0"]), "{before:?}");
        assert_eq!(shell.run("list x.twx").succeeds().column(0), ["#1"], "{before:?}");
    }
}

#[test]
fn marked_fastq_on_standard_input_is_refused() {
    let shell = Shell::new();
    let done =
        shell.pipe("add -q x.twx --shingle kmer:5 -", format!("{MARK}@r\nACGTA\n+\nIIIII\n"));
    done.fails_with("is FASTQ");
}

#[test]
fn marked_json_lines_on_standard_input_are_records() {
    let lines = "{\"id\":\"x\",\"text\":\"hello there\"}\n{\"id\":\"y\",\"text\":\"more\"}\n";
    for before in ["", "\r\n\n"] {
        let shell = Shell::new();
        shell.pipe("add -q y.twx -", format!("{MARK}{before}{lines}")).succeeds();
        assert_eq!(shell.run("list y.twx").succeeds().column(0), ["x", "y"], "{before:?}");
        let again = shell.pipe("add y.twx --json -", lines).succeeds();
        assert_eq!(again.counted("unchanged"), 2, "{before:?}");
    }
}

#[test]
fn a_marked_file_whose_name_says_nothing_is_told_by_what_follows() {
    let shell = Shell::new();
    write_both(&shell, "{\"id\":\"x\",\"text\":\"hello there\"}\n");
    shell.run("add -q y.twx plain/in").succeeds();
    let again = shell.run("add y.twx --json marked/in").succeeds();
    assert_eq!((again.counted("unchanged"), again.counted("added")), (1, 0));
    assert_eq!(shell.run("list y.twx").succeeds().column(0), ["x"]);
}

#[test]
#[cfg(unix)]
fn a_marked_pipe_whose_name_says_nothing_is_told_by_what_follows() {
    let shell = Shell::new();
    write_both(&shell, "{\"id\":\"x\",\"text\":\"hello there\"}\n");
    shell.sh("cat marked/in | $TWINDEX add -q y.twx /dev/stdin").succeeds();
    assert_eq!(shell.run("list y.twx").succeeds().column(0), ["x"]);
}

#[test]
fn marked_weights_are_compared_and_asked_for() {
    let shell = Shell::new();
    write_both(&shell, "{\"sea\":2.5,\"ship\":0.5}\n");
    let done = shell.run("compare --weighted plain/in marked/in --json").succeeds();
    assert_eq!(
        (&done.json()[0]["similarity"], &done.json()[0]["shared"]),
        (&1.0.into(), &2.into())
    );
    let record = format!("{MARK}{{\"id\":\"x\",\"weights\":{{\"sea\":2.5,\"ship\":0.5}}}}\n");
    shell.pipe("add -q w.twx --weighted -", record).succeeds();
    let text = format!("{MARK}{{\"sea\":2.5,\"ship\":0.5}}");
    let found = shell.args(&["query", "-q", "w.twx", "--text", &text], "").succeeds();
    assert_eq!(found.column(1), ["x"]);
}

#[test]
fn a_mark_at_the_beginning_of_a_text_is_no_character_of_it() {
    let shell = Shell::new();
    shell.write("plain.txt", "some words that are a text\n");
    shell.write("marked.txt", format!("{MARK}some words that are a text\n"));
    let compared = shell.run("compare plain.txt marked.txt --json --normalize none").succeeds();
    assert_eq!(compared.json()[0]["similarity"], 1.0, "{compared:?}");

    shell.run("add -q i.twx --store-text --normalize none plain.txt").succeeds();
    let found = shell.run("query -q i.twx --scan --threshold 1 marked.txt").succeeds();
    assert_eq!((found.column(1), found.column(2)), (vec!["plain.txt"], vec!["1.0"]));
    shell.run("add -q i.twx marked.txt").succeeds();
    assert_eq!(
        shell.run("get i.twx marked.txt --text").succeeds().stdout,
        "some words that are a text\n"
    );
    // A text in a record may have been read from a marked file.
    let record =
        format!("{{\"id\":\"plain.txt\",\"text\":\"{MARK}some words that are a text\\n\"}}\n");
    let again = shell.pipe("add i.twx --json -", record).succeeds();
    assert_eq!(again.counted("unchanged"), 1);
}

#[test]
fn a_mark_before_a_list_of_ids_is_no_part_of_the_first() {
    for (ids, left) in [(["a", "b"], "b"), (["\u{feff}a", "a"], "a")] {
        let shell = Shell::with(&ids.map(|id| (id, "some text")));
        shell.pipe("remove i.twx --ids-from -", "\u{feff}a\r\n").succeeds();
        assert_eq!(shell.ids(), [left], "{ids:?}");
    }
}
