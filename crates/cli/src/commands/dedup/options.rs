//! The options of `twindex dedup`, and what follows from them alone.

use crate::commands::dedup::input_record::InputRecord;
use crate::commands::dedup::records_hash::hash_of;
use crate::commands::dedup::removal::{DUPLICATES, RemovalOptions};
use crate::commands::outputs::kept_output::OutputRecord;
use crate::commands::outputs::request::OutputRequest;
use crate::commands::outputs::targets::Targets;
use crate::commands::replace_guard::ReplaceOptions;
use crate::input::{BadRecord, Inputs, RecordName};
use crate::remote::is_remote;
use crate::run::failure::Failure;
use crate::run::global_options::GlobalOptions;
use crate::run::index_settings::IndexSettings;
use crate::run::input_options::{InputOptions, NamingOptions, can_be_read_again, shown};
use crate::run::preference::Preference;
use crate::run::records::Records;
use crate::run::resume_key::ResumeKey;
use crate::run::{opening, records};
use anyhow::anyhow;
use std::path::{Path, PathBuf};
use twindex::{DEFAULT_MAX_CANDIDATES, Document, Error, Index, Settings, Signature, Sketcher};

/// The headings of the options in the help.
const OUTPUT: &str = "Output";
const WRITING: &str = "Writing to the index";

#[derive(Debug, clap::Args)]
#[command(override_usage = "\
twindex dedup [OPTIONS] -o <OUT> <INDEX> [PATHS]...
       twindex dedup [OPTIONS] --dry-run <INDEX> [PATHS]...")]
#[command(after_help = "\
Records are judged in input order. A record that is similar to a known document is removed and
reported in the audit; known documents are those of the index, of the indexes of --against, and
the kept records before it. Any other record is written to OUT unchanged, and added to the index.
A record whose id and text are in the index already is written again. A record whose id is in the
index with another text is judged like any other, and replaces that document if it is kept.

OUT appears under its name when it is complete. If the command is stopped or killed, the same
command resumes where it was; --restart starts over.
Audit columns (fields in FILE, and with --json): id, duplicate_of, similarity, exact.
With --remove contained also: contained (the share of the record), kept.
With --remove spans and covered: id, kept, known (the share of the record), passages (start and
end in bytes, the document that has it, its place there).
Then, at the end: with --id hash, record (where it is in the input); with --against, against (the
index that has duplicate_of, if it is not INDEX); with --removed-text, text.

Examples:
  twindex dedup seen.twx today.jsonl -o new.jsonl --removed removed.jsonl
  twindex dedup seen.twx today.jsonl --dry-run --report today.html
  twindex dedup train.twx crawl.csv -o train.csv --against test.twx
  twindex dedup docs.twx docs/ -o kept-paths.txt --threshold 0.9
  twindex dedup seen.twx crawl.jsonl -o once.jsonl --remove spans --passages 200
  twindex dedup seen.twx crawl/ -o kept/ --removed removed.jsonl")]
