//! Checks the structure of the source: layers point one way, one of them uses the storage library,
//! and every file begins with a description.

use std::fs;
use std::path::{Path, PathBuf};

/// The layers of the library. Each uses only those before it.
const LAYERS: [&str; 12] = [
    "error",
    "hash",
    "params",
    "text",
    "threads",
    "sketch",
    "estimate",
    "lsh",
    "store",
    "index",
    "internals",
    "fuzzing",
];

/// The layers of the command. Each uses only those before it.
const COMMAND_LAYERS: [&str; 10] = [
    "remote",
    "input",
    "terminal",
    "run",
    "report",
    "commands",
    "args",
    "near_misses",
    "dispatch",
    "fuzzing",
];

/// The layers of the Python package. Each uses only those before it.
const PYTHON_LAYERS: [&str; 27] = [
    "error",
    "process",
    "waiting",
    "content",
    "arrow",
    "row",
    "rows",
    "settings",
    "handle",
    "results",
    "care",
    "explanation",
    "clusters",
    "pairs",
    "passages",
    "tracking",
    "reader",
    "inserting",
    "merging",
    "snapshot",
    "columns",
    "sketcher",
    "transaction",
    "index",
    "dedup",
    "command",
    "minhash",
];

/// The layers of the C library. Each uses only those before it.
const C_LAYERS: [&str; 20] = [
    "status",
    "view",
    "error",
    "border",
    "structs",
    "settings",
    "document",
    "matches",
    "index",
    "care",
    "snapshot",
    "query",
    "passages",
    "sketcher",
    "insertion",
    "transaction",
    "ids",
    "clusters",
    "pairs",
    "arrow",
];

/// The layers of the extension of SQLite. Each uses only those before it.
const SQLITE_LAYERS: [&str; 10] = [
    "error",
    "databases",
    "indexes",
    "values",
    "table",
    "query",
    "pairs",
    "clusters",
    "scalars",
    "sync",
];

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn sources(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).expect("the sources are there") {
        let path = entry.expect("a readable folder").path();
        if path.is_dir() {
            found.extend(sources(&path));
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
    found
}

/// Every source file of the library with the layer it belongs to.
fn library() -> Vec<(String, PathBuf, String)> {
    layered(&root().join("src"))
}

/// Every source file of a package with the layer it belongs to: its folder, or its own name.
fn layered(root: &Path) -> Vec<(String, PathBuf, String)> {
    sources(root)
        .into_iter()
        .map(|path| {
            let inside = path.strip_prefix(root).expect("below the root");
            let first = inside.components().next().expect("a name");
            let layer = first.as_os_str().to_string_lossy().trim_end_matches(".rs").to_owned();
            let text = fs::read_to_string(&path).expect("UTF-8");
            (layer, path, text)
        })
        .collect()
}

/// Every source file of the packages in `crates/`.
fn clients() -> Vec<(PathBuf, String)> {
    let packages = fs::read_dir(root().join("crates")).expect("packages");
    let folders = packages.map(|package| package.expect("readable").path().join("src"));
    let paths = folders.filter(|folder| folder.is_dir()).flat_map(|folder| sources(&folder));
    let read = |path: PathBuf| {
        let text = fs::read_to_string(&path).expect("UTF-8");
        (path, text)
    };
    paths.map(read).collect()
}

/// The lines that are not comments.
fn code(text: &str) -> impl Iterator<Item = &str> {
    text.lines().filter(|line| !line.trim_start().starts_with("//"))
}

fn names(line: &str, library: &str) -> bool {
    line.split(|c: char| !c.is_alphanumeric() && c != '_').any(|word| word == library)
}

/// Fails if a layer uses one after it. Files in `outside` belong to no layer.
fn assert_layers(files: Vec<(String, PathBuf, String)>, layers: &[&str], outside: &[&str]) {
    for (layer, path, text) in files {
        let Some(own) = layers.iter().position(|name| *name == layer) else {
            assert!(outside.contains(&layer.as_str()), "{} is in no layer", path.display());
            continue;
        };
        for line in code(&text) {
            for (at, found) in line.match_indices("crate::") {
                let rest = &line[at + found.len()..];
                assert!(!rest.starts_with('{'), "{}: one layer a line: {line}", path.display());
                let used: String =
                    rest.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
                if let Some(other) = layers.iter().position(|name| *name == used) {
                    assert!(other <= own, "{}: {layer} uses {used}: {line}", path.display());
                }
            }
        }
    }
}

#[test]
fn no_layer_uses_one_above_it() {
    assert_layers(library(), &LAYERS, &["lib"]);
}

#[test]
fn no_layer_of_the_command_uses_one_above_it() {
    let files = layered(&root().join("crates/cli/src"));
    assert!(files.iter().any(|(layer, ..)| layer == "terminal"));
    assert_layers(files, &COMMAND_LAYERS, &["lib", "main", "help_tests"]);
}

#[test]
fn no_layer_of_the_python_package_uses_one_above_it() {
    assert_layers(layered(&root().join("crates/python/src")), &PYTHON_LAYERS, &["lib"]);
}

#[test]
fn no_layer_of_the_c_library_or_the_extension_uses_one_above_it() {
    assert_layers(layered(&root().join("crates/c/src")), &C_LAYERS, &["lib"]);
    assert_layers(layered(&root().join("crates/sqlite/src")), &SQLITE_LAYERS, &["lib"]);
}

#[test]
fn only_the_store_knows_the_storage_library() {
    for name in ["redb", "roaring", "bincode"] {
        for (layer, path, text) in library().into_iter().filter(|file| file.0 != "store") {
            for line in code(&text) {
                assert!(!names(line, name), "{}: {layer} names {name}: {line}", path.display());
            }
        }
        for (path, text) in clients() {
            for line in code(&text) {
                assert!(!names(line, name), "{} names {name}: {line}", path.display());
            }
        }
    }
}

#[test]
fn the_library_knows_nothing_of_its_clients() {
    for (_, path, text) in library() {
        for line in code(&text) {
            let known = [
                "feature = \"cli\"",
                "twindex_cli",
                "twindex_lab",
                "clap::",
                "pyo3",
                "arrow_array",
                "rusqlite",
            ];
            let named = known.into_iter().find(|name| line.contains(name));
            assert!(named.is_none(), "{}: {line}", path.display());
        }
    }
}

#[test]
fn every_file_says_what_it_is_for_and_stays_short() {
    let all = library().into_iter().map(|(_, path, text)| (path, text)).chain(clients());
    for (path, text) in all {
        assert!(text.starts_with("//!"), "{} has no first line of documentation", path.display());
        let lines = text.lines().count();
        assert!(lines <= 500, "{} has {lines} lines", path.display());
    }
}
