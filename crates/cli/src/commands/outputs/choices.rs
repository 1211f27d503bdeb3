//! Which records of the input are kept, noted in the order in which they were judged, so that they
//! can be written in the order of the input.

use crate::commands::outputs::partial_file::{
    LengthAndHash, PartialFile, create_folders, with_suffix,
};
use crate::run::failure::Failure;
use crate::run::spilled_sort::{Sorted, SpilledSort};
use anyhow::Context;
use std::io;
use std::path::{Path, PathBuf};
use twindex::Document;
use xxhash_rust::xxh3::xxh3_64;

/// A record of the input that is kept.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, serde::Serialize, serde::Deserialize,
)]
pub(crate) struct Choice {
    /// Its number among the good records, from 0.
    pub(crate) number: u64,
    /// A hash of its id and text.
    pub(crate) hash: u64,
}

impl Choice {
    /// The choice of a record.
    pub(crate) fn of(number: u64, document: &Document) -> Self {
        let name = format!("{} {}", document.text_hash(), document.id());
        Self { number, hash: xxh3_64(name.as_bytes()) }
    }
}

/// The choices of a run.
pub(crate) struct Choices {
    /// Keeps them for a later run, if the output is a file.
    file: Option<PartialFile>,
    sort: SpilledSort<Choice>,
}

/// The memory for choices.
const ROOM: usize = 32 << 20;

/// The bytes of a choice in the file.
const BYTES: usize = 16;

/// The file that keeps the choices of a run to this output.
pub(crate) fn choices_path(output: &Path) -> PathBuf {
    with_suffix(output, ".chosen")
}

impl Choices {
    /// Starts with none. They are kept in a file beside the output if that is one.
    pub(crate) fn create(output: Option<&Path>) -> Result<Self, Failure> {
        let create = |output| {
            let path = choices_path(output);
            // It lies in the folder of the output if that is one, which need not be there yet.
            create_folders(&path)?;
            PartialFile::create(&path)
        };
        let file = output.map(create).transpose()?;
        Ok(Self { file, sort: SpilledSort::new(ROOM) })
    }

    /// Continues with the choices that an interrupted run has stored; `None` if they have changed.
    pub(crate) fn resume(output: &Path, content: LengthAndHash) -> Result<Option<Self>, Failure> {
        let path = choices_path(output);
        let Some(mut file) = PartialFile::resume(&path, content)? else { return Ok(None) };
        let mut sort = SpilledSort::new(ROOM);
        file.read_back(|stored| {
            let mut read = || -> io::Result<()> {
                let mut bytes = [0; BYTES];
                for _ in 0..content.0 / BYTES as u64 {
                    stored.read_exact(&mut bytes)?;
                    let number = |at: usize| {
                        bytes[at..at + 8].iter().rev().fold(0, |n, byte| n << 8 | u64::from(*byte))
                    };
                    sort.push(Choice { number: number(0), hash: number(8) }, 0)?;
                }
                Ok(())
            };
            Ok(read().with_context(|| path.display().to_string())?)
        })?;
        Ok(Some(Self { file: Some(file), sort }))
    }

    /// Adds a record.
    pub(crate) fn add(&mut self, choice: Choice) -> Result<(), Failure> {
        if let Some(file) = &mut self.file {
            file.write(&choice.number.to_le_bytes())?;
            file.write(&choice.hash.to_le_bytes())?;
        }
        Ok(self.sort.push(choice, 0).context("a temporary file")?)
    }

    /// Makes the choices durable. Returns the length and hash of their file, if there is one.
    pub(crate) fn sync(&mut self) -> Result<Option<LengthAndHash>, Failure> {
        self.file.as_mut().map(PartialFile::sync).transpose()
    }

    /// Deletes their file, which no later run needs.
    pub(crate) fn discard(self) -> Result<(), Failure> {
        self.file.map_or(Ok(()), PartialFile::discard)
    }

    /// All choices in the order of the input. Their file stays.
    pub(crate) fn sorted(self) -> Result<Sorted<Choice>, Failure> {
        Ok(self.sort.sorted().context("a temporary file")?)
    }
}
