//! Tests of the options of single commands.

use super::*;
use clap::CommandFactory;
use clap::error::ErrorKind;

#[test]
fn a_rebuild_keeps_the_settings_that_are_not_given() {
    let mut all = Args::command();
    all.build();
    let rebuild = all.find_subcommand_mut("rebuild").expect("a command");
    let help = rebuild.render_long_help().to_string();
    let (settings, _) = help.split_once("Options of every command:").expect("its own options");
    let settings = settings.split_whitespace().collect::<Vec<_>>().join(" ");
    assert_eq!(settings.matches("[default: ").count(), 7, "{settings}");
    assert_eq!(settings.matches("[default: unchanged]").count(), 7, "{settings}");
}

#[test]
fn an_option_is_refused_beside_one_that_excludes_what_it_needs() {
    // Where an option excludes the one that is needed, clap asks no more for that one.
    for line in [
        "clusters p.twx --ids --print0",
        "remove p.twx --older-than 5s -0",
        "merge all.twx p.twx --attach --estimate",
        "merge all.twx p.twx --attach --max-candidates 3",
    ] {
        let words = ["twindex"].into_iter().chain(line.split(' '));
        let error = Args::try_parse_from(words).map(|_| ()).map_err(|error| error.kind());
        assert_eq!(error, Err(ErrorKind::ArgumentConflict), "{line}");
    }
}
