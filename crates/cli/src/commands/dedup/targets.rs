//! Where `dedup` writes: links followed, and nothing written over what is read.

use crate::commands::dedup::options::Dedup;
use crate::commands::dedup::partial_file::{part_of, with_suffix};
use crate::input::STANDARD_INPUT;
use crate::run::failure::Failure;
use crate::run::opening::same_file;
use anyhow::{Context, anyhow};
use std::fs;
use std::path::{Path, PathBuf};

/// What a path names to write to.
#[derive(Clone, Debug)]
pub(crate) enum Target {
    /// A file, or one that is not there yet, with its links followed.
    File(PathBuf),
    /// Standard output, a pipe, a device: written as it comes.
    Stream(PathBuf),
}

/// Where kept records and the audit go.
#[derive(Clone, Debug)]
pub(crate) struct Targets {
    /// None in a dry run.
    pub(crate) out: Option<Target>,
    /// None where the audit is printed, if anything.
    pub(crate) audit: Option<Target>,
    /// Whether standard output is free for the audit, and wanted for it.
    pub(crate) printed: bool,
}

impl Targets {
    /// Checks everything that can be wrong with names before anything is written.
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

    /// The output, if it is a file that can be gone on with.
    pub(crate) fn file(&self) -> Option<&Path> {
        self.out.as_ref().and_then(Target::file)
    }

    /// The file that keeps the audit, to be gone on with: the user's, or one beside the output.
    pub(crate) fn spool(&self) -> Option<PathBuf> {
        match &self.audit {
            Some(Target::File(path)) => Some(path.clone()),
            _ => self.file().map(|out| with_suffix(out, ".removed")),
        }
    }

    /// Whether that file is the user's.
    pub(crate) fn audit_is_file(&self) -> bool {
        matches!(self.audit, Some(Target::File(_)))
    }

    /// All files that are written.
    pub(crate) fn files(&self) -> Vec<PathBuf> {
        let named = self.file().map(Path::to_owned).into_iter().chain(self.spool());
        named.flat_map(|path| [part_of(&path), path]).collect()
    }

    fn check(&self, args: &Dedup) -> Result<(), Failure> {
        let files = self.files();
        for (at, file) in files.iter().enumerate() {
            let place = file.display();
            let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty());
            fs::metadata(folder.unwrap_or(Path::new("."))).with_context(|| place.to_string())?;
            if files.iter().skip(at + 1).any(|other| is_one(file, other)) {
                let error =
                    anyhow!("{place}: cannot take both the output and the audit; name two files");
                return Err(error.into());
            }
            if args.against.iter().chain([&args.index]).any(|index| is_one(index, file)) {
                return Err(anyhow!("{place}: is an index; write to another file").into());
            }
            if args.paths.iter().any(|input| is_one(input, file)) {
                return Err(anyhow!("{place}: is an input; write to another file").into());
            }
        }
        Ok(())
    }
}

impl Target {
    fn of(path: &Path) -> Self {
        if path.as_os_str() == STANDARD_INPUT {
            return Self::Stream(path.to_owned());
        }
        /// More links one after the other than any system follows.
        const LINKS: usize = 64;
        let mut at = path.to_owned();
        for _ in 0..LINKS {
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

    fn file(&self) -> Option<&Path> {
        match self {
            Self::File(path) => Some(path),
            Self::Stream(_) => None,
        }
    }
}

/// Whether two paths name one file, also one that is not there yet.
fn is_one(a: &Path, b: &Path) -> bool {
    fn absolute(path: &Path) -> Option<PathBuf> {
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
        Some(folder.unwrap_or(Path::new(".")).canonicalize().ok()?.join(path.file_name()?))
    }
    same_file(a, b) || absolute(a).is_some_and(|a| absolute(b) == Some(a))
}
