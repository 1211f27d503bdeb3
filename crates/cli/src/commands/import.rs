//! `twindex import`: adds the JSON Lines of an export to an index.

use crate::commands::exported::{self, Header, LineReader};
use crate::commands::info::warn_of_other_unicode;
use crate::commands::insert_batches::{BatchInserter, InsertOptions, PlacedDocument};
use crate::input::{BadRecord, Block, Line, STANDARD_INPUT, share, too_long};
use crate::run::bad_records::BadRecords;
use crate::run::failure::Failure;
use crate::run::global_options::GlobalOptions;
use crate::run::input_options::{LONGEST, announce_standard_input, size};
use crate::run::read_ahead::{ReadAhead, blocks_ahead};
use crate::run::{ending::Ending, opening};
use crate::terminal::interrupt;
use crate::terminal::output::{count, grouped};
use crate::terminal::progress_bar::ProgressBar;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Instant;
use twindex::{Index, IndexOptions, UnicodeVersions};

#[derive(Debug, clap::Args)]
#[command(after_help = "\
The first line is the header that export writes; it has the settings. If INDEX does not exist, it
is created with them; if it exists, its settings must be equal. A document needs the fields id,
signature, and set_code or set_size. text_hash, text_bytes, inserted and, unless the index stores
texts, text are optional. If there is a text, the other fields must be those of the text.

Examples:
  twindex import copy.twx pages.jsonl
  zcat pages.jsonl.gz | twindex import copy.twx")]
pub(crate) struct Import {
    /// The index file
    pub(crate) index: PathBuf,
    /// A file, or - for standard input
    #[arg(default_value = STANDARD_INPUT)]
    pub(crate) path: PathBuf,
    /// The most bytes of a line, after decompression; longer ones are reported and left out,
    /// without being held in memory
    #[arg(long, value_name = "SIZE", default_value = LONGEST, value_parser = size)]
    pub(crate) max_record: usize,
    #[command(flatten)]
    pub(crate) insert: InsertOptions,
}

/// A reader of the lines of an export. It has read the header.
struct ExportReader {
    name: String,
    blocks: ReadAhead<io::Result<Block>>,
    header: Header,
    /// The number of the header's line. Documents follow it.
    header_line: u64,
    /// The most bytes of a line.
    most: usize,
    /// The block that contains the header, until `next` returns it.
    first: Option<Block>,
}

pub(crate) fn run(global: &GlobalOptions, args: &Import) -> Result<Ending, Failure> {
    interrupt::catch()?;
    let start = Instant::now();
    announce_standard_input(global, std::slice::from_ref(&args.path));
    let mut lines = ExportReader::open(&args.path, args.max_record)?;
    let index = open_or_create(global, args, &lines)?;
    let progress = ProgressBar::of_documents(global, lines.header.documents);
    let mut inserter = BatchInserter::new(&args.insert, global, start);
    let mut bad_records = BadRecords::default();
    let mut seen = 0_u64;
    while let Some(block) = lines.next()? {
        let read = lines.read(&block, &index);
        seen += read.len() as u64;
        progress.add_documents(read.len() as u64);
        let mut good = Vec::with_capacity(read.len());
        for document in read {
            match document {
                Ok(document) => good.push(document),
                Err(bad) => inserter.failed(1, &bad_records.add(&bad), &progress),
            }
        }
        inserter.insert(&index, good, &progress)?;
    }
    inserter.failed(0, bad_records.finish().as_slice(), &progress);
    progress.finish();
    let ending = inserter.finish(global, &args.index)?;
    index.close()?;
    let ExportReader { name, header: Header { documents, .. }, .. } = lines;
    if seen != documents {
        let cause = if seen < documents {
            "it was cut short"
        } else {
            "it is more than one export, or was changed"
        };
        return Err(anyhow::anyhow!(
            "{name}: its header names {}, it has {}: {cause}; what could be read is in",
            count(documents, "document"),
            grouped(seen)
        )
        .into());
    }
    Ok(ending)
}

/// Opens the index to write to, or creates it with the settings of the export.
fn open_or_create(
    global: &GlobalOptions,
    args: &Import,
    lines: &ExportReader,
) -> Result<Index, Failure> {
    let settings = &lines.header.settings;
    if args.index.symlink_metadata().is_err() {
        let options = IndexOptions::new().with_settings(settings);
        return opening::open(global, options, |options| options.open_or_create(&args.index));
    }
    let index = opening::to_write(global, &args.index)?;
    index.settings().check_same(&args.index, settings, Path::new(&lines.name))?;
    warn_of_other_unicode(Path::new(&lines.name), settings.unicode, index.settings().unicode);
    Ok(index)
}

impl ExportReader {
    /// Opens an export and reads its header.
    fn open(path: &Path, most: usize) -> Result<Self, Failure> {
        let standard = path.as_os_str() == STANDARD_INPUT;
        let name = if standard { "standard input".to_owned() } else { path.display().to_string() };
        let mut blocks = blocks_ahead(path, most)?;
        loop {
            let block = blocks.next().transpose();
            let block = block.map_err(|error| anyhow::anyhow!("{name}: {error}"))?;
            let Some(block) = block else {
                let what = if interrupt::asked() {
                    "interrupted; nothing was changed"
                } else {
                    "no export of twindex: it is empty"
                };
                return Err(anyhow::anyhow!("{name}: {what}").into());
            };
            let header = match block.cut {
                Some(_) => Some((1, &b""[..])),
                None => block
                    .lines()
                    .into_iter()
                    .find(|line| !line.text.trim_ascii().is_empty())
                    .map(|line| (line.number, line.text)),
            };
            if let Some((header_line, line)) = header {
                let header = exported::read_header(line);
                let header = header.map_err(|cause| anyhow::anyhow!("{name}: {cause}"))?;
                return Ok(Self { name, blocks, header, header_line, most, first: Some(block) });
            }
        }
    }

    /// Returns the next block of lines, or `None` at the end.
    fn next(&mut self) -> Result<Option<Block>, Failure> {
        if let Some(first) = self.first.take() {
            return Ok(Some(first));
        }
        let name = &self.name;
        Ok(self
            .blocks
            .next()
            .transpose()
            .map_err(|error| anyhow::anyhow!("{name}: {error}; what came before is not all in"))?)
    }

    /// Reads the documents of a block in parallel. A line that cannot be read is a bad record.
    fn read(&self, block: &Block, index: &Index) -> Vec<Result<PlacedDocument, BadRecord>> {
        let Self { name, header_line, header, most, .. } = self;
        let place = |number: u64| format!("{name}:{number}");
        let bad = |number: u64, cause: String| BadRecord { place: place(number), cause };
        let too_long = |number: u64| bad(number, too_long(*most));
        if let Some(number) = block.cut {
            return vec![Err(too_long(number))];
        }
        let reader = LineReader {
            sketcher: index.sketcher(),
            with_text: index.settings().store_text,
            with_passages: index.settings().winnowing.is_some(),
            same_tables: header.settings.unicode == UnicodeVersions::current(),
        };
        let read = |Line { number, text, .. }: Line<'_>| {
            if number <= *header_line || text.trim_ascii().is_empty() {
                return None;
            }
            if text.len() > *most {
                return Some(Err(too_long(number)));
            }
            Some(match exported::read_line(text, reader) {
                Ok(document) => Ok(PlacedDocument { document, place: Some(place(number)) }),
                Err(cause) => Err(bad(number, cause)),
            })
        };
        share::map(block.lines(), read).into_iter().flatten().collect()
    }
}
