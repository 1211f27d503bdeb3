//! `twindex screen`: keeps the texts of an index out of a corpus.

use crate::commands::outputs::audit::{Audit, KNOWN_COLUMNS, known_values, passages_of};
use crate::commands::outputs::kept::{self, Kept};
use crate::commands::outputs::kept_output::{OutputRecord, fixed_text};
use crate::commands::outputs::request::OutputRequest;
use crate::commands::outputs::targets::Targets;
use crate::input::{BadRecord, Inputs, TextForm};
use crate::run::failure::Failure;
use crate::run::global_options::GlobalOptions;
use crate::run::input_options::{InputOptions, NamingOptions, announce_standard_input};
use crate::run::records::{Records, Source};
use crate::run::{ending::Ending, opening, records};
use crate::terminal::interrupt;
use crate::terminal::numbers::grouped;
use crate::terminal::output::{bytes, count, likeness, listed, summary, whole_millis};
use crate::terminal::progress_bar::ProgressBar;
use anyhow::anyhow;
use clap::ValueEnum;
use serde_json::json;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;
use twindex::{Content, KnownPassages, Result as IndexResult, Settings, Snapshot};

#[derive(Debug, clap::Args)]
#[command(override_usage = "\
twindex screen [OPTIONS] -o <OUT> <INDEX> [PATHS]...
       twindex screen [OPTIONS] --dry-run <INDEX> [PATHS]...")]
#[command(after_help = "\
INDEX holds the texts to keep out, such as an evaluation set. It is only read. Create it with
--store-text and --passages N, where N is the least length of a passage that counts, and with
the shingle and the normalisation that make passages equal: by default characters in any
case and with any white space; with --shingle word:5 words in any case, whatever stands between.

OUT appears under its name when it is complete.
Report columns (fields in FILE, and with --json): id, kept, known (the share of the record that
lies in known passages), passages (start and end in bytes, the document that has it, its place
there).

Examples:
  twindex add exam.twx exam.jsonl --store-text --shingle word:5 --passages 13
  twindex screen exam.twx crawl.jsonl -o clean.jsonl --removed found.jsonl
  twindex screen exam.twx crawl/ -o clean/ --remove spans
  twindex screen exam.twx crawl.jsonl -o marked.jsonl --remove nothing --annotate exam
  twindex screen exam.twx crawl.parquet --dry-run --json")]
pub(crate) struct Screen {
    /// The index of the texts to keep out
    index: PathBuf,
    /// Files, directories, or - for standard input
    #[arg(default_value = "-")]
    paths: Vec<PathBuf>,
    /// Write the records that are kept to this file; rows of Parquet and Arrow if its name ends in
    /// .parquet, .arrow or .arrows; for whole files, their paths; - for standard output. A folder,
    /// or a name with / at its end, takes a file for each file of the input
    #[arg(
        help_heading = OUTPUT,
        long,
        short,
        value_name = "OUT",
        required_unless_present = "dry_run"
    )]
    output: Option<PathBuf>,
    /// Write a JSON line for each record with known passages to this file
    /// [default: standard output]
    #[arg(help_heading = OUTPUT, long, value_name = "FILE")]
    removed: Option<PathBuf>,
    /// Write no records; only print which have known passages
    #[arg(help_heading = OUTPUT, long)]
    dry_run: bool,
    /// What to remove
    #[arg(
        help_heading = OUTPUT,
        long,
        value_name = "WHAT",
        value_enum,
        default_value_t = Remove::Records
    )]
    remove: Remove,
    /// Keep records of which no more than this share is known, from 0 to 1
    /// [default: 0; 1 with --remove spans]
    #[arg(help_heading = OUTPUT, long, value_name = "SHARE")]
    max_overlap: Option<f64>,
    /// Add this field to records of JSON Lines with known passages that are kept: the share that is
    /// known, and the passages, with their places in the text as it came
    #[arg(help_heading = OUTPUT, long, value_name = "FIELD")]
    annotate: Option<String>,
    #[command(flatten)]
    naming: NamingOptions,
    #[command(flatten)]
    input: InputOptions,
}

/// The heading of some options in the help.
const OUTPUT: &str = "Output";

/// The records that are written between two times that they are made durable.
const BATCH: usize = 10_000;

