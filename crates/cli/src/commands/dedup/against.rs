//! The indexes of `dedup --against`: opens them, and checks that they can be compared with.

use crate::commands::dedup::options::Dedup;
use crate::input::same_file;
use crate::run::failure::Failure;
use crate::run::global_options::GlobalOptions;
use crate::run::opening;
use anyhow::anyhow;
use std::path::{Path, PathBuf};
use twindex::{ReadOnlyIndex, Settings};

/// Opens the indexes of `--against` for reading.
pub(crate) fn open(global: &GlobalOptions, args: &Dedup) -> Result<Vec<ReadOnlyIndex>, Failure> {
    let open = |path: &PathBuf| {
        if same_file(path, &args.index) {
            Err(anyhow!(
                "{}: is the index itself, whose documents count anyway; leave out this --against",
                path.display()
            )
            .into())
        } else {
            opening::to_read(global, path)
        }
    };
    args.against.iter().map(open).collect()
}

/// Refuses an index whose signatures were made in another way than those of this run. For a new
/// index, the message says which options make them alike.
pub(crate) fn check(
    args: &Dedup,
    settings: &Settings,
    is_new: bool,
    path: &Path,
    other: &Settings,
) -> Result<(), Failure> {
    let differences = differences(settings, other);
    if differences.is_empty() {
        return Ok(());
    }
    let (path, index) = (path.display(), args.index.display());
    let list =
        |of: fn(&Difference) -> &str| differences.iter().map(of).collect::<Vec<_>>().join(" ");
    let (theirs, ours) = (list(|one| &one.theirs), list(|one| &one.ours));
    Err(match is_new {
        true => anyhow!(
            "{path}: created with {theirs}, but {index} would be created with {ours}; \
             to compare them, {}",
            advice(&differences)
        ),
        false => anyhow!(
            "{path}: created with {theirs}, but {index} with {ours}, so they cannot be compared; \
             use another index, or create one with equal settings"
        ),
    }
    .into())
}

/// A setting that decides over signatures and differs, as options.
struct Difference {
    theirs: String,
    ours: String,
}

fn differences(ours: &Settings, theirs: &Settings) -> Vec<Difference> {
    let flag =
        |name: &str, set: bool| if set { format!("--{name}") } else { format!("no --{name}") };
    let options = |of: &Settings| {
        [
            format!("--shingle {}", of.shingle),
            format!("--lanes {}", of.lanes()),
            format!("--normalize {}", of.normalization),
            flag("multiset", of.multiset),
            flag("weighted", of.weighted),
            format!("--seed {}", of.seed),
        ]
    };
    let pairs = options(theirs).into_iter().zip(options(ours));
    let differing = pairs.filter(|(theirs, ours)| theirs != ours);
    differing.map(|(theirs, ours)| Difference { theirs, ours }).collect()
}

/// What to change in the command.
fn advice(differences: &[Difference]) -> String {
    let (leave_out, add): (Vec<_>, Vec<_>) = differences
        .iter()
        .map(|one| one.theirs.as_str())
        .partition(|theirs| theirs.starts_with("no "));
    let mut parts = Vec::new();
    if !add.is_empty() {
        parts.push(format!("add {} to this command", add.join(" ")));
    }
    if !leave_out.is_empty() {
        let names: Vec<_> = leave_out.iter().map(|one| one.trim_start_matches("no ")).collect();
        parts.push(format!("leave out {}", names.join(" ")));
    }
    parts.join(" and ")
}
