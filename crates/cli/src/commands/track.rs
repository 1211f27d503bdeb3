//! `twindex track`: keeps the clusters of an index under ids that stay.

use crate::run::failure::Failure;
use crate::run::global_options::GlobalOptions;
use crate::run::{ending::Ending, opening};
use crate::terminal::interrupt;
use crate::terminal::output::{count, summary, whole_millis};
use crate::terminal::progress_bar::ProgressBar;
use std::path::PathBuf;
use std::time::Instant;

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Clusters are tracked at the index's own threshold and by chains of similar pairs, as `clusters
--linkage connected` finds them; by exact similarities if the index stores texts. From now on each
commit of any program brings them up to date. A cluster keeps its id while documents come and go.
`clusters --ids` prints them, and `changes` what has changed.

Examples:
  twindex track pages.twx
  twindex clusters pages.twx --ids
  twindex changes pages.twx --since 41
  twindex track pages.twx --forget 41               no reader needs the removals before it
  twindex track pages.twx --stop")]
pub(crate) struct Track {
    /// The index file
    pub(crate) index: PathBuf,
    /// Track clusters no more, and delete their ids
    #[arg(long, conflicts_with = "forget")]
    pub(crate) stop: bool,
    /// Forget which documents were removed from clusters before this commit
    #[arg(long, value_name = "COMMIT")]
    pub(crate) forget: Option<u64>,
}

pub(crate) fn run(global: &GlobalOptions, args: &Track) -> Result<Ending, Failure> {
    interrupt::catch()?;
    let start = Instant::now();
    let index = opening::to_write(global, &args.index)?;
    let name = args.index.display();
    if args.stop {
        let tracked = index.stop_tracking()?;
        let was = if tracked { "tracks no clusters any more" } else { "tracked no clusters" };
        summary(global, &[("tracked", tracked.into())], &format!("{name} {was}"));
        return Ok(if tracked { Ending::Done } else { Ending::Nothing });
    }
    if let Some(commit) = args.forget {
        let forgotten = index.forget_cluster_changes(commit)?;
        let sentence = format!("forgot {}", count(forgotten, "removal"));
        summary(global, &[("forgotten", forgotten.into())], &sentence);
        return Ok(Ending::Done);
    }
    let progress = ProgressBar::of_parts(global);
    let clusters = index.track_clusters().watch(progress.watch());
    progress.finish();
    let (clusters, commit) = (clusters?, index.snapshot()?.commit_number());
    let fields = [
        ("clusters", clusters.into()),
        ("commit", commit.into()),
        ("seconds", whole_millis(start.elapsed().as_secs_f64())),
    ];
    let sentence = format!("{name} tracks {} as of commit {commit}", count(clusters, "cluster"));
    summary(global, &fields, &sentence);
    Ok(Ending::Done)
}
