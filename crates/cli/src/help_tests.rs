//! Tests of the help of every command.

use super::*;
use clap::{Command as ClapCommand, CommandFactory};

/// All subcommands at every level, built so that their help can be rendered.
fn commands() -> Vec<ClapCommand> {
    let mut all = Args::command();
    all.build();
    let mut found = Vec::new();
    let mut waiting: Vec<&ClapCommand> = vec![&all];
    while let Some(command) = waiting.pop() {
        let below = command.get_subcommands().filter(|command| command.get_name() != "help");
        let below: Vec<&ClapCommand> = below.collect();
        found.extend(below.iter().copied().cloned());
        waiting.extend(below);
    }
    found
}

fn after_help(command: &ClapCommand) -> String {
    command.get_after_help().map(ToString::to_string).unwrap_or_default()
}

/// The lines below "Examples:".
fn examples(command: &ClapCommand) -> Vec<String> {
    let help = after_help(command);
    let (_, examples) = help.split_once("Examples:\n").unwrap_or_default();
    examples.lines().take_while(|line| line.starts_with("  ")).map(str::to_owned).collect()
}

/// The name of the program, which examples must call.
fn program() -> String {
    Args::command().get_name().to_owned()
}

/// The words of each call of the program in a line of shell. It knows what examples use: quotes,
/// pipes, `&&`, redirections, and a remark after two spaces.
fn calls(line: &str, program: &str) -> Vec<Vec<String>> {
    let (mut calls, mut words, mut word) = (Vec::new(), Vec::new(), None::<String>);
    let mut quoted = false;
    let mut characters = line.trim_start().chars().chain("  ".chars()).peekable();
    while let Some(c) = characters.next() {
        match c {
            '\'' => {
                quoted = !quoted;
                word.get_or_insert_default();
            }
            ' ' if !quoted => {
                words.extend(word.take());
                if characters.peek() == Some(&' ') {
                    break;
                }
            }
            c => word.get_or_insert_default().push(c),
        }
    }
    for part in words.split(|word| ["|", "&&", ";"].contains(&word.as_str())) {
        let redirected = part.iter().position(|word| word.starts_with(['<', '>']));
        let call = &part[..redirected.unwrap_or(part.len())];
        if call.first().is_some_and(|name| name == program) {
            calls.push(call.to_vec());
        }
    }
    calls
}

#[test]
fn the_definition_of_arguments_is_consistent() {
    Args::command().debug_assert();
}

#[test]
fn a_line_of_shell_is_split_into_words() {
    let line = "  generate | twindex add p.twx --text 'a  b' - > out && echo   all of it";
    assert_eq!(calls(line, "twindex"), [["twindex", "add", "p.twx", "--text", "a  b", "-"]]);
}

#[test]
fn every_command_has_a_summary_of_one_line() {
    for command in commands() {
        let about = command.get_about().map(ToString::to_string).unwrap_or_default();
        let name = command.get_name();
        assert!(!about.is_empty() && !about.contains('\n'), "{name}: {about:?}");
        assert!(!about.ends_with('.') && about.len() < 76, "{name}: {about:?}");
    }
}

#[test]
fn every_command_has_examples_that_parse() {
    for command in commands().iter().chain([&Args::command()]) {
        let name = command.get_name();
        let examples = examples(command);
        assert!(!examples.is_empty(), "{name} has no examples");
        let calls: Vec<Vec<String>> =
            examples.iter().flat_map(|line| calls(line, &program())).collect();
        assert!(
            calls.len() >= examples.len(),
            "{name}: not every example is a call: {examples:#?}"
        );
        assert!(
            name == program() || calls.iter().any(|call| call.contains(&name.to_owned())),
            "{name}: no example is one of it"
        );
        for call in calls {
            if let Err(error) = Args::try_parse_from(&call) {
                panic!("{name}: {call:?}: {error}");
            }
        }
    }
}

#[test]
fn no_line_of_a_help_is_broken_by_its_width() {
    for command in commands() {
        for line in after_help(&command).lines() {
            assert!(line.len() <= 98, "{}: {line}", command.get_name());
        }
    }
}

#[test]
fn every_default_is_in_the_help() {
    // These options always have a value, so that their help must state the default.
    let falls_back =
        ["threshold", "recall", "shingle", "lanes", "normalize", "seed", "threads", "wait"];
    for mut command in commands() {
        let name = command.get_name().to_owned();
        let help = command.render_long_help().to_string();
        assert!(command.get_arguments().all(|arg| !arg.is_hide_default_value_set()), "{name}");
        for arg in command.get_arguments().filter(|arg| arg.get_action().takes_values()) {
            let own = arg.get_help().map(ToString::to_string).unwrap_or_default();
            for value in arg.get_default_values() {
                let value = value.to_string_lossy();
                assert!(help.contains(&format!("[default: {value}]")), "{name}: {value}");
                assert!(!own.contains("[default"), "{name}: {}: twice", arg.get_id());
            }
            let stated = !arg.get_default_values().is_empty() || own.contains("[default: ");
            let id = arg.get_id().as_str();
            assert!(stated || !falls_back.contains(&id), "{name}: --{id} has no default");
        }
    }
}

#[test]
fn the_options_of_every_command_come_last() {
    const LAST: &str = "Options of every command:";
    for mut command in commands() {
        let name = command.get_name().to_owned();
        let help = command.render_help().to_string();
        let (own, last) = help.split_once(LAST).unwrap_or_else(|| panic!("{name}: no {LAST}"));
        assert!(!own.contains("--json") && last.contains("--json"), "{name}");
        let more = last.lines().find(|line| {
            line.ends_with(':') && !line.starts_with(' ') && !line.starts_with("Examples")
        });
        assert!(more.is_none_or(|line| after_help(&command).contains(line)), "{name}: {more:?}");
    }
}