/// What is removed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Remove {
    /// Records with known passages
    Records,
    /// Known passages, out of the texts; and records of which nothing else is left
    Spans,
    /// Nothing; known passages are only reported
    Nothing,
}

/// A record that was compared with the index.
struct Screened {
    id: String,
    place: String,
    written: OutputRecord,
    form: TextForm,
    bytes: u64,
    known: KnownPassages,
    /// The text without what is known, if that is to be written.
    rest: Option<String>,
}

/// What became of the records.
#[derive(Default)]
struct Counts {
    records: u64,
    removed: u64,
    cut: u64,
    cut_bytes: u64,
    found: u64,
    limited: u64,
    failed: u64,
    bytes: u64,
}

pub(crate) fn run(global: &GlobalOptions, args: &Screen) -> Result<Ending, Failure> {
    interrupt::catch()?;
    let start = Instant::now();
    let most = args.most()?;
    let mut targets = Targets::resolve(&args.outputs())?;
    if let Some(file) = targets.among(&args.paths) {
        let place = file.display();
        return Err(anyhow!("{place}: is an input; delete it, or write to another file").into());
    }
    let index = opening::to_read(global, &args.index)?;
    let snapshot = Arc::new(index.snapshot()?);
    let settings = *snapshot.settings();
    opening::check_passages(&args.index, &settings)?;
    // An index without passages or texts is told once, before any record.
    snapshot.known_passages("")?;
    args.input.check(settings.shingle, settings.weighted, &args.index)?;
    targets.find_shards(&args.outputs(), args.inputs(&targets, &settings))?;
    announce_standard_input(global, &args.paths);
    let records = args.records(&targets, &snapshot, global.quiet)?;
    let mut progress = ProgressBar::new(global, records.expected_bytes);
    let mut writing = None;
    let mut counts = Counts::default();
    let mut screen = Screening { global, args, targets: &targets, most, progress: &mut progress };
    let screened = screen.all(records, &mut writing, &mut counts);
    let interrupted = interrupt::asked();
    match (writing, &screened) {
        (Some(run), Ok(())) if !interrupted => run.finish(&targets)?,
        (Some(run), Ok(())) => run.discard()?,
        // What failed first is told, not what follows from it.
        (Some(run), Err(_)) => drop(run.discard()),
        (None, _) => {}
    }
    screened?;
    progress.finish();
    counts.report(global, args, start.elapsed().as_secs_f64(), interrupted);
    if interrupted {
        let records = count(counts.records, "record");
        let index = args.index.display();
        return Err(anyhow!("{index}: interrupted after {records}; no file was written").into());
    }
    Ok(if counts.failed > 0 { Ending::SomeFailed } else { Ending::Done })
}

/// What the records go through.
struct Screening<'a> {
    global: &'a GlobalOptions,
    args: &'a Screen,
    targets: &'a Targets,
    most: f64,
    progress: &'a mut ProgressBar,
}

impl<'a> Screening<'a> {
    /// Writes all records, or what is left of them. The outputs begin with the first good record.
    fn all(
        &mut self,
        records: Records<IndexResult<Screened>>,
        writing: &mut Option<Writing<'a>>,
        counts: &mut Counts,
    ) -> Result<(), Failure> {
        let Self { global, args, targets, most, .. } = *self;
        let mut sources = Vec::new();
        counts.failed = kept::read_all(&targets.out, records, self.progress, |good, source, _| {
            source.add_to(&mut sources);
            if writing.is_none() && !good.is_empty() {
                *writing = Some(Writing::begin(global, args, targets)?);
            }
            if let Some(run) = writing {
                run.kept_from(sources.drain(..))?;
                good.into_iter().try_for_each(|screened| run.write(screened?, most, counts))?;
            }
            Ok(())
        })?;
        if writing.is_none() && counts.failed == 0 && !interrupt::asked() {
            let run = writing.insert(Writing::begin(global, args, targets)?);
            run.kept_from(sources)?;
        }
        Ok(())
    }
}

