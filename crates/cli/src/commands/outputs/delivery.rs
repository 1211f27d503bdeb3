//! Outputs behind an address: written beside the index, and copied when they are complete.

use crate::commands::outputs::partial_file::{LengthAndHash, with_suffix};
use crate::commands::outputs::request::OutputRequest;
use crate::commands::outputs::shards::ShardFolder;
use crate::commands::outputs::targets::Target;
use crate::input::same_file;
use crate::remote::{Seen, address, check_writable, is_at_or_below, seen, upload};
use crate::run::failure::Failure;
use crate::run::over_input::input_error;
use crate::terminal::interrupt;
use anyhow::{Context, anyhow};
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use xxhash_rust::xxh3::xxh3_64;

/// An output behind an address.
///
/// A store takes only whole files, so the output is made on this machine first, with the same
/// temporary names as any other. It stays until the run has ended: a run that was killed while it
/// copied does so again.
#[derive(Clone, Debug)]
pub(crate) struct Delivery {
    address: String,
    /// The file or folder on this machine.
    staged: PathBuf,
}

impl Delivery {
    /// Prepares to deliver the output of a command, and checks that its address can be written to.
    /// Returns `None` if the output is written to this machine.
    ///
    /// # Errors
    ///
    /// Fails if the store cannot be reached, or if the address is that of an input.
    pub(crate) fn prepare(request: &OutputRequest<'_>) -> Result<Option<Self>, Failure> {
        let Some(address) = request.output.and_then(address) else { return Ok(None) };
        let is_folder = address.ends_with('/');
        if let Some(input) = request.paths.iter().find(|input| overlap(address, input)) {
            if same_file(Path::new(address), input) {
                return Err(input_error(Path::new(address)));
            }
            let input = input.display();
            return Err(anyhow!(
                "{address}: holds the input {input} or is part of it; name another folder"
            )
            .into());
        }
        let tried = if is_folder { format!("{address}.twindex") } else { address.to_owned() };
        check_writable(&tried).with_context(|| address.to_owned())?;
        let name = address.trim_end_matches('/').rsplit('/').next().unwrap_or_default();
        let suffix = format!(".{:016x}.{name}", xxh3_64(address.as_bytes()));
        let staged = with_suffix(request.index, &suffix);
        Ok(Some(Self { address: address.to_owned(), staged }))
    }

    /// Where the output is made.
    pub(crate) fn target(&self) -> Target {
        let path = self.staged.clone();
        if self.address.ends_with('/') {
            Target::Folder(ShardFolder { path, shards: [].into() })
        } else {
            Target::File(path)
        }
    }

    /// Copies the complete output to its address.
    pub(crate) fn deliver(&self, target: &Target) -> Result<(), Failure> {
        let copy = |file: &Path, address: &str| -> Result<(), Failure> {
            let mut open = File::open(file).with_context(|| file.display().to_string())?;
            upload(&mut open, address, interrupt::asked).map_err(|error| {
                anyhow!(
                    "{address}: {error}; what it is to hold is complete in {}, and the same \
                     command copies it",
                    file.display()
                )
            })?;
            Ok(())
        };
        let Target::Folder(folder) = target else {
            return copy(&self.staged, &self.address);
        };
        let shards = folder.shards.iter().map(|shard| (folder.path.join(&shard.name), shard));
        // A shard whose input could not be read is absent.
        let mut there = shards.filter(|(path, _)| path.is_file());
        there.try_for_each(|(path, shard)| copy(&path, &format!("{}{}", self.address, shard.name)))
    }

    /// Whether a file of this length is at the address. It is not read.
    pub(crate) fn is_there(&self, (length, _): LengthAndHash) -> Result<bool, Failure> {
        Ok(self.seen("")? == Seen::File(length))
    }

    /// Whether something is at the address, or at this name below it. It is, if that is not told:
    /// an earlier run has written there.
    pub(crate) fn holds_something(&self, name: &str) -> Result<bool, Failure> {
        Ok(!matches!(self.seen(name)?, Seen::Nothing | Seen::File(0)))
    }

    /// Whether something else than a file of this length is at this name below the address.
    pub(crate) fn holds_another(
        &self,
        name: &str,
        (length, _): LengthAndHash,
    ) -> Result<bool, Failure> {
        let found = self.seen(name)?;
        Ok(!matches!(found, Seen::Nothing | Seen::File(0)) && found != Seen::File(length))
    }

    fn seen(&self, name: &str) -> Result<Seen, Failure> {
        let address = format!("{}{name}", self.address);
        Ok(seen(&address).with_context(|| address)?)
    }

    /// Deletes what was made on this machine.
    pub(crate) fn clean_up(&self) -> Result<(), Failure> {
        let removed = if self.address.ends_with('/') {
            fs::remove_dir_all(&self.staged)
        } else {
            fs::remove_file(&self.staged)
        };
        match removed {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                Err(anyhow!("{}: {error}", self.staged.display()).into())
            }
            _ => Ok(()),
        }
    }
}

/// Whether an input is the output, or one of them holds the other.
fn overlap(output: &str, input: &Path) -> bool {
    let Some(input) = address(input) else { return false };
    is_at_or_below(output, input) || output.ends_with('/') && is_at_or_below(input, output)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_output_may_lie_beside_an_input_and_not_in_it() {
        for (output, input, expected) in [
            ("s3://b/out/", "s3://b/in/", false),
            ("s3://b/in2/", "s3://b/in", false),
            ("s3://b/in/", "s3://b/in", true),
            ("s3://b/in/out.jsonl", "s3://b/in/", true),
            ("s3://b/out/", "s3://b/out/in/a.jsonl", true),
            ("s3://b/a.jsonl", "s3://b/a.jsonl", true),
            ("s3://b/in/a.jsonl", "S3A://b//in/", true),
            ("s3://b/a.jsonl", "b/a.jsonl", false),
        ] {
            assert_eq!(overlap(output, Path::new(input)), expected, "{output} {input}");
        }
    }
}
