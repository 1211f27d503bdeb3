//! The targets that `dedup` writes to: resolves links, and refuses to overwrite an input.

use crate::commands::outputs::choices::choices_path;
use crate::commands::outputs::delivery::Delivery;
use crate::commands::outputs::folder_state::{forget_state, state_path};
use crate::commands::outputs::partial_file::{PartialFile, partial_path, with_suffix};
use crate::commands::outputs::request::OutputRequest;
use crate::commands::outputs::rows_spool::spool_path;
use crate::commands::outputs::shards::{ShardFolder, check_apart};
use crate::input::{Inputs, STANDARD_INPUT, is_among, is_index, same_file};
use crate::remote::is_remote;
use crate::report::{check_page_name, check_target, is_page};
use crate::run::column_format::ColumnFormat;
use crate::run::failure::Failure;
use crate::run::output_names::{NamedFormat, check_name};
use crate::run::over_input::{check_no_input, input_error};
use crate::run::results_file::{IS_INDEX, is_standard_output};
use crate::run::results_table::check_compression;
use crate::run::whole_file::{MAX_LINKS, linked};
use anyhow::{Context, anyhow};
use std::path::{Path, PathBuf};
use std::{fs, io};

/// A place to write to, as a path names it.
#[derive(Clone, Debug)]
pub(crate) enum Target {
    /// A file, which may not exist yet. The path has its links resolved.
    File(PathBuf),
    /// A folder with a file for each file of the input.
    Folder(ShardFolder),
    /// Standard output, a pipe or a device, which the run writes to directly.
    Stream(PathBuf),
    /// A file that is not written, as the run is dry: the records must fit into one file.
    UnwrittenFile,
    /// Nothing, so records of any format may follow each other.
    Nowhere,
}

/// Where the kept records and the audit go.
#[derive(Clone, Debug)]
pub(crate) struct Targets {
    /// The output for kept records.
    pub(crate) out: Target,
    /// The target that `--removed` names; `None` if the run prints the audit or drops it.
    pub(crate) audit: Option<Target>,
    /// Whether the run prints the audit to standard output.
    pub(crate) printed: bool,
    /// Where the output is copied when it is complete, if it is written to an address.
    pub(crate) delivery: Option<Delivery>,
}

impl Targets {
    /// Finds the targets of a command, and checks all its paths before it writes anything.
    pub(crate) fn resolve(request: &OutputRequest<'_>) -> Result<Self, Failure> {
        let is_here = |path: &&PathBuf| path.as_os_str() != STANDARD_INPUT && !is_remote(path);
        for path in request.paths.iter().filter(is_here) {
            fs::metadata(path).with_context(|| path.display().to_string())?;
        }
        check_report(request)?;
        if request.dry_run {
            let out = match request.output {
                Some(out) if !is_folder(out) => Target::UnwrittenFile,
                _ => Target::Nowhere,
            };
            return Ok(Self { out, audit: None, printed: true, delivery: None });
        }
        let removed = request.removed.filter(|path| !is_standard_output(path));
        let is_output_standard = request.output.is_some_and(is_standard_output);
        if request.removed.is_some() && removed.is_none() && is_output_standard {
            let error = anyhow!("standard output cannot take both the output and the audit");
            return Err(error.into());
        }
        let delivery = Delivery::prepare(request)?;
        let out = match (&delivery, request.output) {
            (Some(delivery), _) => delivery.target(),
            (None, Some(output)) => Target::of_output(output),
            // Only a dry run names no output.
            (None, None) => Target::UnwrittenFile,
        };
        let targets = Self {
            out,
            audit: removed.map(Target::of),
            printed: removed.is_none() && !is_output_standard,
            delivery,
        };
        targets.check(request)?;
        Ok(targets)
    }

    /// Returns the targets of a run that writes no file and only prints the audit, if it is
    /// printed.
    pub(crate) fn without_files(&self) -> Self {
        let out = Target::Nowhere;
        Self { out, audit: None, printed: self.printed, delivery: None }
    }

