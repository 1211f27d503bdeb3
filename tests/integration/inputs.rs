//! Runs plain tests on the stored inputs of a fuzz target.

use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

/// Calls `run` with every stored input of a target: its corpus and its past crashes.
pub fn for_each_input(target: &str, run: impl Fn(&[u8])) {
    let folders = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors();
    let mut places = folders.map(|folder| folder.join("fuzz"));
    let fuzz = places.find(|place| place.is_dir()).expect("the folder of the fuzz targets");
    let mut paths = files(&fuzz.join("corpus").join(target));
    let regressions = fuzz.join("regressions").join(target);
    if regressions.exists() {
        paths.extend(files(&regressions));
    }
    paths.retain(|path| {
        let input = fs::read(path).expect("a readable input");
        catch_unwind(AssertUnwindSafe(|| run(&input))).is_err()
    });
    assert!(paths.is_empty(), "it fails on {paths:#?}");
}

/// The files of a folder. The folder must not be empty, because a test of no inputs cannot fail.
fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap_or_else(|e| panic!("{}: {e}", folder.display()));
    let mut files: Vec<PathBuf> =
        entries.map(|entry| entry.expect("a readable folder").path()).collect();
    assert!(!files.is_empty(), "{} is empty", folder.display());
    files.sort();
    files
}
