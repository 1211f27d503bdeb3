//! What the operating system tells, and room for files that are thrown away.

use crate::Outcome;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use tempfile::TempDir;

/// A folder of its own below `target`, removed when dropped.
pub fn scratch() -> Outcome<TempDir> {
    let target = Path::new(env!("CARGO_TARGET_TMPDIR"));
    fs::create_dir_all(target)?;
    Ok(tempfile::Builder::new().prefix("scale-").tempdir_in(target)?)
}

/// A copy of an index in a folder of its own, on disk before anything is measured there.
pub fn copy(index: &Path) -> Outcome<(TempDir, PathBuf)> {
    let folder = scratch()?;
    let path = folder.path().join("copy.twx");
    fs::copy(index, &path).map_err(|error| format!("{}: {error}", index.display()))?;
    fs::File::open(&path)?.sync_all()?;
    Ok((folder, path))
}

/// Drops the pages of a file from the system's memory, where the system can be told to.
pub fn evict(path: &Path) -> Outcome {
    let file = fs::File::open(path)?;
    file.sync_all()?;
    #[cfg(target_os = "linux")]
    rustix::fs::fadvise(&file, 0, None, rustix::fs::Advice::DontNeed)?;
    Ok(())
}

/// Bytes that this process had written to storage; 0 where the system does not tell.
pub fn bytes_written() -> u64 {
    proc_number("/proc/self/io", "write_bytes:")
}

/// The most memory this process had, in bytes; 0 where the system does not tell.
pub fn peak_memory() -> u64 {
    proc_number("/proc/self/status", "VmHWM:") * 1024
}

fn proc_number(path: &str, name: &str) -> u64 {
    let line = proc_line(path, name);
    line.and_then(|rest| rest.split_whitespace().next()?.parse().ok()).unwrap_or(0)
}

/// What follows `name` on the first line that begins with it.
fn proc_line(path: &str, name: &str) -> Option<String> {
    let text = fs::read_to_string(path).ok()?;
    text.lines().find_map(|line| line.strip_prefix(name)).map(str::to_owned)
}

/// Machine, commit and day in one line.
pub fn description() -> String {
    let model = proc_line("/proc/cpuinfo", "model name");
    let model =
        model.as_deref().map_or("unknown processor", |line| line.trim_matches([' ', '\t', ':']));
    let cores = std::thread::available_parallelism().map_or(0, usize::from);
    let memory = proc_number("/proc/meminfo", "MemTotal:") as f64 / f64::from(1 << 20);
    let commit = git(&["rev-parse", "--short", "HEAD"]);
    let changes = if git(&["status", "--porcelain"]).is_empty() { "" } else { " with changes" };
    let day = said(Command::new("date").args(["-u", "+%F"]));
    format!(
        "Machine: {model}, {cores} cores, {memory:.0} GiB. Commit {commit}{changes}. Date: {day}."
    )
}

fn git(args: &[&str]) -> String {
    said(Command::new("git").args(["-C", env!("CARGO_MANIFEST_DIR")]).args(args))
}

/// What a command printed; "unknown" if it could not be asked.
fn said(command: &mut Command) -> String {
    match command.output() {
        Ok(output) if output.status.success() => {
            String::from_utf8_lossy(&output.stdout).trim().to_owned()
        }
        _ => "unknown".to_owned(),
    }
}

/// The command, which `cargo build --release` puts beside the folder of this program.
pub fn binary() -> PathBuf {
    let bench = std::env::current_exe().expect("a path of this program");
    let built = bench.ancestors().nth(2).expect("target/release").join("twindex");
    assert!(built.exists(), "{}: run `cargo build --release` first", built.display());
    built
}