impl Screen {
    /// The largest share of a record that may be known.
    fn most(&self) -> Result<f64, Failure> {
        if let Some(field) = &self.annotate {
            if self.remove == Remove::Records && self.max_overlap.is_none() {
                return Err(anyhow!(
                    "--annotate marks records that are kept; say --remove nothing, or --max-overlap"
                )
                .into());
            }
            if field == self.input.text_field() {
                return Err(anyhow!("--annotate {field}: is the field of the text").into());
            }
            if field == self.input.id_field() {
                return Err(anyhow!("--annotate {field}: is the field of the id").into());
            }
        }
        let most = match (self.remove, self.max_overlap) {
            (Remove::Nothing, Some(_)) => {
                return Err(
                    anyhow!("--max-overlap removes records, and --remove nothing none").into()
                );
            }
            (Remove::Records, most) => most.unwrap_or(0.0),
            (Remove::Spans | Remove::Nothing, most) => most.unwrap_or(1.0),
        };
        if !(0.0..=1.0).contains(&most) {
            return Err(anyhow!("--max-overlap is a share from 0 to 1, not {most}").into());
        }
        Ok(most)
    }

    /// What is written where.
    fn outputs(&self) -> OutputRequest<'_> {
        OutputRequest {
            paths: &self.paths,
            index: &self.index,
            against: &[],
            output: self.output.as_deref(),
            removed: self.removed.as_deref(),
            report: None,
            dry_run: self.dry_run,
        }
    }

    /// The inputs to read. What the command itself writes is left out of directories.
    fn inputs(&self, targets: &Targets, settings: &Settings) -> Inputs {
        let mut inputs = self.input.of(&self.paths, &self.index, settings.weighted);
        inputs.leave_out.extend(targets.files());
        inputs.whole_rows = targets.writes();
        inputs
    }

    /// Starts to read the input, and to compare it with the index on all threads.
    fn records(
        &self,
        targets: &Targets,
        snapshot: &Arc<Snapshot>,
        quiet: bool,
    ) -> Result<Records<IndexResult<Screened>>, Failure> {
        let snapshot = Arc::clone(snapshot);
        let settings = *snapshot.settings();
        let mut inputs = self.inputs(targets, &settings);
        self.naming.apply(&mut inputs, quiet);
        let cuts = self.remove == Remove::Spans;
        records::start_long(inputs, &settings, move |record| {
            let place = record.place;
            let id = record.name.into_id().unwrap_or_else(|| place.clone());
            let content = record.body.content();
            let known = match snapshot.known_passages(content) {
                Ok(known) => known,
                // Such an error is of the index, not of the record, so it ends the command.
                Err(error) => return Ok(Err(error)),
            };
            let text = match content {
                Content::Text(text) => text,
                Content::Tokens(_) | Content::Weights(_) => "",
            };
            let rest = (cuts && !known.is_empty()).then(|| known.without(text));
            let written = OutputRecord::new(record.raw);
            if !written.is_one_line() {
                let cause = "its name holds a line break, which a list of paths cannot have".into();
                return Err(BadRecord { place, cause });
            }
            let form = record.form;
            let bytes = text.len() as u64;
            Ok(Ok(Screened { id, place, written, form, bytes, known, rest }))
        })
    }
}

/// The outputs of a run.
struct Writing<'a> {
    args: &'a Screen,
    kept: Kept,
    audit: Audit,
    /// The records since the outputs were made durable.
    in_batch: usize,
}

impl<'a> Writing<'a> {
    fn begin(global: &GlobalOptions, args: &'a Screen, targets: &Targets) -> Result<Self, Failure> {
        let kept = Kept::create(&targets.out)?;
        let audit = Audit::begin(global, targets, KNOWN_COLUMNS.to_vec(), None, false)?;
        Ok(Self { args, kept, audit, in_batch: 0 })
    }

    /// Says where the next records come from.
    fn kept_from(&mut self, sources: impl IntoIterator<Item = Source>) -> Result<(), Failure> {
        sources.into_iter().try_for_each(|source| self.kept.begin(&source))
    }

