//! The examples of the documentation print what it says.

use crate::command::Shell;
use crate::pages::{has_examples_of_every_command, run_page};

#[test]
fn the_examples_of_the_commands_page_print_what_it_says() {
    run_page("docs/cli.md", 20);
}

#[test]
fn the_examples_of_the_page_about_inputs_print_what_it_says() {
    run_page("docs/inputs.md", 15);
}

#[test]
fn the_examples_of_the_guide_print_what_it_says() {
    run_page("docs/guide.md", 40);
}

#[test]
fn the_tour_of_the_readme_prints_what_it_says() {
    run_page("README.md", 5);
}

#[test]
fn every_command_has_examples_on_its_page() {
    has_examples_of_every_command("docs/cli.md");
}

/// The header names all settings and the versions of Unicode, so it changes with them.
#[test]
fn the_header_of_an_export_is_that_of_its_example() {
    let shell = Shell::with(&[("a", "some text"), ("b", "another text")]);
    let export = shell.run("export i.twx").succeeds().stdout;
    let header = export.lines().next().expect("a header");
    let page = include_str!("../../../../docs/cli.md");
    assert!(page.lines().any(|line| line == header), "docs/cli.md has no line {header}");
}