    /// Returns the file from which a later run can resume the output: the output itself, or what
    /// tells the state of a folder.
    pub(crate) fn resume_file(&self) -> Option<PathBuf> {
        match &self.out {
            Target::File(path) => Some(path.clone()),
            Target::Folder(folder) => Some(state_path(&folder.path)),
            Target::Stream(_) | Target::UnwrittenFile | Target::Nowhere => None,
        }
    }

    /// Whether a later run can resume the output.
    pub(crate) fn can_resume(&self) -> bool {
        self.resume_file().is_some()
    }

    /// Copies the complete output to its address, if it has one.
    pub(crate) fn deliver(&self) -> Result<(), Failure> {
        self.delivery.as_ref().map_or(Ok(()), |delivery| delivery.deliver(&self.out))
    }

    /// Deletes what is needed only until the run has ended: what tells how far the output is, and
    /// what was copied to an address.
    pub(crate) fn clean_up(&self) -> Result<(), Failure> {
        self.forget_progress()?;
        self.delivery.as_ref().map_or(Ok(()), Delivery::clean_up)
    }

    /// Deletes what tells how far the output is: the state of a folder, and which records were
    /// chosen.
    pub(crate) fn forget_progress(&self) -> Result<(), Failure> {
        // Choices come last: whoever finds them knows that the state is of the same run.
        self.folder().map_or(Ok(()), forget_state)?;
        let Some(output) = self.resume_file() else { return Ok(()) };
        let chosen = partial_path(&choices_path(&output));
        match fs::remove_file(&chosen) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                Err(anyhow!("{}: {error}", chosen.display()).into())
            }
            _ => Ok(()),
        }
    }

    /// Whether the output holds something already.
    pub(crate) fn is_there(&self) -> Result<bool, Failure> {
        let is_there = |file: &Path| file.metadata().is_ok_and(|found| found.len() > 0);
        Ok(match (&self.out, &self.delivery) {
            (Target::File(_), Some(delivery)) => delivery.holds_something("")?,
            (Target::Folder(folder), Some(delivery)) => {
                let mut there = false;
                for shard in folder.shards.iter() {
                    there = there || delivery.holds_something(&shard.name)?;
                }
                there
            }
            (Target::File(file), None) => is_there(file),
            (Target::Folder(folder), None) => {
                folder.shards.iter().any(|shard| is_there(&folder.path.join(&shard.name)))
            }
            (Target::Stream(_) | Target::UnwrittenFile | Target::Nowhere, _) => false,
        })
    }

    /// Whether what an interrupted run has written would replace something on this machine. The run
    /// names its files in order, so those from its first partial file on are not its own.
    pub(crate) fn would_replace(&self) -> bool {
        let is_there = |file: &Path| file.metadata().is_ok_and(|found| found.len() > 0);
        match (&self.out, &self.delivery) {
            (Target::File(file), None) => is_there(file) && partial_path(file).exists(),
            (Target::Folder(folder), None) => {
                let files = folder.shards.iter().map(|shard| folder.path.join(&shard.name));
                files.skip_while(|file| !partial_path(file).exists()).any(|file| is_there(&file))
            }
            _ => false,
        }
    }

    /// Returns the output if it is a folder.
    pub(crate) fn folder(&self) -> Option<&Path> {
        match &self.out {
            Target::Folder(folder) => Some(&folder.path),
            _ => None,
        }
    }

    /// Fails if a file cannot be created. Leaves none, and leaves a partial file that is there.
    pub(crate) fn try_out(&self) -> Result<(), Failure> {
        let files = self.resume_file().into_iter().chain(self.spool());
        let files = files.filter(|file| check_folder_above(file).is_ok());
        let mut files = files.filter(|file| !partial_path(file).exists());
        files.try_for_each(|file| PartialFile::create(&file)?.discard())
    }

    /// Whether all records go to one file or stream, or would in a run that is not dry.
    pub(crate) fn is_one(&self) -> bool {
        !matches!(self.out, Target::Folder(_) | Target::Nowhere)
    }

    /// Whether kept records are written.
    pub(crate) fn writes(&self) -> bool {
        !matches!(self.out, Target::UnwrittenFile | Target::Nowhere)
    }

    /// Finds the files of the output, if it is a folder.
    pub(crate) fn find_shards(
        &mut self,
        request: &OutputRequest<'_>,
        inputs: Inputs,
    ) -> Result<(), Failure> {
        match (&self.out, request.output) {
            (Target::Folder(folder), _) => {
                let folder = ShardFolder::find(&folder.path, inputs, request, self)?;
                self.out = Target::Folder(folder);
            }
            (Target::Nowhere, Some(path)) => {
                ShardFolder::find(path, inputs, request, self)?;
            }
            _ => {}
        }
        Ok(())
    }

    /// Returns the file that keeps the audit, so that a later run can resume it: the file that the
    /// user requested, or one beside the output. `None` if neither is a file.
    pub(crate) fn spool(&self) -> Option<PathBuf> {
        match &self.audit {
            Some(Target::File(path)) => Some(path.clone()),
            _ => self.resume_file().map(|out| with_suffix(&out, ".removed")),
        }
    }

    /// Whether the user requested a file for the audit.
    pub(crate) fn audit_is_file(&self) -> bool {
        matches!(self.audit, Some(Target::File(_)))
    }

    /// Returns all files that the run may write, under their temporary and final names.
    pub(crate) fn files(&self) -> Vec<PathBuf> {
        let out = self.resume_file();
        let rows = out.as_deref().filter(|out| ColumnFormat::of(out).is_some()).map(spool_path);
        let chosen = out.as_deref().map(choices_path);
        let named = out.into_iter().chain(self.spool()).chain(rows).chain(chosen);
        named.flat_map(|path| [partial_path(&path), path]).collect()
    }

    /// The output or the audit, if it is a file that is there in a folder of the input. It is left
    /// out of the input, and replaced.
    pub(crate) fn among(&self, paths: &[PathBuf]) -> Option<PathBuf> {
        let audit = self.spool().filter(|_| self.audit_is_file());
        let mut files = self.resume_file().into_iter().chain(audit);
        files.find(|file| file.is_file() && is_among(file, paths))
    }

    /// Checks that each folder exists, and that no file to write is another output, an index or an
    /// input.
    fn check(&self, request: &OutputRequest<'_>) -> Result<(), Failure> {
        if let Some(removed) = request.removed.filter(|removed| is_remote(removed)) {
            let removed = removed.display();
            return Err(anyhow!("{removed}: is an address; name a file for the audit").into());
        }
        if let Some(removed) = request.removed.filter(|removed| is_folder(removed)) {
            let removed = removed.display();
            return Err(anyhow!("{removed}: is a folder; name a file for the audit").into());
        }
        if let Some(removed) = request.removed.filter(|removed| !is_standard_output(removed)) {
            check_name(removed, "an audit", &[NamedFormat::JsonLines])?;
        }
        if let Some(folder) = self.folder() {
            check_folder_above(folder)?;
            check_apart(folder, request)?;
        }
        let named = request.output.into_iter().chain(request.removed);
        named.filter(|path| !is_folder(path)).try_for_each(check_compression)?;
        let files = self.files();
        let is_report = |file: &&PathBuf| {
            request.report.is_some_and(|report| is_same_destination(report, file))
        };
        if let Some(file) = files.iter().find(is_report) {
            let place = file.display();
            return Err(anyhow!("{place}: cannot take both an output and the report").into());
        }
        for (at, file) in files.iter().enumerate() {
            let place = file.display();
            if file.parent() != self.folder() {
                check_folder_above(file)?;
            }
            if files.iter().skip(at + 1).any(|other| is_same_destination(file, other)) {
                let error =
                    anyhow!("{place}: cannot take both the output and the audit; name two files");
                return Err(error.into());
            }
            if request
                .against
                .iter()
                .map(PathBuf::as_path)
                .chain([request.index])
                .any(|index| is_same_destination(index, file))
                || is_index(file)
            {
                return Err(anyhow!("{place}: {IS_INDEX}").into());
            }
            if request.paths.iter().any(|input| is_same_destination(input, file)) {
                return Err(input_error(file));
            }
        }
        Ok(())
    }
}