pub(crate) struct Dedup {
    /// The index file; created if there is none
    pub(crate) index: PathBuf,
    /// Files, directories, or - for standard input
    #[arg(default_value = "-")]
    pub(crate) paths: Vec<PathBuf>,
    /// Write the kept records to this file, unchanged; rows of Parquet and Arrow if its name ends
    /// in .parquet, .arrow or .arrows; for whole files, their paths; - for standard output. A
    /// folder, or a name with / at its end, takes a file for each file of the input
    #[arg(
        help_heading = OUTPUT,
        long,
        short,
        value_name = "OUT",
        required_unless_present = "dry_run"
    )]
    pub(crate) output: Option<PathBuf>,
    /// Write a JSON line for each removed record to this file [default: standard output]
    #[arg(help_heading = OUTPUT, long, value_name = "FILE")]
    pub(crate) removed: Option<PathBuf>,
    /// Add the text of each record to its line of the audit, as its last column
    #[arg(help_heading = OUTPUT, long)]
    pub(crate) removed_text: bool,
    /// Write a page to this file that shows what was removed, and why: numbers, pairs to judge,
    /// clusters, sources. It is one file for a browser
    #[arg(help_heading = OUTPUT, long, value_name = "FILE.html")]
    pub(crate) report: Option<PathBuf>,
    /// The field of a record, or column of a table, that says where it comes from, for --report and
    /// for --keep prefer:SOURCE [default: its file or folder]
    #[arg(help_heading = OUTPUT, long, value_name = "NAME")]
    pub(crate) group_field: Option<String>,
    /// Change no file; only print what would be removed, and write the report
    #[arg(help_heading = OUTPUT, long)]
    pub(crate) dry_run: bool,
    /// Do not write records whose id and text are in the index already
    #[arg(help_heading = OUTPUT, long)]
    pub(crate) skip_known: bool,
    /// Also remove records similar to a document of this index, which is only read (repeatable)
    #[arg(help_heading = DUPLICATES, long, value_name = "INDEX")]
    pub(crate) against: Vec<PathBuf>,
    /// Which of similar records to keep: first; longest; id, the smallest; max:FIELD or min:FIELD,
    /// by a number or date; prefer:SOURCE,SOURCE,..., by file, folder or --group-field. Any but
    /// first reads the input twice. What earlier runs have kept stays
    #[arg(
        help_heading = DUPLICATES,
        long,
        value_name = "RULE",
        default_value_t = Preference::First
    )]
    pub(crate) keep: Preference,
    /// Use estimates even if the index stores texts: faster, because no text is read
    #[arg(help_heading = DUPLICATES, long)]
    pub(crate) estimate: bool,
    /// Compare a record with at most this many candidates of an index: those that share the most
    /// buckets with it
    #[arg(
        help_heading = DUPLICATES,
        long,
        value_name = "DOCS",
        default_value_t = DEFAULT_MAX_CANDIDATES as u32,
        value_parser = clap::value_parser!(u32).range(1..)
    )]
    pub(crate) max_candidates: u32,
    /// Renew the insertion time of a document when it or a duplicate of it comes again
    #[arg(help_heading = WRITING, long)]
    pub(crate) touch: bool,
    /// Start over instead of resuming an interrupted run of the same command
    #[arg(help_heading = WRITING, long)]
    pub(crate) restart: bool,
    /// Records in one commit [default: 50000, or as many as have 256 MiB of text]
    #[arg(
        help_heading = WRITING,
        long,
        value_name = "DOCS",
        value_parser = clap::value_parser!(u32).range(1..)
    )]
    pub(crate) batch: Option<u32>,
    #[command(flatten)]
    pub(crate) removal: RemovalOptions,
    #[command(flatten)]
    pub(crate) replace: ReplaceOptions,
    #[command(flatten)]
    pub(crate) naming: NamingOptions,
    #[command(flatten)]
    pub(crate) input: InputOptions,
    #[command(flatten)]
    pub(crate) settings: IndexSettings,
}

/// What the input is read for.
pub(crate) enum Purpose {
    /// To judge its records.
    Judge(Sketcher),
    /// To compare it with the input of an earlier run: ids and hashes of texts suffice.
    Compare,
    /// To write its records.
    Write,
}

impl Dedup {
    /// Opens the index; `None` if there is none. Only a new index stores the threshold of this run.
    pub(super) fn open(
        &self,
        global: &GlobalOptions,
        place: &Path,
    ) -> Result<Option<Index>, Failure> {
        opening::open(global, self.settings.options_but_threshold(), |options| {
            match options.open(place) {
                Err(Error::NotFound { .. }) => Ok(None),
                opened => opened.map(Some),
            }
        })
    }

