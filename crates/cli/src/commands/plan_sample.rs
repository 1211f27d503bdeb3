//! `plan --sample`: what thresholds and shingles do to texts of the user.

use crate::commands::shingle_choice::{self, ShingleChoice};
use crate::input::{BadRecord, STANDARD_INPUT};
use crate::remote::is_remote;
use crate::report::beginning;
use crate::run::failure::Failure;
use crate::run::global_options::GlobalOptions;
use crate::run::input_options::{InputOptions, announce_standard_input};
use crate::run::records;
use crate::terminal::interrupt;
use crate::terminal::numbers::grouped;
use crate::terminal::output::{Results, count, similarity};
use crate::terminal::progress_bar::ProgressBar;
use anyhow::{Context, anyhow};
use serde_json::Value;
use std::fs;
use std::path::PathBuf;
use twindex::{Document, Forecast, Index, Outcome, Shingle, Snapshot};
use xxhash_rust::xxh3::xxh3_64;

/// A sample of the texts that an index is planned for.
#[derive(Debug, clap::Args)]
pub(crate) struct SampleOptions {
    /// Measure on these files or directories what each threshold would remove, and which shingle
    /// suits their texts (repeatable)
    #[arg(long, value_name = "PATH")]
    pub(crate) sample: Vec<PathBuf>,
    /// The most records of the sample that are read
    #[arg(long, value_name = "DOCS", default_value_t = 20_000, requires = "sample",
          value_parser = clap::value_parser!(u32).range(2..))]
    sample_docs: u32,
    /// The shingle by which the sample is compared
    #[arg(long, value_name = "KIND", default_value_t = Shingle::default(), requires = "sample")]
    shingle: Shingle,
    #[command(flatten)]
    input: InputOptions,
}

/// The most pairs that are counted.
const MOST_PAIRS: u64 = 5_000_000;

/// The texts that shingles are tried on, and the most characters of one of them.
const TRIED: usize = 300;
const MOST_TRIED_CHARS: usize = 20_000;