impl Target {
    /// The target of the kept records, which may be a folder.
    fn of_output(path: &Path) -> Self {
        if is_folder(path) {
            Self::Folder(ShardFolder { path: path.components().collect(), shards: [].into() })
        } else {
            Self::of(path)
        }
    }

    /// Resolves the links of a path, and tells a file from a stream.
    fn of(path: &Path) -> Self {
        if is_standard_output(path) {
            return Self::Stream(path.to_owned());
        }
        let mut at = path.to_owned();
        for _ in 0..MAX_LINKS {
            let device = at.starts_with("/dev") && !at.starts_with("/dev/shm");
            if device || at.starts_with("/proc") {
                return Self::Stream(path.to_owned());
            }
            let Some(next) = linked(&at) else { break };
            at = next;
        }
        // A loop of links is refused when it is opened.
        if at.is_symlink() || fs::metadata(&at).is_ok_and(|found| !found.is_file()) {
            return Self::Stream(path.to_owned());
        }
        Self::File(at)
    }

    /// The one path without links of a file or folder that may not exist yet, if its folder does.
    pub(crate) fn absolute(path: &Path) -> Option<PathBuf> {
        if let Ok(found) = path.canonicalize() {
            return Some(found);
        }
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
        Some(folder.unwrap_or(Path::new(".")).canonicalize().ok()?.join(path.file_name()?))
    }
}

