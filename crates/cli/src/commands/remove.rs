//! `twindex remove`: removes documents from an index, by id or by age.

use crate::commands::cluster_events::ClusterCounts;
use crate::input::{Block, Line, Listed};
use crate::run::failure::Failure;
use crate::run::global_options::GlobalOptions;
use crate::run::input_options::{announce_standard_input, shown};
use crate::run::read_ahead::{ReadAhead, blocks_ahead, nuls_ahead};
use crate::run::seconds::{seconds_of, time_of};
use crate::run::{ending::Ending, opening};
use crate::terminal::escape::unescaped;
use crate::terminal::interrupt;
use crate::terminal::messages::message;
use crate::terminal::output::{count, grouped, summary, whole_millis};
use anyhow::Context;
use std::io;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::str;
use std::time::{Instant, SystemTime};
use twindex::{ErrorKind, Index, MAX_ID_BYTES, Result};

#[derive(Debug, clap::Args)]
#[command(override_usage = "\
twindex remove [OPTIONS] <INDEX> <IDS>...
       twindex remove [OPTIONS] <INDEX> --ids-from <FILE>   - is standard input
       twindex remove [OPTIONS] <INDEX> --older-than <AGE>")]
#[command(after_help = "\
Ids that are not in the index are counted as missing; that is not an error.

A line of --ids-from is an id as list prints it: \\t, \\n, \\r and \\u0000 stand for control
characters and \\\\ for a backslash. Any other backslash stands for itself.

--older-than removes documents whose age in whole seconds is greater than AGE.

Examples:
  twindex remove pages.twx page-1 page-2
  twindex remove pages.twx --older-than 90d
  grep spam ids.txt | twindex remove pages.twx --ids-from -
  twindex list pages.twx --print0 | grep -z spam | twindex remove pages.twx -0 --ids-from -
  twindex clusters pages.twx --duplicates | twindex remove pages.twx --ids-from -")]
pub(crate) struct Remove {
    /// The index file
    pub(crate) index: PathBuf,
    /// Ids of documents
    #[arg(required_unless_present_any = ["ids_from", "older_than"], conflicts_with = "older_than")]
    pub(crate) ids: Vec<String>,
    /// Read ids from a file, one a line as list prints them; - for standard input
    #[arg(long, value_name = "FILE", conflicts_with = "older_than")]
    pub(crate) ids_from: Option<PathBuf>,
    /// Each id of --ids-from ends with a NUL and is taken as it is, as list --print0 prints it
    #[arg(long, short = '0', requires = "ids_from", conflicts_with = "older_than")]
    pub(crate) null: bool,
    /// Remove documents inserted longer ago than this: a number of seconds, minutes, hours, days or
    /// weeks, such as 45s, 30m, 12h, 90d or 2w
    #[arg(long, value_name = "AGE", value_parser = age)]
    pub(crate) older_than: Option<i64>,
}

/// Parses an age such as `90d` into seconds.
fn age(text: &str) -> std::result::Result<i64, &'static str> {
    let units = [('s', 1), ('m', 60), ('h', 3600), ('d', 24 * 3600), ('w', 7 * 24 * 3600)];
    let found = units.into_iter().find_map(|(unit, seconds)| {
        let digits = text.strip_suffix(unit)?;
        let whole = digits.bytes().all(|byte| byte.is_ascii_digit());
        digits.parse::<i64>().ok().filter(|_| whole)?.checked_mul(seconds)
    });
    found.ok_or("expected a whole number and s, m, h, d or w, as 45s, 30m, 12h, 90d or 2w")
}

/// The most ids in one commit. A killed run has at most this many to remove again.
const BATCH_IDS: usize = 100_000;

/// The most bytes of ids in one commit, because they are held in memory.
const BATCH_BYTES: usize = 16 << 20;

/// A removal of many ids from an index, in batches.
struct Removal<'i> {
    index: &'i Index,
    /// The ids of the next commit.
    ids: Vec<String>,
    /// The total length of `ids`.
    bytes: usize,
    /// The number of committed ids, including those not in the index.
    named: u64,
    /// The number of removed documents.
    removed: u64,
    clusters: ClusterCounts,
    /// Whether the list begins with an object of JSON, which is rarely an id.
    begins_with_json: bool,
}

