//! `twindex study`: the papers' experiments, computed anew, printed, written and drawn.

mod approaches;
mod axis;
mod chance;
mod clip;
mod figure;
mod gospels;
mod hash_time;
mod law;
mod precision;
mod rules;
mod shingle_size;
mod show;
mod simhash;

use crate::study::{self, Report, Work};
use anyhow::Context;
use clap::Subcommand;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::time::Instant;
use twindex::{Error, Result};
use twindex_cli::run::ending::Ending;
use twindex_cli::run::failure::Failure;
use twindex_cli::run::global_options::GlobalOptions;
use twindex_cli::run::results_file::ResultsFile;
use twindex_cli::terminal::interrupt;
use twindex_cli::terminal::output;
use twindex_cli::terminal::progress_bar::ProgressBar;

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Each study prints a short table, and what must be seen in it: expected, seen and holds, a line
each. The exit status is 1 if something that must be seen was not. Times depend on the machine.

Examples:
  twindex study gospels
  twindex study precision --runs 100 --svg precision.svg --csv precision.csv
  twindex study all pictures")]
pub(super) struct Study {
    #[command(subcommand)]
    which: Which,
}

#[derive(Debug, Subcommand)]
enum Which {
    /// How similarity falls with the size of shingles
    ShingleSize(shingle_size::ShingleSize),
    /// How long the families of hash functions take
    HashTime(hash_time::HashTime),
    /// How the time of each approach grows with the documents
    Approaches(approaches::Approaches),
    /// How the error falls with the number of hash functions
    Precision(precision::Precision),
    /// The law of the estimate, and how often intervals hold
    Law(law::Law),
    /// How similar random texts are
    Chance(chance::Chance),
    /// The four Gospels, by every method
    Gospels(gospels::Gospels),
    /// Columns of a transaction file that occur together
    Rules(rules::Rules),
    /// Precision and recall of SimHash beside MinHash
    Simhash(simhash::Simhash),
    /// All of these, each into a picture and a file of its points
    All(All),
}

/// What every study can write, and what its randomness comes from.
#[derive(Debug, clap::Args)]
struct Outputs {
    /// Write every point into this file, as CSV
    #[arg(long, value_name = "FILE")]
    csv: Option<PathBuf>,
    /// Draw the picture into this file
    #[arg(long, value_name = "FILE")]
    svg: Option<PathBuf>,
    /// Seed of everything random
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,
}

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Writes NAME.svg and NAME.csv of each study, under its default settings, over those that are there.

Examples:
  twindex study all pictures
  twindex study all pictures --seed 7 --json")]
struct All {
    /// The directory to write to; made if it is not there
    directory: PathBuf,
    /// Seed of everything random
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,
}

type Run<'a> = Box<dyn Fn(&Work<'_>) -> Result<Report> + 'a>;

impl Which {
    /// The study's name, what it is to write, and how it is run; none for all of them.
    fn one(&self) -> Option<(&'static str, &Outputs, Run<'_>)> {
        Some(match self {
            Self::ShingleSize(args) => (
                "shingle-size",
                &args.outputs,
                Box::new(|work| study::shingle_size::run(&args.settings(), work)),
            ),
            Self::HashTime(args) => (
                "hash-time",
                &args.outputs,
                Box::new(|work| study::hash_time::run(&args.settings(), work)),
            ),
            Self::Approaches(args) => (
                "approaches",
                &args.outputs,
                Box::new(|work| study::approaches::run(&args.settings(), work)),
            ),
            Self::Precision(args) => (
                "precision",
                &args.outputs,
                Box::new(|work| study::precision::run(&args.settings(), work)),
            ),
            Self::Law(args) => {
                ("law", &args.outputs, Box::new(|work| study::law::run(&args.settings(), work)))
            }
            Self::Chance(args) => (
                "chance",
                &args.outputs,
                Box::new(|work| study::chance::run(&args.settings(), work)),
            ),
            Self::Gospels(args) => (
                "gospels",
                &args.outputs,
                Box::new(|work| study::gospels::run(&args.settings(), work)),
            ),
            Self::Rules(args) => {
                ("rules", &args.outputs, Box::new(|work| study::rules::run(&args.settings(), work)))
            }
            Self::Simhash(args) => (
                "simhash",
                &args.outputs,
                Box::new(|work| study::simhash::run(&args.settings(), work)),
            ),
            Self::All(_) => return None,
        })
    }
}

