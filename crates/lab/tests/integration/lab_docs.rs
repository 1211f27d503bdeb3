//! The examples of the laboratory's documentation print what it says.

use crate::pages::{has_examples_of_every_command, run_page};

#[test]
fn the_examples_of_the_laboratory_page_print_what_it_says() {
    run_page("crates/lab/docs/cli.md", 5);
}

#[test]
fn every_command_has_examples_on_its_page() {
    has_examples_of_every_command("crates/lab/docs/cli.md");
}