pub(crate) fn run(global: &GlobalOptions, args: &Remove) -> std::result::Result<Ending, Failure> {
    interrupt::catch()?;
    let start = Instant::now();
    // The ids may come from a command that reads this same index. It closes the index before it
    // prints the first id, so this command waits for the first lines before it opens the index.
    announce_standard_input(global, args.ids_from.as_slice());
    let list = args.ids_from.as_deref().map(|list| IdList::begin(list, args.null)).transpose()?;
    let index = opening::to_write(global, &args.index)?;
    if let Some(age) = args.older_than {
        let removed = remove_older(&index, age)?;
        return report(global, &args.index, &Counts { removed, ..Counts::default() }, start);
    }
    let (ids, clusters) = Default::default();
    let (bytes, named, removed, begins_with_json) = (0, 0, 0, false);
    let mut removal =
        Removal { index: &index, ids, bytes, named, removed, clusters, begins_with_json };
    for id in &args.ids {
        removal.add(id)?;
    }
    let mut failed = 0_u64;
    if let Some(list) = list {
        failed = removal.add_listed(list)?;
    }
    removal.commit()?;
    let Removal { named, removed, clusters, begins_with_json, .. } = removal;
    if let Some(list) = args.ids_from.as_ref().filter(|_| begins_with_json && removed == 0) {
        message(&format!(
            "{}: its lines are JSON, and none is the id of a document; take the ids out of them, \
             for instance with jq -r .id",
            shown(list)
        ));
    }
    let counts = Counts { removed, missing: named - removed, failed, clusters };
    report(global, &args.index, &counts, start)
}

/// Removes the documents that were inserted more than `age` seconds ago, unless the command is
/// interrupted first. Returns the number of removed documents.
fn remove_older(index: &Index, age: i64) -> Result<u64> {
    let Some(time) = time_of(seconds_of(SystemTime::now()).saturating_sub(age)) else {
        // The system cannot represent the time, so no document is that old.
        return Ok(0);
    };
    let mut removed = 0;
    let removing = index.remove_inserted_before(time).watch(|at| {
        removed = at.done;
        if interrupt::asked() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    match removing {
        Err(error) if error.kind() == ErrorKind::Interrupted => Ok(removed),
        removed => removed,
    }
}

/// The numbers of ids by outcome.
#[derive(Default)]
struct Counts {
    removed: u64,
    missing: u64,
    failed: u64,
    clusters: ClusterCounts,
}

/// Prints the summary.
fn report(
    global: &GlobalOptions,
    index: &Path,
    counts: &Counts,
    start: Instant,
) -> std::result::Result<Ending, Failure> {
    let Counts { removed, missing, failed, clusters } = counts;
    let (removed, missing, failed) = (*removed, *missing, *failed);
    let interrupted = interrupt::asked();
    let seconds = start.elapsed().as_secs_f64();
    let mut fields = vec![
        ("removed", removed.into()),
        ("missing", missing.into()),
        ("failed", failed.into()),
        ("seconds", whole_millis(seconds)),
        ("interrupted", interrupted.into()),
    ];
    fields.extend(clusters.field());
    let mut sentence = format!("removed {}", count(removed, "document"));
    if missing > 0 {
        sentence += &format!(", {} missing", grouped(missing));
    }
    if failed > 0 {
        sentence += &format!(", {} failed", grouped(failed));
    }
    sentence += &clusters.sentence();
    summary(global, &fields, &sentence);
    if interrupted {
        return Err(anyhow::anyhow!(
            "{}: interrupted; what was removed is committed",
            index.display()
        )
        .into());
    }
    Ok(if failed > 0 { Ending::SomeFailed } else { Ending::Done })
}

/// The most bytes of an escaped id: `\u0000` for each of its bytes.
const MAX_ESCAPED_BYTES: usize = 6 * MAX_ID_BYTES;

/// A list of ids.
struct IdList {
    place: String,
    ids: ListedIds,
}

enum ListedIds {
    /// One id a line, escaped as `list` prints it, with the block that was read first.
    Lines(ReadAhead<io::Result<Block>>, Option<Block>),
    /// Ids that each end with a NUL, with the one that was read first.
    Nuls(ReadAhead<io::Result<Listed>>, Option<Listed>),
}

impl IdList {
    /// Opens the file and waits for its first ids.
    fn begin(list: &Path, null: bool) -> std::result::Result<Self, Failure> {
        let place = shown(list);
        let ids = if null {
            let mut ids = nuls_ahead(list, MAX_ID_BYTES)?;
            let first = ids.next().transpose().with_context(|| place.clone())?;
            ListedIds::Nuls(ids, first)
        } else {
            let mut blocks = blocks_ahead(list, MAX_ESCAPED_BYTES)?;
            let first = blocks.next().transpose().with_context(|| place.clone())?;
            ListedIds::Lines(blocks, first)
        };
        Ok(Self { place, ids })
    }
}

/// Counts and reports the entries of a list that are no ids.
struct BadIds<'p> {
    place: &'p str,
    failed: u64,
}

impl BadIds<'_> {
    /// Reports an entry by its number and what is wrong with it.
    fn add(&mut self, number: u64, cause: &str) {
        self.failed += 1;
        message(&format!("{}:{number}: {cause}", self.place));
    }

    fn add_too_long(&mut self, number: u64) {
        let most = grouped(MAX_ID_BYTES as u64);
        self.add(number, &format!("longer than {most} bytes, the most that an id has"));
    }

    /// The text of an entry, unless it is not UTF-8.
    fn text<'t>(&mut self, number: u64, bytes: &'t [u8]) -> Option<&'t str> {
        let text = str::from_utf8(bytes);
        text.inspect_err(|error| {
            self.add(number, &format!("not valid UTF-8 at byte {}", error.valid_up_to() + 1));
        })
        .ok()
    }
}

