//! The targets that `dedup` writes to: resolves links, and refuses to overwrite an input.

use crate::commands::dedup::command::Dedup;
use crate::commands::dedup::kept_rows::spool_path;
use crate::commands::dedup::partial_file::{partial_path, with_suffix};
use crate::input::{STANDARD_INPUT, same_file};
use crate::run::columns_file::ColumnFormat;
use crate::run::failure::Failure;
use anyhow::{Context, anyhow};
use std::fs;
use std::path::{Path, PathBuf};

/// A place to write to, as a path names it.
#[derive(Clone, Debug)]
pub(crate) enum Target {
    /// A file, which may not exist yet. The path has its links resolved.
    File(PathBuf),
    /// Standard output, a pipe or a device, which the run writes to directly.
    Stream(PathBuf),
}

/// Where the kept records and the audit go.
#[derive(Clone, Debug)]
pub(crate) struct Targets {
    /// The output for kept records; `None` in a dry run.
    pub(crate) out: Option<Target>,
    /// The target that `--removed` names; `None` if the run prints the audit or drops it.
    pub(crate) audit: Option<Target>,
    /// Whether the run prints the audit to standard output.
    pub(crate) printed: bool,
}

impl Targets {
    /// Finds the targets of a command, and checks all its paths before it writes anything.
    pub(crate) fn of(args: &Dedup) -> Result<Self, Failure> {
        for path in args.paths.iter().filter(|path| path.as_os_str() != STANDARD_INPUT) {
            fs::metadata(path).with_context(|| path.display().to_string())?;
        }
        if args.dry_run {
            return Ok(Self { out: None, audit: None, printed: true });
        }
        let is_stdout = |path: &PathBuf| path.as_os_str() == STANDARD_INPUT;
        let removed = args.removed.as_ref().filter(|path| !is_stdout(path));
        let targets = Self {
            out: args.output.as_deref().map(Target::of),
            audit: removed.map(|path| Target::of(path)),
            printed: removed.is_none() && !args.output.as_ref().is_some_and(is_stdout),
        };
        targets.check(args)?;
        Ok(targets)
    }

    /// Returns the targets of a run that writes no file and only prints the audit, if it is
    /// printed.
    pub(crate) fn without_files(&self) -> Self {
        Self { out: None, audit: None, printed: self.printed }
    }

    /// Returns the output if it is a file, which a later run can resume.
    pub(crate) fn output_file(&self) -> Option<&Path> {
        self.out.as_ref().and_then(Target::file)
    }

    /// Returns the file that keeps the audit, so that a later run can resume it: the file that the
    /// user requested, or one beside the output. `None` if neither is a file.
    pub(crate) fn spool(&self) -> Option<PathBuf> {
        match &self.audit {
            Some(Target::File(path)) => Some(path.clone()),
            _ => self.output_file().map(|out| with_suffix(out, ".removed")),
        }
    }

    /// Whether the user requested a file for the audit.
    pub(crate) fn audit_is_file(&self) -> bool {
        matches!(self.audit, Some(Target::File(_)))
    }

    /// Returns all files that the run may write, under their temporary and final names.
    pub(crate) fn files(&self) -> Vec<PathBuf> {
        let out = self.output_file();
        let rows = out.filter(|out| ColumnFormat::of(out).is_some()).map(spool_path);
        let named = out.map(Path::to_owned).into_iter().chain(self.spool()).chain(rows);
        named.flat_map(|path| [partial_path(&path), path]).collect()
    }

    /// Checks that each folder exists, and that no file to write is another output, an index or an
    /// input.
    fn check(&self, args: &Dedup) -> Result<(), Failure> {
        let files = self.files();
        for (at, file) in files.iter().enumerate() {
            let place = file.display();
            let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty());
            fs::metadata(folder.unwrap_or(Path::new("."))).with_context(|| place.to_string())?;
            if files.iter().skip(at + 1).any(|other| is_same_destination(file, other)) {
                let error =
                    anyhow!("{place}: cannot take both the output and the audit; name two files");
                return Err(error.into());
            }
            if args
                .against
                .iter()
                .chain([&args.index])
                .any(|index| is_same_destination(index, file))
            {
                return Err(anyhow!("{place}: is an index; write to another file").into());
            }
            if args.paths.iter().any(|input| is_same_destination(input, file)) {
                return Err(anyhow!("{place}: is an input; write to another file").into());
            }
        }
        Ok(())
    }
}

impl Target {
    /// Resolves the links of a path, and tells a file from a stream.
    fn of(path: &Path) -> Self {
        if path.as_os_str() == STANDARD_INPUT {
            return Self::Stream(path.to_owned());
        }
        /// A bound on chained links. Operating systems follow fewer.
        const MAX_LINKS: usize = 64;
        let mut at = path.to_owned();
        for _ in 0..MAX_LINKS {
            let device = at.starts_with("/dev") && !at.starts_with("/dev/shm");
            if device || at.starts_with("/proc") {
                return Self::Stream(path.to_owned());
            }
            let Ok(link) = fs::read_link(&at) else { break };
            at = at.parent().unwrap_or(Path::new("")).join(link);
        }
        match fs::metadata(&at).is_ok_and(|found| !found.is_file()) {
            true => Self::Stream(path.to_owned()),
            false => Self::File(at),
        }
    }

    /// Returns the path of a file, or `None` for a stream.
    pub(crate) fn file(&self) -> Option<&Path> {
        match self {
            Self::File(path) => Some(path),
            Self::Stream(_) => None,
        }
    }

    /// Returns the path, as messages name it.
    pub(crate) fn path(&self) -> &Path {
        match self {
            Self::File(path) | Self::Stream(path) => path,
        }
    }
}

/// Whether two paths name the same file, which may not exist yet.
fn is_same_destination(a: &Path, b: &Path) -> bool {
    fn absolute(path: &Path) -> Option<PathBuf> {
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
        Some(folder.unwrap_or(Path::new(".")).canonicalize().ok()?.join(path.file_name()?))
    }
    same_file(a, b) || absolute(a).is_some_and(|a| absolute(b) == Some(a))
}