/// A study's name, and how it is run under its default settings.
type ByDefault = (&'static str, fn(&Work<'_>) -> Result<Report>);

const ALL: [ByDefault; 9] = [
    ("shingle-size", |work| {
        study::shingle_size::run(&study::shingle_size::Settings::default(), work)
    }),
    ("hash-time", |work| study::hash_time::run(&study::hash_time::Settings::default(), work)),
    ("approaches", |work| study::approaches::run(&study::approaches::Settings::default(), work)),
    ("precision", |work| study::precision::run(&study::precision::Settings::default(), work)),
    ("law", |work| study::law::run(&study::law::Settings::default(), work)),
    ("chance", |work| study::chance::run(&study::chance::Settings::default(), work)),
    ("gospels", |work| study::gospels::run(&study::gospels::Settings::default(), work)),
    ("rules", |work| study::rules::run(&study::rules::Settings::default(), work)),
    ("simhash", |work| study::simhash::run(&study::simhash::Settings::default(), work)),
];

pub(super) fn run(global: &GlobalOptions, args: &Study) -> std::result::Result<Ending, Failure> {
    interrupt::catch()?;
    if let Some((name, outputs, run)) = args.which.one() {
        return carry_out(global, name, outputs, &run);
    }
    let Which::All(all) = &args.which else { return Ok(Ending::Done) };
    let place = || all.directory.display().to_string();
    if all.directory.exists() && !all.directory.is_dir() {
        return Err(anyhow::anyhow!("{}: is a file; name a directory", place()).into());
    }
    std::fs::create_dir_all(&all.directory).with_context(place)?;
    let mut ending = Ending::Done;
    for (name, run) in ALL {
        let file = |end: &str| Some(all.directory.join(format!("{name}.{end}")));
        let outputs = Outputs { csv: file("csv"), svg: file("svg"), seed: all.seed };
        if carry_out(global, name, &outputs, &run)? != Ending::Done {
            ending = Ending::Nothing;
        }
    }
    Ok(ending)
}

/// Runs a study and writes, draws and prints what it found. Its files get their names when all are written.
fn carry_out(
    global: &GlobalOptions,
    name: &str,
    outputs: &Outputs,
    run: &dyn Fn(&Work<'_>) -> Result<Report>,
) -> std::result::Result<Ending, Failure> {
    let begun = Instant::now();
    // Before all the work, so that a name that cannot be written to is known at once.
    let open =
        |path: &Option<PathBuf>| path.as_deref().map(|p| ResultsFile::new(Some(p))).transpose();
    let (csv, svg) = (open(&outputs.csv)?, open(&outputs.svg)?);
    let progress = ProgressBar::of_parts(global);
    let tell = |done, total| match progress.at(done, total) {
        ControlFlow::Continue(()) => Ok(()),
        ControlFlow::Break(()) => Err(Error::Interrupted {
            path: name.into(),
            action: "the study",
            outcome: "nothing was written",
        }),
    };
    let report = run(&Work::new(outputs.seed, &tell));
    progress.finish();
    let report = report?;
    let mut complete = Vec::new();
    if let Some(out) = csv {
        complete.push(show::written(out, &show::csv(&report.data))?);
    }
    if let Some(out) = svg {
        complete.push(show::written(out, &figure::draw(&report.figure)?)?);
    }
    complete.into_iter().try_for_each(ResultsFile::finish)?;
    show::print(global, name, &report)?;
    let seen = report.findings.iter().filter(|finding| finding.holds).count();
    let all = report.findings.len();
    let seconds = begun.elapsed().as_secs_f64();
    output::summary(
        global,
        &[
            ("study", name.into()),
            ("expected", all.into()),
            ("seen", seen.into()),
            ("seconds", output::whole_millis(seconds)),
        ],
        &format!("{name}: {seen} of {all} that must be seen were; {seconds:.3} s"),
    );
    Ok(if seen == all { Ending::Done } else { Ending::Nothing })
}
