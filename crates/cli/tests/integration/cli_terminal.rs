//! What only a person at a terminal sees: bars, colour, aligned columns, drawings.

use crate::command::{Shell, alike, jsonl, lines, report};

/// Runs a line of shell on a terminal of its own; `None` where that cannot be made here. All that
/// it prints comes as standard output.
fn on_terminal(shell: &Shell, line: &str) -> Option<String> {
    shell.write("line.sh", line);
    // The one of util-linux: it has -e, and takes its command by -c.
    let done = shell.sh("script -qec 'sh line.sh' typescript </dev/null");
    if done.status == 127 || done.stderr.contains("script:") {
        report("not tested: there is no `script` of util-linux");
        return None;
    }
    assert_eq!(done.status, 0, "{line}: {done:?}");
    Some(done.stdout)
}

const ESCAPE: char = '\u{1b}';

fn with_a_pair() -> Shell {
    let (a, b, _) = alike();
    Shell::with(&[("a", &a), ("b", &b)])
}

#[test]
fn a_bar_shows_documents_speed_and_time_left() {
    let shell = Shell::new();
    shell.write("lines", lines(2000));
    let Some(seen) = on_terminal(&shell, "$TWINDEX add i.twx --format lines lines") else { return };
    for part in ["documents, ", "B/s ", "s left", "added 2,000 documents in "] {
        assert!(seen.contains(part), "{part}: {seen:?}");
    }
    let Some(seen) = on_terminal(&shell, "cat lines | $TWINDEX add j.twx -") else { return };
    assert!(seen.contains("B/s 2,000 documents"), "{seen:?}");
}

#[test]
fn a_bar_moves_with_whole_files_too() {
    let shell = Shell::new();
    for name in ["a", "b", "c"] {
        shell.write(name, "text ".repeat(1000));
    }
    let Some(seen) = on_terminal(&shell, "$TWINDEX add i.twx a b c") else { return };
    assert!(seen.contains("15.00 kB/15.00 kB"), "{seen:?}");
}

#[test]
fn a_bar_is_left_out_where_it_is_not_wanted() {
    let shell = Shell::new();
    shell.write("lines", lines(500));
    for wish in ["--no-progress", "--quiet", "--json", "2>&1 | cat"] {
        let line = format!("$TWINDEX add i.twx --format lines lines {wish}");
        let Some(seen) = on_terminal(&shell, &line) else { return };
        assert!(!seen.contains(" left") && !seen.contains(ESCAPE), "{wish}: {seen:?}");
    }
}

#[test]
fn a_terminal_shows_colour_unless_the_environment_is_against_it() {
    let shell = with_a_pair();
    for (environment, option, colour) in [
        ("TERM=xterm", "", true),
        ("TERM=xterm NO_COLOR=", "", true),
        ("TERM=xterm NO_COLOR=1", "", false),
        ("TERM=dumb", "", false),
        ("TERM=xterm", "--color never", false),
        ("TERM=xterm NO_COLOR=1", "--color always", true),
    ] {
        for command in
            ["pairs i.twx", "get i.twx a", "info nothing.twx; true", "--help", "info; true"]
        {
            let line = format!("unset NO_COLOR; export {environment}; $TWINDEX {option} {command}");
            let Some(seen) = on_terminal(&shell, &line) else { return };
            assert_eq!(seen.contains(ESCAPE), colour, "{environment} {option} {command}: {seen:?}");
        }
    }
}

#[test]
fn a_similarity_and_the_word_before_an_error_are_coloured() {
    let shell = with_a_pair();
    let line =
        "unset NO_COLOR; export TERM=xterm; $TWINDEX pairs i.twx; $TWINDEX info no.twx; true";
    let Some(seen) = on_terminal(&shell, line) else { return };
    assert!(seen.contains("a  b  \u{1b}[32m0."), "{seen:?}");
    assert!(seen.contains("\u{1b}[1m\u{1b}[31mtwindex:\u{1b}[0m no.twx: "), "{seen:?}");
}

#[test]
fn what_is_piped_has_no_colour_unless_it_is_asked_for() {
    let shell = with_a_pair();
    for words in ["pairs i.twx", "info i.twx", "info no.twx", "--help", "plan", "pairs"] {
        let done = shell.run(words);
        assert!(
            !done.stdout.contains(ESCAPE) && !done.stderr.contains(ESCAPE),
            "{words}: {done:?}"
        );
    }
    let error = shell.run("info no.twx --color always");
    assert!(error.stderr.starts_with("\u{1b}[1m\u{1b}[31mtwindex:\u{1b}[0m "), "{error:?}");
    assert!(shell.run("--color always --help").stdout.contains(ESCAPE));
    // Columns for programs stay what they are.
    assert!(!shell.run("pairs i.twx --color always").stdout.contains(ESCAPE));
}

#[test]
fn drawings_are_for_terminals_and_no_wider() {
    let shell = with_a_pair();
    let Some(seen) = on_terminal(&shell, "$TWINDEX plan -q; $TWINDEX info i.twx --color never")
    else {
        return;
    };
    assert!(seen.contains("\u{2588}"), "{seen}");
    assert!(seen.contains("How many pairs of each similarity are found"), "{seen}");
    let plot = seen.lines().skip_while(|line| !line.contains("1.0 |")).take(16);
    assert!(plot.clone().count() == 16 && plot.clone().all(|line| line.trim_end().len() < 80));
    assert!(plot.clone().last().is_some_and(|line| line.contains("* compared")), "{seen}");
}

