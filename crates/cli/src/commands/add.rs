//! `twindex add`: adds documents from files and streams to an index.

use crate::input::{BadRecord, RecordName};
use crate::run::failure::Failure;
use crate::run::index_settings::IndexSettings;
use crate::run::input_options::InputOptions;
use crate::run::{conflict::Conflict, global_options::GlobalOptions};
use crate::run::{ending::Ending, opening, records};
use crate::terminal::interrupt;
use crate::terminal::output::{bytes, count, listed, summary, whole_millis};
use crate::terminal::progress_bar::ProgressBar;
use std::path::PathBuf;
use std::time::Instant;
use twindex::{Document, Inserted, OnConflict, WriteTxn};

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Directories are walked in order of names; hidden files and what .gitignore names are left out.
Inputs may be compressed with gzip or zstd, whatever their names.
A record that cannot be read is reported and counted, the rest goes on, and the exit status is 2.
Killed and run again, documents that are in already are `unchanged`.

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
    pub(crate) input: InputOptions,
    /// What to do with a record whose id is in the index with another text
    #[arg(long, value_enum, default_value_t = Conflict::Replace)]
    pub(crate) on_conflict: Conflict,
    /// Documents in one commit
    #[arg(long, value_name = "DOCS", default_value_t = 10_000,
          value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) batch: u32,
    #[command(flatten)]
    pub(crate) settings: IndexSettings,
}

/// The number of documents by outcome, and the bytes of their texts.
#[derive(Default)]
struct Counts {
    added: u64,
    replaced: u64,
    unchanged: u64,
    skipped: u64,
    empty: u64,
    failed: u64,
    bytes: u64,
}

/// A document to insert, and the place in the input that it was read from.
struct PlacedDocument {
    document: Document,
    place: String,
}

pub(crate) fn run(global: &GlobalOptions, args: &Add) -> Result<Ending, Failure> {
    interrupt::catch()?;
    let start = Instant::now();
    if !args.index.exists() {
        // An input that does not fit the settings must fail before the index is created.
        args.input.check(args.settings.shingle(), args.settings.weighted(), &args.index)?;
    }
    let index = opening::open(global, args.settings.options(), |options| {
        options.open_or_create(&args.index)
    })?;
    let (shingle, weighted) = (index.settings().shingle, index.settings().weighted);
    args.input.check(shingle, weighted, &args.index)?;
    let (sketcher, settings) = (index.sketcher().clone(), *index.settings());
    let inputs = args.input.of(&args.paths, &args.index, weighted);
    let records = records::start(inputs, shingle, move |record| {
        let (id, named) = match record.name {
            RecordName::Id(id) => (id, true),
            RecordName::Automatic => ("#".to_owned(), false),
        };
        let place = record.place;
        match Document::prepare(id, record.body.content(), &sketcher, &settings) {
            Ok(document) if named => Ok(PlacedDocument { document, place }),
            Ok(document) => Ok(PlacedDocument { document: document.without_id(), place }),
            Err(error) => Err(BadRecord { place, cause: error.to_string() }),
        }
    })?;
    let mut progress = ProgressBar::new(global, records.expected_bytes);
    let mut counts = Counts::default();
    let mut txn = index.begin_write()?;
    let mut in_batch = 0;
    for parsed in records {
        let documents = parsed.len();
        counts.failed += parsed.failed;
        parsed.messages.iter().for_each(|message| progress.say(message));
        let mut good = parsed.good;
        while !good.is_empty() {
            let room = (args.batch as usize - in_batch).min(good.len());
            let later = good.split_off(room);
            in_batch += good.len();
            insert_batch(&mut txn, good, args.on_conflict, &mut counts, &progress)?;
            good = later;
            if in_batch >= args.batch as usize {
                txn.commit()?;
                if global.verbose {
                    let done = counts.added + counts.replaced + counts.unchanged + counts.skipped;
                    progress.note(&format!("committed {}", count(done, "document")));
                }
                txn = index.begin_write()?;
                in_batch = 0;
            }
        }
        progress.add(documents, parsed.bytes);
    }
    txn.commit()?;
    progress.finish();
    let interrupted = interrupt::asked();
    if !interrupted {
        index.close()?;
    }
    report(global, &counts, start.elapsed().as_secs_f64(), interrupted);
    if interrupted {
        let done = counts.added + counts.replaced + counts.unchanged;
        return Err(anyhow::anyhow!(
            "{}: interrupted; {} are in, run the command again to go on",
            args.index.display(),
            count(done, "document")
        )
        .into());
    }
    Ok(if counts.failed > 0 { Ending::SomeFailed } else { Ending::Done })
}

/// Inserts documents in the open transaction, and counts and reports the outcomes.
fn insert_batch(
    txn: &mut WriteTxn,
    incoming: Vec<PlacedDocument>,
    conflict: Conflict,
    counts: &mut Counts,
    progress: &ProgressBar,
) -> Result<(), Failure> {
    let policy = match conflict {
        Conflict::Replace => OnConflict::Replace,
        Conflict::Skip | Conflict::Error => OnConflict::Skip,
    };
    for PlacedDocument { document, .. } in &incoming {
        counts.bytes += document.text_bytes();
        counts.empty += u64::from(document.signature().is_empty());
    }
    let incoming = incoming.into_iter().map(|incoming| (incoming.document, incoming.place));
    let (documents, places): (Vec<Document>, Vec<String>) = incoming.unzip();
    let outcomes = txn.insertion().on_conflict(policy).documents(documents)?;
    for (outcome, place) in outcomes.into_iter().zip(places) {
        match outcome.inserted() {
            Some(Inserted::Added) => counts.added += 1,
            Some(Inserted::Replaced) => counts.replaced += 1,
            Some(Inserted::Unchanged) => counts.unchanged += 1,
            Some(Inserted::Skipped) if conflict == Conflict::Error => {
                counts.failed += 1;
                progress.say(&format!("{place}: its id is in the index with another text"));
            }
            Some(Inserted::Skipped) | None => counts.skipped += 1,
        }
    }
    Ok(())
}

/// Prints the summary.
fn report(global: &GlobalOptions, counts: &Counts, seconds: f64, interrupted: bool) {
    let fields = [
        ("added", counts.added.into()),
        ("replaced", counts.replaced.into()),
        ("unchanged", counts.unchanged.into()),
        ("skipped", counts.skipped.into()),
        ("empty", counts.empty.into()),
        ("failed", counts.failed.into()),
        ("bytes", counts.bytes.into()),
        ("seconds", whole_millis(seconds)),
        ("interrupted", interrupted.into()),
    ];
    let mut sentence = format!("added {}", count(counts.added, "document"));
    sentence += &listed(&[
        (counts.replaced, "replaced"),
        (counts.unchanged, "unchanged"),
        (counts.skipped, "skipped"),
        (counts.empty, "empty"),
        (counts.failed, "failed"),
    ]);
    sentence += &format!(" in {seconds:.1} s");
    if counts.bytes > 0 {
        let rate = (counts.bytes as f64 / seconds.max(1e-9)) as u64;
        sentence += &format!(": {} of text, {}/s", bytes(counts.bytes), bytes(rate));
    }
    summary(global, &fields, &sentence);
}
