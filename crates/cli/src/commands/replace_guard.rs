//! Stops a run that would replace more than half of an index, unless it was asked for.

use crate::run::failure::Failure;
use crate::terminal::output::count;
use anyhow::anyhow;
use std::collections::HashSet;
use std::path::Path;
use twindex::Index;
use xxhash_rust::xxh3::xxh3_64;

/// So few replacements are never stopped: a person can see them all.
const FEW: u64 = 10;

/// The most ids of this run that are remembered, which bounds the memory to some 20 MiB.
const REMEMBERED: usize = 1 << 20;

/// How many documents may be replaced in one run.
#[derive(Clone, Copy, Debug, Default, clap::Args)]
pub(crate) struct ReplaceOptions {
    /// Allow this run to replace more than half of the documents of the index
    #[arg(long, help_heading = "Writing to the index")]
    replace_most: bool,
}

impl ReplaceOptions {
    /// Allows what these options allow, and everything if `allowed`.
    pub(crate) fn or_allowed(self, allowed: bool) -> Self {
        Self { replace_most: self.replace_most || allowed }
    }
}

/// Counts the documents of an index that a run replaces.
#[derive(Debug)]
pub(crate) struct ReplaceGuard {
    allowed: bool,
    /// The number of documents before the run.
    before: u64,
    replaced: u64,
    /// The documents that this run has written and replaced itself.
    repeated: u64,
    /// The keys of ids that this run has written, unless there was no document before. Replacing
    /// them again costs no old document.
    written: HashSet<u64>,
}

/// Hashes an id. A guard remembers the hashes of the ids that it has seen.
pub(crate) fn key_of(id: &str) -> u64 {
    xxh3_64(id.as_bytes())
}

impl ReplaceGuard {
    /// A guard for a run that has not written anything to the index.
    pub(crate) fn new(options: ReplaceOptions, index: &Index) -> Result<Self, Failure> {
        let (allowed, before) = (options.replace_most, index.snapshot()?.len());
        Ok(Self { allowed, before, replaced: 0, repeated: 0, written: HashSet::new() })
    }

    /// Whether it needs the keys of what is written.
    pub(crate) fn needs_keys(&self) -> bool {
        self.before > 0
    }

    /// The number of documents that this run has written and then replaced by later ones with the
    /// same ids.
    pub(crate) fn repeated(&self) -> u64 {
        self.repeated
    }

    /// Takes account of a document that was added, or has replaced another one. `key` is that of
    /// its id.
    pub(crate) fn wrote(&mut self, key: u64, replaced: bool) {
        let is_first = match (self.needs_keys(), self.written.len() < REMEMBERED) {
            (false, _) => false,
            (true, true) => self.written.insert(key),
            (true, false) => !self.written.contains(&key),
        };
        self.replaced += u64::from(replaced && is_first);
        self.repeated += u64::from(replaced && !is_first);
    }

    /// Fails unless it is allowed to replace most documents: a run goes on that was refused.
    pub(crate) fn refuse_again(&self, path: &Path) -> Result<(), Failure> {
        if self.allowed {
            Ok(())
        } else {
            Err(anyhow!(
                "{}: the run has ended as it would replace more than half of the documents; what \
                 it had committed before is in the index; say --replace-most to go on",
                path.display()
            )
            .into())
        }
    }

    /// Fails if more than half of the documents were replaced.
    pub(crate) fn check(&self, path: &Path) -> Result<(), Failure> {
        self.check_share(self.replaced, self.before, path)
    }

    /// Fails if one commit replaces more than half of the documents that were there before it. If
    /// there were none before the run, it may.
    pub(crate) fn check_commit(
        &self,
        replaced: u64,
        before: u64,
        path: &Path,
    ) -> Result<(), Failure> {
        match self.before {
            0 => Ok(()),
            _ => self.check_share(replaced, before, path),
        }
    }

    fn check_share(&self, replaced: u64, before: u64, path: &Path) -> Result<(), Failure> {
        if self.allowed || replaced < FEW || 2 * replaced <= before {
            return Ok(());
        }
        Err(anyhow!(
            "{}: more than half of its {} would be replaced by others with the same ids, so this \
             batch was not written; say --replace-most if that is meant (`add` and `dedup` take \
             --id hash if ids repeat from file to file)",
            path.display(),
            count(before, "document"),
        )
        .into())
    }
}
