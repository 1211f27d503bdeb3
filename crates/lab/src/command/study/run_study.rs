//! `twindex-lab study`: runs a study, then prints, writes and draws what it found.

use super::approaches::ApproachesArgs;
use super::bands::BandsArgs;
use super::bits::BitsArgs;
use super::chance::ChanceArgs;
use super::functions::FunctionsArgs;
use super::gospels::GospelsArgs;
use super::hash_time::HashTimeArgs;
use super::independence::IndependenceArgs;
use super::law::LawArgs;
use super::matrix::MatrixArgs;
use super::outputs::Outputs;
use super::precision::PrecisionArgs;
use super::rules::RulesArgs;
use super::shingle_size::ShingleSizeArgs;
use super::simhash::SimhashArgs;
use super::theory::TheoryArgs;
use super::widths::WidthsArgs;
use super::{figure, output};
use crate::study::{self, Report, StudyContext};
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
use twindex_cli::terminal::output::{summary, whole_millis};
use twindex_cli::terminal::progress_bar::ProgressBar;

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Each study prints a short table, then one line for each finding: expected (what the study must
show), seen (what it shows), holds. The exit status is 1 if a finding does not hold. Times depend
on the machine.

Examples:
  twindex-lab study gospels
  twindex-lab study precision --runs 100 --svg precision.svg --csv precision.csv
  twindex-lab study all pictures")]
pub(in crate::command) struct StudyArgs {
    #[command(subcommand)]
    which: StudyCommand,
}

#[derive(Debug, Subcommand)]
enum StudyCommand {
    /// How similarity falls with the size of shingles
    ShingleSize(ShingleSizeArgs),
    /// How estimate, error and time change with the size of shingles
    Widths(WidthsArgs),
    /// How long each family of hash functions takes
    HashTime(HashTimeArgs),
    /// How the time of each approach grows with the number of documents
    Approaches(ApproachesArgs),
    /// How the error falls with the number of hash functions
    Precision(PrecisionArgs),
    /// How the bias of the minimum falls with independence
    Independence(IndependenceArgs),
    /// How many hash functions an error needs
    Functions(FunctionsArgs),
    /// Signatures of any length, cut into bands
    Bands(BandsArgs),
    /// How many bits of a lane an estimate needs
    Bits(BitsArgs),
    /// The probability law of the estimate, and how often intervals hold
    Law(LawArgs),
    /// How similar random texts are
    Chance(ChanceArgs),
    /// The four Gospels, compared by every method
    Gospels(GospelsArgs),
    /// Columns of a transaction file that occur together
    Rules(RulesArgs),
    /// Precision and recall of SimHash and MinHash
    Simhash(SimhashArgs),
    /// Disjoint rows, colliding rows, and the rate of samples
    Theory(TheoryArgs),
    /// Characteristic and signature matrices of small examples, cell by cell
    Matrix(MatrixArgs),
    /// All studies, each with a picture and a file of its points
    All(AllArgs),
}

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Runs every study with its default settings and writes NAME.svg and NAME.csv for each. Existing
files of these names are replaced.

Examples:
  twindex-lab study all pictures
  twindex-lab study all pictures --seed 7 --json")]
struct AllArgs {
    /// Directory to write to; created if it does not exist
    directory: PathBuf,
    /// Seed of all random numbers
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,
}

type RunStudy<'a> = Box<dyn Fn(&StudyContext<'_>) -> Result<Report> + 'a>;

/// A study that can be run: its name, the files to write, and the function that runs it.
type ReadyStudy<'a> = (&'static str, &'a Outputs, RunStudy<'a>);

impl StudyCommand {
    /// The study that the command names; `None` for all of them.
    fn one(&self) -> Option<ReadyStudy<'_>> {
        use study::{
            approaches, bands, bits, chance, functions, gospels, hash_time, independence, law,
            matrix, precision, rules, shingle_size, simhash, theory, widths,
        };
        Some(match self {
            Self::ShingleSize(args) => {
                let settings = args.settings();
                let run = move |context: &StudyContext<'_>| shingle_size::run(&settings, context);
                ("shingle-size", &args.outputs, Box::new(run))
            }
            Self::Widths(args) => {
                let settings = args.settings();
                let run = move |context: &StudyContext<'_>| widths::run(&settings, context);
                ("widths", &args.outputs, Box::new(run))
            }
            Self::HashTime(args) => {
                let settings = args.settings();
                let run = move |context: &StudyContext<'_>| hash_time::run(&settings, context);
                ("hash-time", &args.outputs, Box::new(run))
            }
            Self::Approaches(args) => {
                let settings = args.settings();
                let run = move |context: &StudyContext<'_>| approaches::run(&settings, context);
                ("approaches", &args.outputs, Box::new(run))
            }
            Self::Precision(args) => {
                let settings = args.settings();
                let run = move |context: &StudyContext<'_>| precision::run(&settings, context);
                ("precision", &args.outputs, Box::new(run))
            }
            Self::Independence(args) => {
                let settings = args.settings();
                let run = move |context: &StudyContext<'_>| independence::run(&settings, context);
                ("independence", &args.outputs, Box::new(run))
            }
            Self::Functions(args) => {
                let settings = args.settings();
                let run = move |context: &StudyContext<'_>| functions::run(&settings, context);
                ("functions", &args.outputs, Box::new(run))
            }
            Self::Bands(args) => {
                let settings = args.settings();
                let run = move |context: &StudyContext<'_>| bands::run(&settings, context);
                ("bands", &args.outputs, Box::new(run))
            }
            Self::Bits(args) => {
                let settings = args.settings();
                let run = move |context: &StudyContext<'_>| bits::run(&settings, context);
                ("bits", &args.outputs, Box::new(run))
            }
            Self::Law(args) => {
                let settings = args.settings();
                let run = move |context: &StudyContext<'_>| law::run(&settings, context);
                ("law", &args.outputs, Box::new(run))
            }
            Self::Chance(args) => {
                let settings = args.settings();
                let run = move |context: &StudyContext<'_>| chance::run(&settings, context);
                ("chance", &args.outputs, Box::new(run))
            }
            Self::Gospels(args) => {
                let settings = args.settings();
                let run = move |context: &StudyContext<'_>| gospels::run(&settings, context);
                ("gospels", &args.outputs, Box::new(run))
            }
            Self::Rules(args) => {
                let settings = args.settings();
                let run = move |context: &StudyContext<'_>| rules::run(&settings, context);
                ("rules", &args.outputs, Box::new(run))
            }
            Self::Simhash(args) => {
                let settings = args.settings();
                let run = move |context: &StudyContext<'_>| simhash::run(&settings, context);
                ("simhash", &args.outputs, Box::new(run))
            }
            Self::Theory(args) => {
                let settings = args.settings();
                let run = move |context: &StudyContext<'_>| theory::run(&settings, context);
                ("theory", &args.outputs, Box::new(run))
            }
            Self::Matrix(args) => {
                let settings = args.settings();
                let run = move |context: &StudyContext<'_>| matrix::run(&settings, context);
                ("matrix", &args.outputs, Box::new(run))
            }
            Self::All(_) => return None,
        })
    }
}