/// The named values of a row of a table.
type Fields = Vec<(&'static str, Value)>;

/// What a sample tells.
pub(crate) struct Sample {
    documents: u64,
    /// The number of bad records.
    pub(crate) failed: u64,
    empty: u64,
    /// Whether the files have more records.
    is_cut: bool,
    /// Whether there are more pairs than were counted.
    has_more_pairs: bool,
    median_chars: u64,
    thresholds: Vec<AtThreshold>,
    shingles: Vec<ShingleChoice>,
    shingle: Shingle,
}

/// What a threshold would do.
struct AtThreshold {
    threshold: f64,
    /// The pairs from this threshold to the next one.
    pairs: u64,
    removed: u64,
}

/// Measures on a sample.
pub(crate) fn measure(
    global: &GlobalOptions,
    options: &SampleOptions,
    (threshold, recall, lanes): (f64, f64, usize),
) -> Result<Sample, Failure> {
    interrupt::catch()?;
    let is_here = |path: &&PathBuf| path.as_os_str() != STANDARD_INPUT && !is_remote(path);
    for path in options.sample.iter().filter(is_here) {
        fs::metadata(path).with_context(|| path.display().to_string())?;
    }
    let folder = tempfile::tempdir().context("a temporary folder")?;
    let path = folder.path().join("sample.twx");
    let lowest = lowest(threshold, recall, lanes);
    let index = Index::options().threshold(lowest).recall(recall).lanes(lanes);
    let index = index.shingle(options.shingle).create(&path)?;
    let read = read(global, options, &index)?;
    let snapshot = index.snapshot()?;
    let mut rows: Vec<AtThreshold> = thresholds(threshold, lowest)
        .into_iter()
        .map(|threshold| AtThreshold { threshold, pairs: 0, removed: 0 })
        .collect();
    let has_more_pairs = count_pairs(global, &snapshot, lowest, &mut rows)?;
    for row in &mut rows {
        let path = folder.path().join("one.twx");
        let one = Index::options().threshold(row.threshold).recall(recall).lanes(lanes);
        let one = one.shingle(options.shingle).create(&path)?;
        row.removed = removed(global, &snapshot, &one, row.threshold)?;
        drop(one);
        fs::remove_file(&path).context("a temporary folder")?;
    }
    let Read { texts, mut chars, failed, is_cut } = read;
    chars.sort_unstable();
    // Shingles of characters and words are for texts, not for sets, lines and sequences.
    let suggests = matches!(options.shingle, Shingle::Chars(_) | Shingle::Words(_));
    let shingles = if suggests { shingle_choice::try_on(&texts, threshold)? } else { Vec::new() };
    Ok(Sample {
        documents: snapshot.len(),
        failed,
        empty: empty(&snapshot)?,
        is_cut,
        has_more_pairs,
        median_chars: chars.get(chars.len() / 2).copied().unwrap_or_default(),
        thresholds: rows,
        shingles,
        shingle: options.shingle,
    })
}

/// What was read besides what is in the index.
struct Read {
    /// Some texts, chosen by the hashes of their numbers, and cut; and the lengths they had.
    texts: Vec<String>,
    chars: Vec<u64>,
    failed: u64,
    is_cut: bool,
}

/// Inserts the records of the sample into an index.
fn read(global: &GlobalOptions, options: &SampleOptions, index: &Index) -> Result<Read, Failure> {
    let SampleOptions { sample, sample_docs, input, .. } = options;
    let (settings, sketcher) = (*index.settings(), index.settings().sketcher()?);
    input.check(settings.shingle, settings.weighted, index.path())?;
    announce_standard_input(global, sample);
    let inputs = input.of(sample, index.path(), settings.weighted);
    let records = records::start(inputs, &settings, move |record| {
        let content = record.body.content();
        let text = record.body.text().map(|text| Tried {
            text: beginning(text, MOST_TRIED_CHARS).to_owned(),
            chars: text.chars().count() as u64,
        });
        match Document::prepare("#", content, &sketcher, &settings) {
            // Numbers name the records, so that copies with one id are seen.
            Ok(document) => Ok((document.without_id(), text)),
            Err(error) => Err(BadRecord { place: record.place, cause: error.to_string() }),
        }
    })?;
    let progress = ProgressBar::new(global, records.expected_bytes);
    let mut progress = progress.named("reading the sample");
    let most = u64::from(*sample_docs);
    let (mut number, mut failed, mut is_cut) = (0, 0, false);
    let mut tried: Vec<(u64, Tried)> = Vec::new();
    let mut txn = index.begin_write()?;
    for mut parsed in records {
        progress.add(parsed.records(), parsed.bytes);
        let room = (most - number) as usize;
        is_cut |= parsed.good.len() > room;
        // Bad records of the last batch may be behind the sample.
        if !is_cut {
            failed += parsed.failed;
            parsed.messages.iter().for_each(|message| progress.say(message));
        }
        parsed.good.truncate(room);
        let mut documents = Vec::with_capacity(parsed.good.len());
        for (document, text) in parsed.good {
            number += 1;
            documents.push(document);
            if let Some(text) = text.filter(|text| text.chars > 0) {
                tried.push((xxh3_64(&u64::to_le_bytes(number)), text));
            }
        }
        if tried.len() > 2 * TRIED {
            keep_least(&mut tried);
        }
        txn.insertion().documents(documents)?;
        if is_cut {
            break;
        }
    }
    progress.finish();
    if interrupt::asked() {
        return Err(anyhow!("interrupted; nothing was changed").into());
    }
    if number == 0 {
        return Err(anyhow!("the sample has no record that could be read").into());
    }
    txn.commit()?;
    keep_least(&mut tried);
    let chars = tried.iter().map(|(_, tried)| tried.chars).collect();
    let texts = tried.into_iter().map(|(_, tried)| tried.text).collect();
    Ok(Read { texts, chars, failed, is_cut })
}

/// A text to try shingles on.
struct Tried {
    /// Its beginning.
    text: String,
    /// The characters of all of it.
    chars: u64,
}

/// Keeps as many texts as are tried.
fn keep_least(texts: &mut Vec<(u64, Tried)>) {
    texts.sort_unstable_by_key(|(hash, _)| *hash);
    texts.truncate(TRIED);
}

/// The least threshold of the table: .5, or the plan's own if that is lower, or the least one above
/// for which the lanes reach the recall. They reach it at the plan's own.
fn lowest(threshold: f64, recall: f64, lanes: usize) -> f64 {
    let steps = (10..20).map(|step| f64::from(step) / 20.0).take_while(|step| *step < threshold);
    let mut reached = steps.filter(|step| Forecast::new(*step, recall, lanes).is_ok());
    reached.next().unwrap_or(threshold)
}

/// The number of documents of a snapshot that `dedup` removes with an empty index of this
/// threshold.
fn removed(
    global: &GlobalOptions,
    snapshot: &Snapshot,
    index: &Index,
    threshold: f64,
) -> Result<u64, Failure> {
    /// The documents that are inserted together.
    const TOGETHER: usize = 4096;
    let progress = ProgressBar::of_documents(global, snapshot.len());
    let progress = progress.named(&format!("what {threshold} would remove"));
    let mut removed = 0;
    let mut documents = snapshot.documents();
    let mut txn = index.begin_write()?;
    loop {
        let some = documents.by_ref().take(TOGETHER);
        let some = some.map(|document| Ok(document?.without_id()));
        let some = some.collect::<twindex::Result<Vec<_>>>()?;
        if some.is_empty() {
            progress.finish();
            return Ok(removed);
        }
        if interrupt::asked() {
            return Err(anyhow!("interrupted; nothing was changed").into());
        }
        progress.add_documents(some.len() as u64);
        let outcomes = txn.insertion().unless_similar(threshold).documents(some)?;
        let is_removed = |outcome: &&Outcome| matches!(outcome, Outcome::Duplicate { .. });
        removed += outcomes.iter().filter(is_removed).count() as u64;
    }
}

/// Steps of .05 from the lowest threshold to 1, and the threshold of the plan.
fn thresholds(threshold: f64, lowest: f64) -> Vec<f64> {
    let steps = (1..=20).map(|step| f64::from(step) / 20.0).filter(|step| *step >= lowest);
    let mut thresholds: Vec<f64> = steps.chain([threshold]).collect();
    thresholds.sort_by(f64::total_cmp);
    thresholds.dedup();
    thresholds
}

/// Counts the pairs of each row. Returns whether there are more than were counted.
fn count_pairs(
    global: &GlobalOptions,
    snapshot: &Snapshot,
    lowest: f64,
    rows: &mut [AtThreshold],
) -> Result<bool, Failure> {
    /// The number of pairs between two checks for an interruption.
    const STRIDE: u64 = 1 << 16;
    let progress = ProgressBar::new(global, None).named("counting similar pairs");
    let mut counted = 0;
    for pair in snapshot.pairs(lowest)? {
        let similarity = pair?.similarity;
        let row = rows.iter_mut().rev().find(|row| similarity >= row.threshold);
        if let Some(row) = row {
            row.pairs += 1;
        }
        counted += 1;
        if counted == MOST_PAIRS {
            return Ok(true);
        }
        if counted % STRIDE == 0 && interrupt::asked() {
            return Err(anyhow!("interrupted; nothing was changed").into());
        }
    }
    progress.finish();
    Ok(false)
}

/// The number of documents without a shingle.
fn empty(snapshot: &Snapshot) -> Result<u64, Failure> {
    let mut empty = 0;
    for document in snapshot.documents() {
        empty += u64::from(document?.signature().is_empty());
    }
    Ok(empty)
}

impl Sample {
    /// The fields of the plan that come from the sample.
    pub(crate) fn settings(&self) -> Fields {
        let suggested = self.suggested().map_or(Value::Null, |shingle| shingle.to_string().into());
        vec![
            ("sample_documents", self.documents.into()),
            ("sample_failed", self.failed.into()),
            ("sample_empty", self.empty.into()),
            ("sample_is_part", self.is_cut.into()),
            ("sample_pairs_are_part", self.has_more_pairs.into()),
            ("sample_median_characters", self.median_chars.into()),
            ("sample_shingle", self.shingle.to_string().into()),
            ("suggested_shingle", suggested),
        ]
    }

    /// The shingle that suits the texts best.
    fn suggested(&self) -> Option<Shingle> {
        shingle_choice::suggested(&self.shingles)
    }

    /// The rows of both tables, as fields.
    pub(crate) fn tables(&self) -> [(&'static str, Vec<Fields>); 2] {
        let all = self.documents.max(1) as f64;
        let at_threshold = |row: &AtThreshold| {
            vec![
                ("threshold", row.threshold.into()),
                ("pairs", if self.has_more_pairs { Value::Null } else { row.pairs.into() }),
                ("removed", row.removed.into()),
                ("share_removed", similarity(row.removed as f64 / all)),
            ]
        };
        [
            ("sample_thresholds", self.thresholds.iter().map(at_threshold).collect()),
            ("sample_shingles", self.shingles.iter().map(ShingleChoice::fields).collect()),
        ]
    }

    /// Prints both tables.
    pub(crate) fn print(&self, results: &mut Results) -> Result<(), Failure> {
        for (_, rows) in self.tables() {
            let Some(first) = rows.first() else { continue };
            let names: Vec<&str> = first.iter().map(|(name, _)| *name).collect();
            results.heading(&names)?;
            for row in &rows {
                results.line(row)?;
            }
            results.flush()?;
        }
        Ok(())
    }

    /// What the sample tells about a threshold, in words.
    pub(crate) fn sentence(&self, threshold: f64) -> String {
        let removed = self.thresholds.iter().find(|row| row.threshold == threshold);
        let removed = removed.map_or(0, |row| row.removed);
        let share = 100.0 * removed as f64 / self.documents.max(1) as f64;
        let read = if self.is_cut { "the first " } else { "" };
        let documents = count(self.documents, "document");
        let mut sentence = format!(
            "at {threshold}, {} of {read}{documents} would be removed ({share:.1} %)",
            grouped(removed)
        );
        if self.failed > 0 {
            sentence += &format!("; {} failed", grouped(self.failed));
        }
        if self.has_more_pairs {
            sentence += &format!("; more than {} pairs are not counted", grouped(MOST_PAIRS));
        }
        match self.suggested() {
            Some(shingle) if shingle == self.shingle => {
                sentence += &format!("; {shingle} suits these texts");
            }
            Some(shingle) => sentence += &format!("; --shingle {shingle} suits these texts better"),
            None if self.shingles.iter().any(ShingleChoice::has_background) => {
                sentence += "; no shingle suits these texts at this threshold";
            }
            None => {}
        }
        sentence
    }
}