#[test]
fn a_terminal_shows_how_similar_was_what_dedup_removed() {
    let (a, b, _) = alike();
    let shell = Shell::new();
    shell.write("in.jsonl", jsonl(&[("a", &a), ("b", &b), ("same", &a)]));
    let line = |index: &str, more: &str| {
        format!("$TWINDEX dedup {index} in.jsonl -o {index}.out --removed {index}.gone {more}")
    };
    let Some(seen) = on_terminal(&shell, &line("a.twx", "")) else { return };
    let drawn = "similarities of what was removed: 0.8 ";
    let bars = seen.split(drawn).nth(1).expect("a drawing");
    assert!(bars.contains("\u{2588} 1"), "{seen:?}");
    for more in ["--quiet", "--json", "2>&1 | cat"] {
        let Some(seen) = on_terminal(&shell, &line("b.twx", &format!("--restart {more}"))) else {
            return;
        };
        assert!(!seen.contains(drawn), "{more}: {seen:?}");
    }
}

#[test]
fn bars_say_which_of_several_things_is_done() {
    let shell = Shell::new();
    shell.write("lines", lines(2000));
    let words = "dedup i.twx --format lines lines -o out --removed gone --report r.html";
    let Some(seen) = on_terminal(&shell, &format!("$TWINDEX {words}")) else { return };
    for phase in ["looking below the threshold: ", "reading again for the report: "] {
        assert!(seen.contains(phase), "{phase}: {seen:?}");
    }
    let Some(seen) = on_terminal(&shell, &format!("$TWINDEX {words}")) else { return };
    assert!(seen.contains("comparing the input with that of the earlier run: "), "{seen:?}");
}

#[test]
fn bidirectional_controls_in_ids_are_escaped_on_a_terminal_and_piped_as_they_are() {
    let (a, b, _) = alike();
    let turning = "a\u{202e}b\u{2067}";
    let shell = Shell::new();
    let input = jsonl(&[(turning, &a), ("z", &b)]);
    shell.pipe("add i.twx -q --store-text --format jsonl -", input).succeeds();
    shell.write("id", turning);
    for command in [
        "pairs i.twx",
        "pairs i.twx --json",
        "clusters i.twx",
        "clusters i.twx --json",
        "list i.twx",
        "query i.twx --id z",
        "explain i.twx \"$(cat id)\" z",
        "remove i.twx --ids-from \"$(cat id)\"",
    ] {
        let line = format!("$TWINDEX {command}; true");
        let piped = shell.sh(&line).succeeds();
        assert!((piped.stdout + &piped.stderr).contains(turning), "{line}");
        let Some(seen) = on_terminal(&shell, &line) else { return };
        assert!(seen.contains("a\\u202eb\\u2067") && !seen.contains(turning), "{line}: {seen:?}");
    }
}

#[test]
fn ids_of_any_width_leave_columns_aligned() {
    let (a, b, _) = alike();
    let shell = Shell::new();
    let input = jsonl(&[("文書", &a), ("b", &b), ("c", &a)]);
    shell.pipe("add i.twx -q --format jsonl -", input).succeeds();
    let line = "export TERM=xterm; $TWINDEX pairs i.twx -q --color always";
    let Some(seen) = on_terminal(&shell, line) else { return };
    let columns: Vec<Option<usize>> = seen
        .lines()
        .map(|line| line.find("\u{1b}[32m").map(|at| at - line.matches('文').count() * 2))
        .collect();
    assert_eq!(columns.len(), 3, "{seen}");
    assert!(columns.windows(2).all(|two| two[0] == two[1] && two[0].is_some()), "{seen}");
}

#[test]
fn shared_passages_are_side_by_side_in_one_colour() {
    let shell = Shell::new();
    shell.write("a", "first the one that both have, then some more\u{7} 敏捷的棕色狐狸跳过了懒狗");
    shell.write("b", "敏捷的棕色狐狸跳过了 and THE ONE that both have");
    let compare =
        "stty rows 40 cols 60; unset NO_COLOR; export TERM=xterm; $TWINDEX compare a b --explain";
    let Some(seen) = on_terminal(&shell, compare) else { return };
    for painted in
        ["\u{1b}[32m the one that both \u{1b}[0m", "\u{1b}[36m敏捷的棕色狐狸跳过了\u{1b}[0m"]
    {
        assert!(seen.contains(painted), "{painted:?}: {seen:?}");
    }
    assert_eq!(seen.matches("\u{1b}[32m").count(), 4, "two lines on each side: {seen:?}");
    assert!(seen.contains("more\\u0007") && !seen.contains('\u{7}'), "{seen:?}");
    // The rule is as wide as the terminal, but for what halving leaves over.
    let rule = seen.lines().find(|line| line.contains('\u{253c}')).expect("a rule");
    assert_eq!(rule.trim_end().chars().count(), 59, "{rule}");

    let plain = compare.replace("unset NO_COLOR", "export NO_COLOR=1");
    let Some(seen) = on_terminal(&shell, &plain) else { return };
    assert!(seen.contains("[1  the one") && !seen.contains(ESCAPE), "{seen:?}");
}

#[test]
fn a_command_that_reads_standard_input_says_so() {
    let shell = Shell::new();
    shell.write("a.txt", "some text");
    for (words, says) in [
        ("add i.twx </dev/tty", true),
        ("dedup j.twx -o out </dev/tty", true),
        ("add i.twx -q </dev/tty", false),
        ("add i.twx a.txt </dev/tty", false),
        ("add i.twx < a.txt", false),
    ] {
        // The terminal stays silent, so the command is ended while it waits.
        let line = format!("$TWINDEX {words} & sleep 0.5; kill $! 2>/dev/null; wait; true");
        let Some(seen) = on_terminal(&shell, &line) else { return };
        assert_eq!(seen.contains("reading standard input"), says, "{words}: {seen:?}");
    }
}
