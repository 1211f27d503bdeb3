//! `twindex add`: adds documents from files and streams to an index.

use crate::commands::insert_batches::{BatchInserter, InsertOptions, PlacedDocument};
use crate::input::BadRecord;
use crate::run::failure::Failure;
use crate::run::global_options::GlobalOptions;
use crate::run::index_settings::IndexSettings;
use crate::run::input_options::{InputOptions, NamingOptions, announce_standard_input};
use crate::run::short_texts::ShortTexts;
use crate::run::{ending::Ending, opening, records};
use crate::terminal::interrupt;
use crate::terminal::progress_bar::ProgressBar;
use std::path::PathBuf;
use std::time::Instant;
use twindex::{Document, Error, Index};

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Directories are read in order of names. Hidden files and files that .gitignore names are skipped.
Inputs may be compressed with gzip or zstd, whatever their names.
A record that cannot be read is reported and skipped; the exit status is then 2.
After an interruption, run the same command again: documents already in the index are `unchanged`.

Examples:
  twindex add pages.twx pages.jsonl more.jsonl
  twindex add pages.twx docs/                       one document a file
  twindex add verses.twx --format lines kjv.txt     one document a line
  twindex add shop.twx --text-field title items.csv.gz
  twindex add tags.twx --shingle token --format tokens tags.txt
  twindex add genomes.twx --shingle kmer:21 --threshold 0.4 *.fna.gz
  twindex add contigs.twx --shingle kmer:21 --per-record assembly.fasta
  twindex add docs.twx --weighted tfidf.jsonl       tokens with a number each
  generate | twindex add pages.twx -                JSON Lines or lines")]
pub(crate) struct Add {
    /// The index file
    pub(crate) index: PathBuf,
    /// Files, directories, or - for standard input
    #[arg(default_value = "-")]
    pub(crate) paths: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) naming: NamingOptions,
    #[command(flatten)]
    pub(crate) input: InputOptions,
    #[command(flatten)]
    pub(crate) insert: InsertOptions,
    #[command(flatten)]
    pub(crate) settings: IndexSettings,
}

pub(crate) fn run(global: &GlobalOptions, args: &Add) -> Result<Ending, Failure> {
    interrupt::catch()?;
    let start = Instant::now();
    let options = args.settings.options();
    let mut index =
        opening::open(global, options.clone(), |options| match options.open(&args.index) {
            Err(Error::NotFound { .. }) => Ok(None),
            opened => opened.map(Some),
        })?;
    let settings = match &index {
        Some(index) => {
            args.settings.check_seed(index.settings(), &args.index)?;
            *index.settings()
        }
        None => options.settings()?,
    };
    let weighted = settings.weighted;
    args.input.check(settings.shingle, weighted, &args.index)?;
    announce_standard_input(global, &args.paths);
    let mut inputs = args.input.of(&args.paths, &args.index, weighted);
    args.naming.apply(&mut inputs, global.quiet);
    let (sketcher, tells_places) = (settings.sketcher()?, args.insert.tells_places());
    let records = records::start(inputs, &settings, move |record| {
        let id = record.name.into_id();
        let named = id.is_some();
        let id = id.unwrap_or_else(|| "#".to_owned());
        let place = record.place;
        let document = match Document::prepare(id, record.body.content(), &sketcher, &settings) {
            Ok(document) if named => document,
            Ok(document) => document.without_id(),
            Err(error) => return Err(BadRecord { place, cause: error.to_string() }),
        };
        Ok(PlacedDocument { document, place: tells_places.then_some(place) })
    })?;
    let mut progress = ProgressBar::new(global, records.expected_bytes);
    let mut inserter = BatchInserter::new(&args.insert, global, start);
    let mut short_texts = ShortTexts::of_first(index.as_ref(), &settings)?;
    for parsed in records {
        let documents = parsed.records();
        inserter.failed(parsed.failed, &parsed.messages, &progress);
        if let Some(texts) = &mut short_texts {
            parsed.good.iter().for_each(|placed| texts.add(&placed.document));
        }
        if !parsed.good.is_empty() {
            // An index is made with the first good record, so that a run that fails makes none.
            let index = match &mut index {
                Some(index) => index,
                none => none.insert(opening::create(global, &args.index, &settings)?.0),
            };
            inserter.insert(index, parsed.good, &progress)?;
        }
        progress.add(documents, parsed.bytes);
    }
    progress.finish();
    if index.is_none() && inserter.has_not_failed() && !interrupt::asked() {
        index = Some(opening::create(global, &args.index, &settings)?.0);
    }
    if let Some(texts) = &mut short_texts {
        texts.tell(global);
    }
    let ending = inserter.finish(global, &args.index)?;
    index.map_or(Ok(()), Index::close)?;
    Ok(ending)
}