/// Checks that a report can be written, and that it takes the place of nothing else.
fn check_report(request: &OutputRequest<'_>) -> Result<(), Failure> {
    let Some(report) = request.report else { return Ok(()) };
    check_target(report)?;
    let place = report.display();
    let indexes = request.against.iter().map(PathBuf::as_path).chain([request.index]);
    let mut read = request.paths.iter().map(PathBuf::as_path).chain(indexes);
    if read.any(|path| is_same_destination(path, report)) {
        return Err(anyhow!("{place}: is read by this run; name another file").into());
    }
    if is_index(report) {
        return Err(anyhow!("{place}: {IS_INDEX}").into());
    }
    // A page that an earlier run has left in a folder of the input is no input.
    if !is_page(report) {
        check_no_input(report, request.paths)?;
    }
    let is_within = |output: &Path| {
        is_same_destination(output, report)
            || is_folder(output)
                && Target::absolute(output)
                    .zip(Target::absolute(report))
                    .is_some_and(|(output, report)| report.starts_with(output))
    };
    if request.output.into_iter().chain(request.removed).any(is_within) {
        return Err(anyhow!("{place}: cannot take both an output and the report").into());
    }
    check_page_name(report)
}

/// Whether a path means a folder: one that is there, or it has a slash at its end.
fn is_folder(path: &Path) -> bool {
    let last = path.as_os_str().as_encoded_bytes().last();
    last.is_some_and(|last| std::path::is_separator((*last).into())) || path.is_dir()
}

/// Fails if there is no folder for a file or a folder.
fn check_folder_above(path: &Path) -> Result<(), Failure> {
    let above = path.parent().filter(|above| !above.as_os_str().is_empty());
    let above = above.unwrap_or(Path::new("."));
    let found = fs::metadata(above);
    let place = || format!("{}: its folder {}", path.display(), above.display());
    found.with_context(place)?;
    Ok(())
}

/// Whether two paths name the same file, which may not exist yet.
pub(crate) fn is_same_destination(a: &Path, b: &Path) -> bool {
    a == b || same_file(a, b) || Target::absolute(a).is_some_and(|a| Target::absolute(b) == Some(a))
}