/// The name of a study and the function that runs it with its default settings.
type DefaultStudy = (&'static str, fn(&StudyContext<'_>) -> Result<Report>);

const ALL: [DefaultStudy; 16] = [
    ("shingle-size", |context| study::shingle_size::run(&Default::default(), context)),
    ("widths", |context| study::widths::run(&Default::default(), context)),
    ("hash-time", |context| study::hash_time::run(&Default::default(), context)),
    ("approaches", |context| study::approaches::run(&Default::default(), context)),
    ("precision", |context| study::precision::run(&Default::default(), context)),
    ("independence", |context| study::independence::run(&Default::default(), context)),
    ("functions", |context| study::functions::run(&Default::default(), context)),
    ("bands", |context| study::bands::run(&Default::default(), context)),
    ("bits", |context| study::bits::run(&Default::default(), context)),
    ("law", |context| study::law::run(&Default::default(), context)),
    ("chance", |context| study::chance::run(&Default::default(), context)),
    ("gospels", |context| study::gospels::run(&Default::default(), context)),
    ("rules", |context| study::rules::run(&Default::default(), context)),
    ("simhash", |context| study::simhash::run(&Default::default(), context)),
    ("theory", |context| study::theory::run(&Default::default(), context)),
    ("matrix", |context| study::matrix::run(&Default::default(), context)),
];

pub(in crate::command) fn run(
    global: &GlobalOptions,
    args: &StudyArgs,
) -> std::result::Result<Ending, Failure> {
    interrupt::catch()?;
    if let Some((name, outputs, run)) = args.which.one() {
        return carry_out(global, name, outputs, &run, false);
    }
    let StudyCommand::All(all) = &args.which else { return Ok(Ending::Done) };
    let place = || all.directory.display().to_string();
    if all.directory.exists() && !all.directory.is_dir() {
        return Err(anyhow::anyhow!("{}: is a file; name a directory", place()).into());
    }
    std::fs::create_dir_all(&all.directory).with_context(place)?;
    let mut ending = Ending::Done;
    for (name, run) in ALL {
        let file = |end: &str| Some(all.directory.join(format!("{name}.{end}")));
        let outputs = Outputs { csv: file("csv"), svg: file("svg"), seed: all.seed };
        if carry_out(global, name, &outputs, &run, true)? != Ending::Done {
            ending = Ending::Nothing;
        }
    }
    Ok(ending)
}

/// Runs a study, then prints, writes and draws what it found. Files appear under their names only
/// when all of them are complete.
fn carry_out(
    global: &GlobalOptions,
    name: &str,
    outputs: &Outputs,
    run: &dyn Fn(&StudyContext<'_>) -> Result<Report>,
    is_one_of_many: bool,
) -> std::result::Result<Ending, Failure> {
    let begun = Instant::now();
    // Opened before the study runs, so that an unwritable file is reported at once.
    let open =
        |path: &Option<PathBuf>| path.as_deref().map(|p| ResultsFile::new(Some(p))).transpose();
    if outputs.csv.is_some() && outputs.csv == outputs.svg {
        return Err(anyhow::anyhow!("--csv and --svg name the same file; name two").into());
    }
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
    let report = run(&StudyContext::new(outputs.seed, &tell));
    progress.finish();
    let report = report?;
    let mut complete = Vec::new();
    if let Some(out) = csv {
        complete.push(output::written(out, &output::csv(&report.data))?);
    }
    if let Some(out) = svg {
        complete.push(output::written(out, &figure::draw(&report.figure)?)?);
    }
    complete.into_iter().try_for_each(ResultsFile::finish)?;
    output::print(global, name, &report, is_one_of_many)?;
    let holding = report.findings.iter().filter(|finding| finding.holds).count();
    let all = report.findings.len();
    let seconds = begun.elapsed().as_secs_f64();
    summary(
        global,
        &[
            ("study", name.into()),
            ("expected", all.into()),
            ("seen", holding.into()),
            ("seconds", whole_millis(seconds)),
        ],
        &format!("{name}: {holding} of {all} findings hold; {seconds:.3} s"),
    );
    Ok(if holding == all { Ending::Done } else { Ending::Nothing })
}
