//! The examples of the documentation print what it says.

use crate::pages::{has_examples_of_every_command, run_page};

#[test]
fn the_examples_of_the_commands_page_print_what_it_says() {
    run_page("docs/cli.md", 20);
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
