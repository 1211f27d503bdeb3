//! `twindex export`: writes an index as JSON Lines, or as a table by columns.

use crate::commands::export_columns::DocumentTable;
use crate::commands::exported;
use crate::input::same_file;
use crate::run::column_format::ColumnFormat;
use crate::run::failure::Failure;
use crate::run::global_options::GlobalOptions;
use crate::run::output_names::{NamedFormat, check_name};
use crate::run::results_file::ResultsFile;
use crate::run::results_table::check_compression;
use crate::run::{ending::Ending, opening};
use crate::terminal::interrupt;
use crate::terminal::output::{bytes, count, summary, whole_millis};
use crate::terminal::progress_bar::ProgressBar;
use anyhow::Context;
use std::path::{Path, PathBuf};
use std::time::Instant;

#[derive(Debug, clap::Args)]
#[command(after_help = "\
The first line has the settings and the number of documents. Each line after it is a document, in
insertion order: id, set_size, set_code, signature, text_bytes, text_hash, inserted. A file named
.parquet or .arrow gets the same as columns, without set_code, for other programs; import reads
JSON Lines.

Examples:
  twindex export pages.twx -o pages.jsonl
  twindex export pages.twx -o pages.parquet
  twindex export pages.twx | gzip > pages.jsonl.gz
  twindex export pages.twx | twindex import copy.twx")]
pub(crate) struct Export {
    /// The index file
    pub(crate) index: PathBuf,
    /// Write to this file, which appears under its name when it is complete [default: standard
    /// output]
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
}

/// What the documents are written to.
enum Out {
    Lines(Box<ResultsFile>),
    Table(Box<DocumentTable>),
}

pub(crate) fn run(global: &GlobalOptions, args: &Export) -> Result<Ending, Failure> {
    interrupt::catch()?;
    let start = Instant::now();
    let index = opening::to_read(global, &args.index)?;
    if let Some(output) = args.output.as_deref().filter(|output| same_file(output, &args.index)) {
        let name = output.display();
        return Err(anyhow::anyhow!("{name}: it is the index itself; choose another file").into());
    }
    if let Some(output) = &args.output {
        check_compression(output)?;
        check_name(output, "an export", &[NamedFormat::JsonLines, NamedFormat::Columns])?;
    }
    let snapshot = index.snapshot()?;
    let file = ResultsFile::new(args.output.as_deref())?;
    let progress = ProgressBar::of_documents(global, snapshot.len());
    let not_json = |error| anyhow::anyhow!("writing JSON: {error}");
    let header = exported::header(&snapshot).map_err(not_json)?;
    let mut out = match args.output.as_deref().and_then(ColumnFormat::of) {
        None => Out::Lines(Box::new(file)),
        Some(format) => {
            let table = DocumentTable::new(format, file, &snapshot, header.clone());
            let name = || args.output.as_deref().unwrap_or(Path::new("")).display().to_string();
            Out::Table(Box::new(table.with_context(name)?))
        }
    };
    if let Out::Lines(file) = &mut out {
        file.line(&header)?;
    }
    let mut written = 0_u64;
    for document in snapshot.documents() {
        if interrupt::asked() {
            let written = count(written, "document");
            let what = match &args.output {
                Some(output) => format!("{}: interrupted; nothing was written", output.display()),
                None => format!("interrupted after {written}"),
            };
            return Err(anyhow::anyhow!(what).into());
        }
        let document = document?;
        match &mut out {
            Out::Lines(file) => file.line(&exported::line(&document)?)?,
            Out::Table(table) => table.add(&document)?,
        }
        written += 1;
        progress.add_documents(1);
    }
    let file = match out {
        Out::Lines(file) => *file,
        Out::Table(table) => table.finish()?,
    };
    let size = file.bytes;
    file.finish()?;
    progress.finish();
    let seconds = start.elapsed().as_secs_f64();
    let fields =
        [("documents", written.into()), ("bytes", size.into()), ("seconds", whole_millis(seconds))];
    let sentence =
        format!("exported {} in {seconds:.1} s: {}", count(written, "document"), bytes(size));
    summary(global, &fields, &sentence);
    Ok(Ending::Done)
}
