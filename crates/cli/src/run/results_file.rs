//! Results on standard output, or in a file that gets its name once it is complete.

use crate::input::is_index;
use crate::remote::{address, check_writable, upload};
use crate::run::compressor::Compressor;
use crate::run::failure::{Failure, OfFile};
use crate::run::whole_file::{MAX_LINKS, linked, sync_folder};
use crate::terminal::interrupt;
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use tempfile::NamedTempFile;

/// Why a file is not replaced by results.
pub const IS_INDEX: &str = "is an index; write to another file";

/// Whether a path means standard output. It may be no file that can be opened by its name.
pub fn is_standard_output(path: &Path) -> bool {
    ["-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"]
        .iter()
        .any(|name| path.as_os_str() == *name)
}

/// The output of lines.
pub struct ResultsFile {
    target: Target,
    /// Compresses the lines of a file whose name asks for it.
    compressor: Option<Compressor>,
    /// The name of the file in messages; `None` for standard output.
    name: Option<String>,
    /// The bytes written so far.
    pub bytes: u64,
}

enum Target {
    Standard(BufWriter<io::Stdout>),
    /// A pipe or a device, which cannot be replaced.
    Special(BufWriter<File>),
    /// A temporary file, and the path that it gets when it is complete.
    Temporary(BufWriter<NamedTempFile>, PathBuf),
    /// A temporary file, and the address to which it is copied when it is complete.
    Remote(BufWriter<File>, String),
}

impl ResultsFile {
    /// Opens a file, or standard output if there is no path.
    pub fn new(path: Option<&Path>) -> Result<Self, Failure> {
        let Some(path) = path.filter(|path| !is_standard_output(path)) else {
            let out = BufWriter::with_capacity(1 << 16, io::stdout());
            let target = Target::Standard(out);
            return Ok(Self { target, compressor: None, name: None, bytes: 0 });
        };
        let name = path.display().to_string();
        let target = begin(path).map_err(|error| anyhow::anyhow!("{name}: {error}"))?;
        let compressor = match target {
            Target::Temporary(..) | Target::Remote(..) => Compressor::of(path),
            Target::Standard(_) | Target::Special(_) => None,
        };
        Ok(Self { target, compressor, name: Some(name), bytes: 0 })
    }

    /// Writes a line and its line end.
    pub fn line(&mut self, line: &str) -> io::Result<()> {
        self.write_all(line.as_bytes())?;
        self.write_all(b"\n")
    }

    /// Writes bytes to the target as they are.
    fn put(&mut self, bytes: &[u8]) -> io::Result<()> {
        match &mut self.target {
            Target::Standard(out) => out.write_all(bytes),
            Target::Special(out) => out.write_all(bytes),
            Target::Temporary(out, _) => out.write_all(bytes),
            Target::Remote(out, _) => out.write_all(bytes),
        }
    }

    /// Writes everything to disk and gives the file its name.
    pub fn finish(mut self) -> io::Result<()> {
        if let Some(compressor) = &mut self.compressor {
            let rest = compressor.end(self.bytes == 0).and_then(|rest| self.put(&rest));
            rest.map_err(|error| failed(self.name.as_deref(), error))?;
        }
        let done = match self.target {
            Target::Standard(mut out) => out.flush(),
            Target::Special(mut out) => out.flush(),
            Target::Temporary(out, target) => put_in_place(out, &target),
            Target::Remote(out, address) => out
                .into_inner()
                .map_err(io::IntoInnerError::into_error)
                .and_then(|mut file| upload(&mut file, &address, interrupt::asked)),
        };
        done.map_err(|error| failed(self.name.as_deref(), error))
    }
}

/// Writes bytes, which are compressed if the name of the file asks for it.
impl Write for ResultsFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = match &mut self.compressor {
            None => self.put(bytes),
            Some(compressor) => compressor.write(bytes).and_then(|ready| self.put(&ready)),
        };
        written.map_err(|error| failed(self.name.as_deref(), error))?;
        self.bytes += bytes.len() as u64;
        Ok(bytes.len())
    }

    /// Does nothing: [`Self::finish`] writes everything to disk.
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn failed(name: Option<&str>, error: io::Error) -> io::Error {
    match name {
        None => error,
        Some(name) => io::Error::other(OfFile(format!("{name}: {error}"))),
    }
}

fn begin(path: &Path) -> io::Result<Target> {
    if let Some(address) = address(path) {
        check_writable(address)?;
        let file = BufWriter::with_capacity(1 << 16, tempfile::tempfile()?);
        return Ok(Target::Remote(file, address.to_owned()));
    }
    match fs::metadata(path) {
        Ok(found) if found.is_dir() => return Err(io::ErrorKind::IsADirectory.into()),
        Ok(found) if !found.is_file() => {
            let out = File::options().write(true).open(path)?;
            return Ok(Target::Special(BufWriter::with_capacity(1 << 16, out)));
        }
        Ok(_) if is_index(path) => return Err(io::Error::other(IS_INDEX)),
        // Such as a loop of links, which would be followed to one of them.
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    // A symbolic link stays; the file that it leads to is replaced, or made.
    let mut target = path.to_owned();
    if path.is_symlink() && path.exists() {
        // The text of a link in /proc may be no path, as that of a deleted file.
        target = fs::canonicalize(path)?;
    }
    for _ in 0..MAX_LINKS {
        let Some(next) = linked(&target) else { break };
        target = next;
    }
    let folder = match target.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    // The file gets the permissions of any new file, not the stricter ones of a temporary file. An
    // error is reported for the requested path, so the temporary name does not appear in it.
    let open = |path: &Path| File::options().read(true).write(true).create_new(true).open(path);
    let new = tempfile::Builder::new().prefix(".twindex-").suffix(".out").make_in(folder, open)?;
    Ok(Target::Temporary(BufWriter::with_capacity(1 << 16, new), target))
}

fn put_in_place(out: BufWriter<NamedTempFile>, target: &Path) -> io::Result<()> {
    let new = out.into_inner().map_err(io::IntoInnerError::into_error)?;
    if let Ok(old) = fs::metadata(target) {
        fs::set_permissions(new.path(), old.permissions())?;
    }
    new.as_file().sync_all()?;
    new.persist(target).map_err(|error| error.error)?;
    sync_folder(target)
}