    /// What is written where.
    pub(super) fn outputs(&self) -> OutputRequest<'_> {
        OutputRequest {
            paths: &self.paths,
            index: &self.index,
            against: &self.against,
            output: self.output.as_deref(),
            removed: self.removed.as_deref(),
            report: self.report.as_deref(),
            dry_run: self.dry_run,
        }
    }

    /// The inputs to read. What the command itself writes is left out of directories.
    pub(super) fn inputs(&self, targets: &Targets, settings: &Settings) -> Inputs {
        let mut inputs = self.input.of(&self.paths, &self.index, settings.weighted);
        inputs.sequences = settings.shingle.kmer_width().is_some();
        let others = self.against.iter().chain(&self.report).cloned();
        inputs.leave_out.extend(targets.files().into_iter().chain(others));
        inputs
    }

    /// Starts to read the input. Unless records are to be judged, documents have an empty
    /// signature.
    pub(crate) fn records(
        &self,
        targets: &Targets,
        settings: &Settings,
        purpose: Purpose,
        quiet: bool,
    ) -> Result<Records<InputRecord>, Failure> {
        let settings = *settings;
        let mut inputs = self.inputs(targets, &settings);
        let (keep, group_field) = (self.keep.clone(), self.group_field.clone());
        inputs.whole_rows = match &purpose {
            Purpose::Judge(_) if targets.writes() => true,
            Purpose::Judge(_) | Purpose::Compare => keep.reads_fields(group_field.as_deref()),
            Purpose::Write => true,
        };
        self.naming.apply(&mut inputs, quiet);
        let removed_text = self.removed_text;
        let none = Signature::empty(settings.lanes())?;
        records::start(inputs, &settings, move |record| {
            let rank = keep.rank(&record, group_field.as_deref());
            let numbered = matches!(record.name, RecordName::Numbered(_));
            let id = record.name.into_id();
            let named = id.is_some();
            let id = id.unwrap_or_else(|| "#".to_owned());
            let place = record.place;
            let text = record.body.text().filter(|_| removed_text).map(str::to_owned);
            let (written, form) = (OutputRecord::new(record.raw), record.form);
            if !written.is_one_line() {
                let cause = "its name holds a line break, which a list of paths cannot have".into();
                return Err(BadRecord { place, cause });
            }
            let document = match &purpose {
                Purpose::Judge(sketcher) => {
                    Document::prepare(id, record.body.content(), sketcher, &settings)
                }
                Purpose::Compare | Purpose::Write => Document::from_signature(id, none.clone())
                    .map(|document| {
                        let whole = document.with_content(record.body.content());
                        let (hash, bytes) = (whole.text_hash(), whole.text_bytes());
                        whole.with_text_hash(hash, bytes)
                    }),
            };
            match document {
                Ok(document) => {
                    let document = if named { document } else { document.without_id() };
                    let hash = hash_of(&written);
                    Ok(InputRecord { document, place, numbered, rank, written, hash, form, text })
                }
                Err(error) => Err(BadRecord { place, cause: error.to_string() }),
            }
        })
    }

    /// Refuses an order of preference where there can be none.
    pub(super) fn check_keep(&self) -> Result<(), Failure> {
        let is_by_source = matches!(self.keep, Preference::Sources(_));
        if self.group_field.is_some() && self.report.is_none() && !is_by_source {
            return Err(anyhow!("--group-field is for --report and --keep prefer:SOURCE").into());
        }
        if !self.keep.is_ordered() {
            return Ok(());
        }
        let keep = &self.keep;
        if self.removal.remove.is_by_passages() {
            return Err(anyhow!("--keep {keep} is for --remove similar and contained").into());
        }
        match self.paths.iter().find(|path| !can_be_read_again(path)) {
            Some(path) => Err(anyhow!(
                "{}: --keep {keep} reads its input twice, and a stream ends; write it to a file",
                shown(path)
            )
            .into()),
            None => Ok(()),
        }
    }

    /// The columns of the audit.
    pub(super) fn audit_columns(&self) -> Vec<&'static str> {
        let record = self.naming.is_hash().then_some("record");
        let against = (!self.against.is_empty()).then_some("against");
        let text = self.removed_text.then_some("text");
        self.removal
            .remove
            .audit_columns()
            .iter()
            .copied()
            .chain(record)
            .chain(against)
            .chain(text)
            .collect()
    }

    /// Returns the key of everything that decides which records go where.
    ///
    /// A command resumes an interrupted run if their keys are equal: the same folder, inputs in the
    /// same order, outputs, `--against` indexes, threshold and options. The sizes of commits and
    /// caches are not part of the key.
    pub(super) fn resume_key(&self, threshold: f64) -> ResumeKey {
        let key = ResumeKey::default()
            .with_paths("folder", std::env::current_dir().ok().as_deref())
            .with_paths("input", self.paths.iter().map(PathBuf::as_path))
            .with_paths("output", self.output.as_deref().map(unslashed))
            .with_paths("removed", self.removed.as_deref())
            .with_paths("against", self.against.iter().map(PathBuf::as_path))
            .with("threshold", threshold.to_bits().to_le_bytes())
            .with_flag("skip-known", self.skip_known)
            .with_flag("touch", self.touch)
            .with_flag("id-hash", self.naming.is_hash())
            .with_flag("removed-text", self.removed_text)
            .with_flag("estimate", self.estimate)
            .with("max-candidates", self.max_candidates.to_le_bytes())
            .with_option("keep", self.keep.is_ordered().then(|| self.keep.to_string()))
            .with_option(
                "group-field",
                self.group_field.as_ref().filter(|_| self.keep.is_ordered()),
            );
        self.input.add_to(self.removal.add_to(key))
    }
}

/// The path without a slash at its end. Both name the same folder.
fn unslashed(path: &Path) -> &Path {
    if is_remote(path) { path } else { path.components().as_path() }
}
