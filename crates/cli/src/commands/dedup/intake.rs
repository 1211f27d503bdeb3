//! How the records of the input come to be judged: as they are read, or in an order of preference.

use crate::commands::dedup::active_run::ActiveRun;
use crate::commands::dedup::input_record::InputRecord;
use crate::commands::dedup::preferred::{InPreference, Preferred};
use crate::commands::dedup::records_hash::RecordsHash;
use crate::commands::dedup::request::Request;
use crate::commands::outputs::kept::{self, Kept};
use crate::commands::outputs::targets::Target;
use crate::run::failure::Failure;
use crate::run::records::{Records, Source};
use crate::run::short_texts::ShortTexts;
use crate::terminal::interrupt;
use crate::terminal::numbers::grouped;
use crate::terminal::progress_bar::ProgressBar;
use anyhow::anyhow;
use twindex::Index;

/// The number of records in preference that are judged at once.
const TOGETHER: usize = 1 << 10;

/// What becomes of the input of a run.
pub(super) struct Intake<'a> {
    request: &'a Request<'a>,
    /// The index, if there is one and no run has it yet.
    index: Option<Index>,
    /// The run, once a record could be read.
    pub(super) run: Option<ActiveRun<'a>>,
    /// The number of bad records.
    pub(super) failed: u64,
    /// Looks at the texts of an index that has none yet.
    pub(super) short_texts: Option<ShortTexts>,
    /// Where records come from that no output knows yet.
    sources: Vec<Source>,
    /// The hash of all records that were read.
    read: RecordsHash,
}

impl<'a> Intake<'a> {
    /// Begins with the index, or with an interrupted run.
    pub(super) fn new(
        request: &'a Request<'a>,
        index: Option<Index>,
        run: Option<ActiveRun<'a>>,
    ) -> Result<Self, Failure> {
        let short_texts = match run {
            Some(_) => None,
            None => ShortTexts::of_first(index.as_ref(), &request.settings)?,
        };
        let sources = Vec::new();
        let read = RecordsHash::default();
        Ok(Self { request, index, run, failed: 0, short_texts, sources, read })
    }

    /// Judges all records. Ends early after a signal.
    pub(super) fn judge_all(
        &mut self,
        records: Records<InputRecord>,
        progress: &mut ProgressBar,
    ) -> Result<(), Failure> {
        if self.request.args.keep.is_ordered() {
            let (preferred, read) = self.read_all(records, progress)?;
            if !interrupt::asked() {
                self.judge_in_preference(preferred, read)?;
            }
        } else {
            self.judge_as_read(records, progress)?;
        }
        // The input may be whole and empty: it still has outputs.
        if self.run.is_none() && self.failed == 0 && !interrupt::asked() {
            let run = self.begin()?;
            self.run = Some(run);
        }
        if let Some(run) = &mut self.run {
            run.deduplication.records = self.read;
            run.deduplication.failed = self.failed;
        }
        Ok(())
    }

    fn judge_as_read(
        &mut self,
        records: Records<InputRecord>,
        progress: &mut ProgressBar,
    ) -> Result<(), Failure> {
        let target = &self.request.written_targets.out;
        self.failed = kept::read_all(target, records, progress, |good, source, progress| {
            good.iter().for_each(|record| self.note(record));
            source.add_to(&mut self.sources);
            if self.run.is_some() || !good.is_empty() {
                let run = self.begin()?;
                self.run = Some(run.judge(good, progress)?);
            }
            Ok(())
        })?;
        Ok(())
    }

    /// Counts a record for the hash of the input and for the advice on short texts.
    fn note(&mut self, record: &InputRecord) {
        self.read.add(record.hash);
        if let Some(texts) = &mut self.short_texts {
            texts.add(&record.document);
        }
    }

    /// The run, which begins if it has not, and knows where the next records come from.
    fn begin(&mut self) -> Result<ActiveRun<'a>, Failure> {
        let run = match self.run.take() {
            Some(run) => run,
            None => ActiveRun::new(self.request, self.index.take(), None)?,
        };
        run.begin(self.sources.drain(..))
    }

    /// Reads all records without judging them. Returns them and their number.
    fn read_all(
        &mut self,
        records: Records<InputRecord>,
        progress: &mut ProgressBar,
    ) -> Result<(InPreference, u64), Failure> {
        let Request { args, written_targets: targets, settings, .. } = self.request;
        let mut preferred = Preferred::new();
        // One output takes records of one format, which is better known before they are judged.
        let mut fitting = Kept::create(&Target::UnwrittenFile)?;
        self.failed = kept::read_all(&targets.out, records, progress, |good, _, _| {
            for record in good {
                self.note(&record);
                if targets.is_one() {
                    fitting.admit(&record.written, &record.place)?;
                }
                preferred.add(record)?;
            }
            Ok(())
        })?;
        progress.finish();
        let (count, unknown) = preferred.counts();
        let wanted = args.keep.wanted(args.group_field.as_deref());
        if unknown == count && count > 0 && !interrupt::asked() {
            return Err(anyhow!("--keep {}: no record has {wanted}", args.keep).into());
        }
        if unknown > 0 {
            let unknown = grouped(unknown);
            let count = grouped(count);
            progress.say(&format!(
                "--keep {}: {unknown} of {count} records lack {wanted}, and come after all others",
                args.keep
            ));
        }
        Ok((preferred.sorted(settings.weighted)?, count))
    }

    /// Judges records that are in the order of preference.
    fn judge_in_preference(&mut self, mut rest: InPreference, count: u64) -> Result<(), Failure> {
        let progress = ProgressBar::of_documents(self.request.global, count);
        let progress = progress.named("judging, the preferred first");
        loop {
            let records = rest.by_ref().take(TOGETHER).collect::<Result<Vec<_>, _>>()?;
            if records.is_empty() || interrupt::asked() {
                progress.finish();
                return Ok(());
            }
            let judged = records.len() as u64;
            let run = self.begin()?;
            self.run = Some(run.judge(records, &progress)?);
            progress.add_documents(judged);
        }
    }
}
