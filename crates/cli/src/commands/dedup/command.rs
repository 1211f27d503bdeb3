//! The `twindex dedup` command: checks what it is asked to do, and runs it.

use crate::commands::dedup::against;
use crate::commands::dedup::dry_run::DryRun;
use crate::commands::dedup::lifecycle;
use crate::commands::dedup::options::Dedup;
use crate::commands::dedup::reporting;
use crate::commands::dedup::request::Request;
use crate::commands::outputs::targets::Targets;
use crate::run::failure::Failure;
use crate::run::global_options::GlobalOptions;
use crate::run::{ending::Ending, ranges};
use crate::terminal::interrupt;
use std::time::Instant;
use twindex::{ReadOnlyIndex, Snapshot};

/// Runs the command.
pub(crate) fn run(global: &GlobalOptions, args: &Dedup) -> Result<Ending, Failure> {
    interrupt::catch()?;
    let start = Instant::now();
    args.removal.check(args.estimate, !args.against.is_empty())?;
    reporting::check(args)?;
    let mut targets = Targets::resolve(&args.outputs())?;
    args.check_keep()?;
    args.settings.threshold().map(ranges::threshold).transpose()?;
    let dry_run = args.dry_run.then(|| DryRun::copy_index(global, args)).transpose()?;
    let place = dry_run.as_ref().map_or(&args.index, |copy| &copy.index);
    let index = args.open(global, place)?;
    let settings = match &index {
        Some(index) => {
            args.settings.check_seed(index.settings(), &args.index)?;
            *index.settings()
        }
        None => args.removal.options(&args.settings).settings()?,
    };
    args.removal.check_index(&settings, &args.index)?;
    args.input.check(settings.shingle, settings.weighted, &args.index)?;
    let others = against::open(global, args)?;
    let snapshots = others.iter().map(ReadOnlyIndex::snapshot).collect::<Result<Vec<_>, _>>()?;
    let against: Vec<&Snapshot> = snapshots.iter().collect();
    for (path, other) in args.against.iter().zip(&against) {
        against::check(args, &settings, index.is_none(), path, other.settings())?;
    }
    targets.find_shards(&args.outputs(), args.inputs(&targets, &settings))?;
    let threshold = args.settings.threshold().unwrap_or(settings.threshold());
    let key = args.resume_key(threshold);
    let against = &*against;
    let silent = targets.without_files();
    let targets = &targets;
    let request = Request {
        start,
        global,
        args,
        written_targets: targets,
        named_targets: targets,
        place,
        settings,
        threshold,
        against,
        key,
        may_replace: args.restart,
        kept_before: None,
    };
    lifecycle::run(request, &silent, index)
}
