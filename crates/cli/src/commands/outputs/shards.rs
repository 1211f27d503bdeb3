//! The files of a folder of outputs: one for each file of records in the input.

use crate::commands::outputs::partial_file::partial_path;
use crate::commands::outputs::request::OutputRequest;
use crate::commands::outputs::rows_spool::spool_path;
use crate::commands::outputs::targets::{Target, Targets, is_same_destination};
use crate::input::{FileIdentity, Finding, Holds, Inputs, STANDARD_INPUT};
use crate::remote::is_remote;
use crate::run::column_format::ColumnFormat;
use crate::run::failure::Failure;
use crate::run::results_table::check_compression;
use anyhow::anyhow;
use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A folder of outputs.
#[derive(Clone, Debug)]
pub(crate) struct ShardFolder {
    /// The folder, which may not exist yet.
    pub(crate) path: PathBuf,
    /// Its files, in the order of the input.
    pub(crate) shards: Arc<[Shard]>,
}

/// A file of records, and the file that receives what is kept of it.
#[derive(Clone, Debug)]
pub(crate) struct Shard {
    pub(crate) input: PathBuf,
    /// The path of the output below the folder: that of the input below its own folder.
    pub(crate) name: String,
}

impl Shard {
    /// Whether it is written by columns.
    pub(crate) fn is_columns(&self) -> bool {
        ColumnFormat::of(Path::new(&self.name)).is_some()
    }
}

impl ShardFolder {
    /// The place of the shard with this input; it is not before `from`.
    pub(crate) fn shard_at(&self, input: &Path, from: usize) -> Option<usize> {
        let found = self.shards.iter().skip(from).position(|shard| shard.input == input);
        found.map(|found| from + found)
    }

    /// The shard with this input.
    pub(crate) fn shard_of(&self, input: &Path) -> Option<&Shard> {
        self.shards.iter().find(|shard| shard.input == input)
    }

    /// Finds the files that `inputs` consist of, and what they become in this folder.
    ///
    /// # Errors
    ///
    /// Fails for an input that has no name or is one text, and if a file could not have its name
    /// because of a folder, an input, another file of this run or another shard.
    pub(crate) fn find(
        path: &Path,
        inputs: Inputs,
        request: &OutputRequest<'_>,
        targets: &Targets,
    ) -> Result<Self, Failure> {
        // Messages name an address, and not the folder on this machine.
        let named = request.output.filter(|out| is_remote(out)).unwrap_or(path);
        let place = named.display();
        if request.paths.iter().any(|input| input.as_os_str() == STANDARD_INPUT) {
            return Err(anyhow!(
                "{place}: is a folder, and standard input has no name there; name a file with -o"
            )
            .into());
        }
        let mut others = targets.files();
        others.extend(request.against.iter().cloned());
        others.push(request.index.to_owned());
        let (mut shards, mut inputs_found) = (Vec::<Shard>::new(), HashSet::new());
        let mut taken = HashMap::new();
        for found in Finding::new(Arc::new(inputs)) {
            let found = match found {
                Ok(found) => found,
                // A path that was named must be right. Another is reported when it is read.
                Err(bad) if request.paths.iter().any(|path| *path == *bad.place) => {
                    return Err(anyhow!("{bad}").into());
                }
                Err(_) => continue,
            };
            let input = found.path.display();
            let Holds::Records(format) = found.holds else {
                return Err(anyhow!(
                    "{input}: is one text, but the folder {place} takes files of records; choose \
                     them with --glob, or name a file with -o for the paths of kept texts"
                )
                .into());
            };
            let below = found.below();
            let Some(name) = below.to_str().map(str::to_owned) else { continue };
            let out = path.join(&name);
            if format.is_columns() != ColumnFormat::of(&out).is_some() {
                return Err(anyhow!(
                    "{input}: its name does not say what it holds, so what is kept of it cannot \
                     have that name; rename it"
                )
                .into());
            }
            check_compression(&out)?;
            check_place(&out)?;
            for name in names_of(&out) {
                if others.iter().any(|other| is_same_destination(other, &name)) {
                    let name = name.display();
                    let error = anyhow!("{name}: is another file of this run; name another folder");
                    return Err(error.into());
                }
                if let Some(other) = taken.insert(name, found.path.clone()) {
                    return Err(anyhow!(
                        "{}: would be written for {} and {input}; give them one after the \
                         other",
                        named.join(below).display(),
                        other.display()
                    )
                    .into());
                }
            }
            inputs_found.extend(FileIdentity::of_path(&found.path));
            shards.push(Shard { input: found.path, name });
        }
        // A folder of either may be a link into the other.
        for name in shards.iter().flat_map(|shard| names_of(&path.join(&shard.name))) {
            if FileIdentity::of_path(&name).is_some_and(|found| inputs_found.contains(&found)) {
                let error = anyhow!("{}: is an input; name another folder", name.display());
                return Err(error.into());
            }
        }
        Ok(Self { path: path.to_owned(), shards: shards.into() })
    }
}

/// The names that a file has before it is complete, and its own.
fn names_of(out: &Path) -> Vec<PathBuf> {
    let rows = ColumnFormat::of(out).map(|_| partial_path(&spool_path(out)));
    [out.to_owned(), partial_path(out)].into_iter().chain(rows).collect()
}

/// Fails if there cannot be a file of this path.
fn check_place(out: &Path) -> Result<(), Failure> {
    if out.is_dir() {
        return Err(
            anyhow!("{}: is a folder; name another folder for the output", out.display()).into()
        );
    }
    match out.ancestors().skip(1).find(|above| above.exists()) {
        Some(above) if !above.is_dir() => {
            Err(anyhow!("{}: is a file; name another folder for the output", above.display())
                .into())
        }
        _ => Ok(()),
    }
}

/// Fails if an output folder is in a folder of the input, or the other way round.
pub(crate) fn check_apart(folder: &Path, request: &OutputRequest<'_>) -> Result<(), Failure> {
    let Some(own) = Target::absolute(folder) else { return Ok(()) };
    let inputs = request.paths.iter().filter(|path| path.as_os_str() != STANDARD_INPUT);
    for input in inputs {
        let Ok(found) = input.canonicalize() else { continue };
        let (folder, input) = (folder.display(), input.display());
        let how = match (found.starts_with(&own), own.starts_with(&found)) {
            (true, true) => "is an input".to_owned(),
            (true, false) => format!("holds the input {input}"),
            (false, true) => format!("is in the input {input}"),
            (false, false) => continue,
        };
        return Err(anyhow!("{folder}: {how}; name another folder, apart from inputs").into());
    }
    Ok(())
}