impl Removal<'_> {
    /// Adds an id to the batch, and commits a full batch.
    fn add(&mut self, id: &str) -> Result<()> {
        self.ids.push(id.to_owned());
        self.bytes += id.len();
        if self.ids.len() == BATCH_IDS || self.bytes >= BATCH_BYTES {
            self.commit()
        } else {
            Ok(())
        }
    }

    /// Adds the ids of a list until its end or until the command is interrupted. Returns the number
    /// of entries that are no ids.
    fn add_listed(&mut self, list: IdList) -> std::result::Result<u64, Failure> {
        let IdList { place, ids } = list;
        let mut bad = BadIds { place: &place, failed: 0 };
        match ids {
            ListedIds::Nuls(ids, first) => self.add_nuls(ids, first, &mut bad)?,
            ListedIds::Lines(blocks, first) => self.add_lines(blocks, first, &mut bad)?,
        }
        Ok(bad.failed)
    }

    fn add_lines(
        &mut self,
        mut blocks: ReadAhead<io::Result<Block>>,
        first: Option<Block>,
        bad: &mut BadIds<'_>,
    ) -> std::result::Result<(), Failure> {
        let mut next = first;
        while let Some(block) = next {
            block.cut.iter().for_each(|line| bad.add_too_long(*line));
            for Line { number, text, .. } in block.lines() {
                self.begins_with_json |= number == 1 && text.starts_with(b"{\"");
                if let Some(id) = bad.text(number, text) {
                    let id = unescaped(id);
                    let id = if number == 1 { self.first_id(&id)? } else { &id };
                    self.add_entry(number, id, bad)?;
                }
                if interrupt::asked() {
                    return Ok(());
                }
            }
            next = blocks.next().transpose().with_context(|| bad.place.to_owned())?;
        }
        Ok(())
    }

    fn add_nuls(
        &mut self,
        ids: ReadAhead<io::Result<Listed>>,
        first: Option<Listed>,
        bad: &mut BadIds<'_>,
    ) -> std::result::Result<(), Failure> {
        for (number, listed) in (1..).zip(first.map(Ok).into_iter().chain(ids)) {
            match listed.with_context(|| bad.place.to_owned())? {
                Listed::TooLong => bad.add_too_long(number),
                Listed::Text(text) => {
                    if let Some(id) = bad.text(number, &text) {
                        self.add_entry(number, id, bad)?;
                    }
                }
            }
        }
        Ok(())
    }

    /// The id of the first line, without a byte order mark unless that belongs to the id of a
    /// document.
    fn first_id<'t>(&self, line: &'t str) -> Result<&'t str> {
        Ok(match line.strip_prefix('\u{FEFF}') {
            Some(id) if !self.index.snapshot()?.contains(line)? => id,
            _ => line,
        })
    }

    /// Adds an id of a list. An empty entry is passed over.
    fn add_entry(&mut self, number: u64, id: &str, bad: &mut BadIds<'_>) -> Result<()> {
        match id.len() {
            0 => Ok(()),
            length if length > MAX_ID_BYTES => {
                bad.add_too_long(number);
                Ok(())
            }
            _ => self.add(id),
        }
    }

    /// Removes the ids of the batch in one commit.
    fn commit(&mut self) -> Result<()> {
        if self.ids.is_empty() {
            return Ok(());
        }
        let mut txn = self.index.begin_write()?;
        self.removed += txn.remove_batch(&self.ids)?;
        self.clusters.commit(txn)?;
        self.named += self.ids.len() as u64;
        self.ids.clear();
        self.bytes = 0;
        Ok(())
    }
}
