//! Results that go to standard output, or to a file that gets its name when it is complete.

use crate::run::failure::Failure;
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use tempfile::NamedTempFile;

/// Where lines are written to.
pub struct OutFile {
    to: To,
    /// As messages name it.
    name: Option<String>,
    pub bytes: u64,
}

enum To {
    Standard(BufWriter<io::Stdout>),
    /// A pipe or a device, which cannot be replaced.
    Special(BufWriter<File>),
    Beside(BufWriter<NamedTempFile>, PathBuf),
}

impl OutFile {
    /// Begins to write to a file, or to standard output.
    pub fn new(path: Option<&Path>) -> Result<Self, Failure> {
        let Some(path) = path else {
            let out = BufWriter::with_capacity(1 << 16, io::stdout());
            return Ok(Self { to: To::Standard(out), name: None, bytes: 0 });
        };
        let name = path.display().to_string();
        let to = begin(path).map_err(|error| anyhow::anyhow!("{name}: {error}"))?;
        Ok(Self { to, name: Some(name), bytes: 0 })
    }

    pub fn line(&mut self, line: &str) -> Result<(), Failure> {
        self.bytes += line.len() as u64 + 1;
        let out: &mut dyn Write = match &mut self.to {
            To::Standard(out) => out,
            To::Special(out) => out,
            To::Beside(out, _) => out,
        };
        let written = out.write_all(line.as_bytes()).and_then(|()| out.write_all(b"\n"));
        written.map_err(|error| failed(self.name.as_deref(), error))
    }

    /// Makes it complete, and gives it its name.
    pub fn finish(self) -> Result<(), Failure> {
        let done = match self.to {
            To::Standard(mut out) => out.flush(),
            To::Special(mut out) => out.flush(),
            To::Beside(out, target) => put_in_place(out, &target),
        };
        done.map_err(|error| failed(self.name.as_deref(), error))
    }
}

fn failed(name: Option<&str>, error: io::Error) -> Failure {
    match name {
        None => error.into(),
        Some(name) => anyhow::anyhow!("{name}: {error}").into(),
    }
}

fn begin(path: &Path) -> io::Result<To> {
    // A link stays what it is; the file that it names is replaced.
    let link = path.symlink_metadata().is_ok_and(|found| found.is_symlink());
    let target = if link { fs::canonicalize(path)? } else { path.to_owned() };
    match fs::metadata(&target) {
        Ok(found) if found.is_dir() => return Err(io::ErrorKind::IsADirectory.into()),
        Ok(found) if !found.is_file() => {
            let out = File::options().write(true).open(&target)?;
            return Ok(To::Special(BufWriter::with_capacity(1 << 16, out)));
        }
        _ => {}
    }
    let folder = match target.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    // As any new file: the user's mask decides, not the care taken for temporary ones. What is wrong is said of
    // the file that is wanted, without the other name.
    let open = |path: &Path| File::options().read(true).write(true).create_new(true).open(path);
    let new = tempfile::Builder::new().prefix(".twindex-").suffix(".out").make_in(folder, open)?;
    Ok(To::Beside(BufWriter::with_capacity(1 << 16, new), target))
}

fn put_in_place(out: BufWriter<NamedTempFile>, target: &Path) -> io::Result<()> {
    let new = out.into_inner().map_err(io::IntoInnerError::into_error)?;
    if let Ok(old) = fs::metadata(target) {
        fs::set_permissions(new.path(), old.permissions())?;
    }
    new.as_file().sync_all()?;
    new.persist(target).map_err(|error| error.error)?;
    Ok(())
}
