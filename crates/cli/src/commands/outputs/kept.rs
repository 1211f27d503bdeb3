//! The output of `dedup` and `screen`: one file or stream, or a folder with a file for each input.

use crate::commands::outputs::choices::Choices;
use crate::commands::outputs::delivery::Delivery;
use crate::commands::outputs::kept_file::{self, KeptFile};
use crate::commands::outputs::kept_folder::{self, KeptFolder};
use crate::commands::outputs::kept_output::OutputRecord;
use crate::commands::outputs::partial_file::{LengthAndHash, OutputWriter, PartialFile};
use crate::commands::outputs::targets::Target;
use crate::input::TableHead;
use crate::run::failure::Failure;
use crate::run::records::{ParsedBatch, Records, Source};
use crate::terminal::progress_bar::ProgressBar;
use anyhow::anyhow;

/// Where the kept records go.
pub(crate) enum Kept {
    /// Nothing is written, so records of any format may follow each other.
    Nowhere,
    File(KeptFile),
    Folder(Box<KeptFolder>),
    /// Records are noted, to be written when all are judged.
    Choices(Box<Choices>),
}

impl Kept {
    /// Starts an output.
    pub(crate) fn create(target: &Target) -> Result<Self, Failure> {
        Ok(match target {
            Target::File(file) => Self::File(KeptFile::create(file)?),
            Target::Folder(folder) => Self::Folder(Box::new(KeptFolder::create(folder)?)),
            Target::Stream(path) => Self::File(KeptFile::text(OutputWriter::stream(path)?)),
            Target::UnwrittenFile => Self::File(KeptFile::text(OutputWriter::Nowhere)),
            Target::Nowhere => Self::Nowhere,
        })
    }

    /// Continues the output that an interrupted run has written; `None` if it has changed.
    pub(crate) fn resume(target: &Target, content: LengthAndHash) -> Result<Option<Self>, Failure> {
        Ok(match target {
            Target::File(file) => KeptFile::resume(file, content)?.map(Self::File),
            Target::Folder(folder) => {
                KeptFolder::resume(folder, content)?.map(|kept| Self::Folder(Box::new(kept)))
            }
            Target::Stream(_) | Target::UnwrittenFile | Target::Nowhere => None,
        })
    }

    /// Says where the next records come from.
    pub(crate) fn begin(&mut self, source: &Source) -> Result<(), Failure> {
        match (self, &source.head) {
            (Self::File(file), Some(head)) => file.begin_table(head),
            (Self::File(_), None) | (Self::Nowhere | Self::Choices(_), _) => Ok(()),
            (Self::Folder(folder), _) => folder.begin(source),
        }
    }

    /// Checks that a record can be written beside those before it.
    pub(crate) fn admit(&mut self, written: &OutputRecord, place: &str) -> Result<(), Failure> {
        match self {
            Self::Nowhere | Self::Choices(_) => Ok(()),
            Self::File(file) => file.admit(written, place),
            Self::Folder(folder) => folder.admit(written, place),
        }
    }

    /// Writes a record that [`Self::admit`] has accepted.
    pub(crate) fn write(&mut self, written: &OutputRecord) -> Result<(), Failure> {
        match self {
            Self::Nowhere => Ok(()),
            Self::Choices(choices) => match written {
                OutputRecord::Chosen(choice) => choices.add(*choice),
                _ => Ok(()),
            },
            Self::File(file) => file.write(written),
            Self::Folder(folder) => folder.write(written),
        }
    }

    /// Makes the written records durable. Returns the length and hash of the file from which a
    /// later run continues, or `None` if the output is no file. After the last record, the output
    /// is complete but for its name.
    pub(crate) fn sync(&mut self, last: bool) -> Result<Option<LengthAndHash>, Failure> {
        match self {
            Self::Nowhere => Ok(None),
            Self::File(file) => file.sync(last),
            Self::Folder(folder) => folder.sync(last).map(Some),
            Self::Choices(choices) => choices.sync(),
        }
    }