    /// Writes a record, what is left of it, or nothing of it.
    fn write(&mut self, screened: Screened, most: f64, counts: &mut Counts) -> Result<(), Failure> {
        let Screened { id, place, written, form, bytes, known, rest } = screened;
        self.kept.admit(&written, &place)?;
        counts.records += 1;
        counts.bytes += bytes;
        counts.limited += u64::from(known.limited);
        self.in_batch += 1;
        if known.is_empty() {
            self.kept.write(&written)?;
        } else {
            counts.found += 1;
            if rest.is_some() && form == TextForm::Fixed {
                return Err(fixed_text(&place));
            }
            let nothing_left =
                rest.as_ref().is_some_and(|rest| rest.chars().all(char::is_whitespace));
            let keeps = known.share() <= most && !nothing_left;
            self.audit.line(known_values(&id, known.share(), passages_of(&known), keeps))?;
            if keeps {
                let written = self.changed(written, &place, form, &known, rest.as_deref())?;
                self.kept.write(&written)?;
                if let Some(rest) = rest.filter(|_| !known.cuts().is_empty()) {
                    counts.cut += 1;
                    counts.cut_bytes += bytes.saturating_sub(rest.len() as u64);
                }
            } else {
                counts.removed += 1;
            }
        }
        if self.in_batch >= BATCH {
            self.in_batch = 0;
            self.kept.sync(false)?;
            self.audit.sync()?;
        }
        Ok(())
    }

    /// A record that is kept, without its known passages or with a field that tells of them.
    fn changed(
        &self,
        written: OutputRecord,
        place: &str,
        form: TextForm,
        known: &KnownPassages,
        rest: Option<&str>,
    ) -> Result<OutputRecord, Failure> {
        let written = match rest.filter(|_| !known.cuts().is_empty()) {
            Some(rest) => {
                let field = self.args.input.text_field();
                written.with_text(form, field, rest).ok_or_else(|| fixed_text(place))?
            }
            None => written,
        };
        let Some(field) = &self.args.annotate else { return Ok(written) };
        let share = likeness(known.share(), true);
        let value = json!({ "known": share, "passages": passages_of(known) });
        written.with_field(form, field, &value).ok_or_else(|| {
            anyhow!("{place}: --annotate adds a field to JSON Lines alone; see --removed").into()
        })
    }

    /// Deletes what was written.
    fn discard(self) -> Result<(), Failure> {
        let kept = self.kept.discard();
        self.audit.discard().and(kept)
    }

    /// Gives the outputs their names. A full disk may be noticed only now: then no file is left.
    fn finish(mut self, targets: &Targets) -> Result<(), Failure> {
        let written = self.kept.sync(true).map(drop).and_then(|()| self.audit.sync());
        if let Err(failure) = written {
            drop(self.discard());
            return Err(failure);
        }
        let spool = self.audit.finish()?;
        self.kept.finish().map(drop)?;
        targets.deliver()?;
        if let Some(spool) = spool {
            spool.discard()?;
        }
        targets.clean_up()
    }
}

impl Counts {
    /// Prints the summary.
    fn report(&self, global: &GlobalOptions, args: &Screen, seconds: f64, interrupted: bool) {
        let fields = [
            ("records", self.records.into()),
            ("found", self.found.into()),
            ("removed", self.removed.into()),
            ("cut", self.cut.into()),
            ("cut_bytes", self.cut_bytes.into()),
            ("limited", self.limited.into()),
            ("failed", self.failed.into()),
            ("bytes", self.bytes.into()),
            ("seconds", whole_millis(seconds)),
            ("interrupted", interrupted.into()),
            ("dry_run", args.dry_run.into()),
        ];
        let mut sentence = format!(
            "known passages in {} of {}{}{}",
            grouped(self.found),
            count(self.records, "record"),
            listed(&[
                (self.removed, if args.dry_run { "to be removed" } else { "removed" }),
                (self.cut, if args.dry_run { "to be cut" } else { "cut" }),
            ]),
            match self.cut_bytes {
                0 => String::new(),
                cut => format!(" by {}", bytes(cut)),
            },
        );
        sentence += &listed(&[(self.failed, "failed")]);
        sentence += &format!(" in {seconds:.1} s: {} of text", bytes(self.bytes));
        if seconds > 0.0 {
            let rate = (self.bytes as f64 / seconds) as u64;
            sentence += &format!(", {}/s", bytes(rate));
        }
        if self.limited > 0 {
            sentence += &format!(
                "; {} compared with only the first documents of a passage that more than 100 have",
                count(self.limited, "record")
            );
        }
        summary(global, &fields, &sentence);
    }
}
