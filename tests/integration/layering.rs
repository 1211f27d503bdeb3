//! Layers point one way, and only one of them knows the storage library, one the argument parser.

use std::fs;
use std::path::{Path, PathBuf};

const LAYERS: [&str; 15] = [
    "error", "hash", "params", "text", "sketch", "estimate", "methods", "lsh", "store", "index",
    "input", "study", "cli", "main", "fuzzing",
];

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

/// Every source file with the layer it belongs to.
fn files() -> Vec<(String, PathBuf, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    sources(&root)
        .into_iter()
        .map(|path| {
            let inside = path.strip_prefix(&root).expect("below the root");
            let first = inside.components().next().expect("a name");
            let layer = first.as_os_str().to_string_lossy().trim_end_matches(".rs").to_owned();
            let text = fs::read_to_string(&path).expect("UTF-8");
            (layer, path, text)
        })
        .collect()
}

#[test]
fn no_layer_uses_one_above_it() {
    for (layer, path, text) in files() {
        let Some(own) = LAYERS.iter().position(|name| *name == layer) else {
            assert_eq!(layer, "lib", "{} is in no layer", path.display());
            continue;
        };
        for line in text.lines().filter(|line| !line.trim_start().starts_with("//")) {
            for (_, rest) in
                line.match_indices("crate::").map(|(at, found)| (at, &line[at + found.len()..]))
            {
                let used: String =
                    rest.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
                if let Some(other) = LAYERS.iter().position(|name| *name == used) {
                    assert!(other <= own, "{}: {layer} uses {used}: {line}", path.display());
                }
            }
        }
    }
}

#[test]
fn libraries_are_known_to_one_layer_only() {
    for (library, home) in [
        ("redb", "store"),
        ("roaring", "store"),
        ("bincode", "store"),
        ("clap", "cli"),
        ("clap_complete", "cli"),
        ("clap_mangen", "cli"),
        ("plotters", "cli"),
        ("indicatif", "cli"),
        ("comfy_table", "cli"),
        ("anyhow", "cli"),
    ] {
        for (layer, path, text) in files().into_iter().filter(|file| file.0 != home) {
            let code = text.lines().filter(|line| !line.trim_start().starts_with("//"));
            for line in code {
                let named = line
                    .split(|c: char| !c.is_alphanumeric() && c != '_')
                    .any(|word| word == library);
                assert!(!named, "{}: {layer} names {library}: {line}", path.display());
            }
        }
    }
}

#[test]
fn every_file_says_what_it_is_for_and_stays_short() {
    for (_, path, text) in files() {
        assert!(text.starts_with("//!"), "{} has no first line of documentation", path.display());
        let lines = text.lines().count();
        assert!(lines <= 500, "{} has {lines} lines", path.display());
    }
}