    /// Whether a file of a folder that lacks only its name would replace another one.
    pub(crate) fn replaces_shards(&self, delivery: Option<&Delivery>) -> Result<bool, Failure> {
        match self {
            Self::Folder(folder) => folder.replaces_shards(delivery),
            Self::Nowhere | Self::File(_) | Self::Choices(_) => Ok(false),
        }
    }

    /// Gives files that are complete their names, after a commit that says so.
    pub(crate) fn committed(&mut self) -> Result<(), Failure> {
        match self {
            Self::Nowhere | Self::File(_) | Self::Choices(_) => Ok(()),
            Self::Folder(folder) => folder.committed(),
        }
    }

    /// Deletes what was written, which no later run needs.
    pub(crate) fn discard(self) -> Result<(), Failure> {
        match self {
            Self::Nowhere => Ok(()),
            Self::File(file) => file.discard(),
            Self::Folder(folder) => folder.discard(),
            Self::Choices(choices) => choices.discard(),
        }
    }

    /// Completes the output: files get their names. What was only noted has none. Returns the
    /// content of a folder, which the last [`sync`](Self::sync) does not tell.
    pub(crate) fn finish(self) -> Result<Option<LengthAndHash>, Failure> {
        match self {
            Self::Nowhere | Self::Choices(_) => Ok(None),
            Self::File(file) => file.finish().map(|()| None),
            Self::Folder(folder) => folder.finish().map(Some),
        }
    }
}

/// Completes the output of an interrupted run that has judged all its records, and returns its
/// content. Returns `None` if it is not as that run has left it.
pub(crate) fn complete(
    target: &Target,
    content: LengthAndHash,
) -> Result<Option<LengthAndHash>, Failure> {
    match target {
        Target::File(file) => Ok(kept_file::complete(file, content)?.then_some(content)),
        Target::Folder(folder) => kept_folder::complete(folder, content),
        Target::Stream(_) | Target::UnwrittenFile | Target::Nowhere => Ok(None),
    }
}

/// Whether the output of a finished run is there with this content.
pub(crate) fn is_complete(target: &Target, content: LengthAndHash) -> Result<bool, Failure> {
    match target {
        Target::File(file) => PartialFile::is_complete(file, content),
        Target::Folder(folder) => kept_folder::is_complete(folder, content),
        Target::Stream(_) | Target::UnwrittenFile | Target::Nowhere => Ok(false),
    }
}

/// Reads all records that this output is to take, and calls `take` with each batch of them. Before
/// that, it says what is bad in the batch, and fails if its records cannot be written. Returns the
/// number of bad records.
pub(crate) fn read_all<T>(
    target: &Target,
    records: Records<T>,
    progress: &mut ProgressBar,
    mut take: impl FnMut(Vec<T>, Source, &ProgressBar) -> Result<(), Failure>,
) -> Result<u64, Failure> {
    let mut all_failed = 0;
    for parsed in records {
        let documents = parsed.records();
        let ParsedBatch { good, failed, messages, source, bytes } = parsed;
        all_failed += failed;
        messages.iter().for_each(|message| progress.say(message));
        if source.head.is_some() || !good.is_empty() {
            check(target, &source)?;
        }
        take(good, source, progress)?;
        progress.add(documents, bytes);
    }
    Ok(all_failed)
}

/// Fails if records cannot be written to this output, before anything is made.
fn check(target: &Target, source: &Source) -> Result<(), Failure> {
    let schema = match &source.head {
        Some(TableHead::Columns(schema)) => Some(schema),
        _ => None,
    };
    match target {
        Target::File(file) => {
            kept_file::check_format(file, source)?;
            kept_file::check(file, schema, false)
        }
        Target::Folder(folder) => {
            match source.file.as_deref().and_then(|file| folder.shard_of(file)) {
                Some(shard) => {
                    kept_file::check(&folder.path.join(&shard.name), schema, source.is_stream)
                }
                None => Ok(()),
            }
        }
        Target::Stream(path) if schema.is_some() => Err(anyhow!(
            "{}: rows of Parquet and Arrow are written to files alone; name one with -o",
            path.display()
        )
        .into()),
        Target::Stream(_) | Target::UnwrittenFile | Target::Nowhere => Ok(()),
    }
}
