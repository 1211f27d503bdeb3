//! Checks the structure of the source: layers point one way, files import each other in no circle,
//! one layer uses the storage library, and every file begins with a description.

use std::collections::{BTreeMap, BTreeSet};
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
const PYTHON_LAYERS: [&str; 31] = [
    "error",
    "process",
    "opened",
    "calls",
    "turn",
    "waiting",
    "numbers",
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

/// The circles of imports among files of the library that stay on purpose.
const CIRCLES: [&[&str]; 2] = [
    // An index keeps the options that it was opened with, and they open indexes.
    &["index/handle.rs", "index/options.rs"],
    // The check runs the check of fingerprints, which adds to its sums of entries.
    &["store/care/check.rs", "store/care/check_fingerprints.rs"],
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

/// A path such as `store::read::view`, without `crate`.
type ModulePath = Vec<String>;

/// A file of the library without its tests.
struct Module {
    file: PathBuf,
    /// What it imports or names, each with its name here. The paths begin at the root.
    imports: Vec<(ModulePath, String)>,
}

impl Module {
    /// Whether it holds other files, and so defines nothing itself.
    fn is_folder(&self) -> bool {
        self.file.ends_with("mod.rs") || self.file.ends_with("lib.rs")
    }
}

type Modules = BTreeMap<ModulePath, Module>;

/// Files of the library, each with those that it imports from.
type Imports = BTreeMap<String, BTreeSet<String>>;

/// Reads a file and those that it declares, in `folder`.
fn read_modules(path: &ModulePath, file: PathBuf, folder: &Path, modules: &mut Modules) {
    let text = fs::read_to_string(&file).expect("UTF-8");
    let lines = without_tests(&text);
    for name in lines.iter().filter_map(|line| declared(line)) {
        let child: ModulePath = path.iter().cloned().chain([name.to_owned()]).collect();
        let (alone, below) = (folder.join(format!("{name}.rs")), folder.join(name));
        if alone.exists() {
            read_modules(&child, alone, &below, modules);
        } else {
            read_modules(&child, below.join("mod.rs"), &below, modules);
        }
    }
    let mut module = Module { file, imports: Vec::new() };
    module.imports = imports(&lines, path, module.is_folder());
    modules.insert(path.clone(), module);
}

/// The name of a module that a line declares to be in another file.
fn declared(line: &str) -> Option<&str> {
    line.strip_suffix(';')?.split_once("mod ").map(|(_, name)| name)
}

/// The lines of code, without items that are compiled for tests or fuzzing only.
fn without_tests(text: &str) -> Vec<&str> {
    let mut lines = code(text).map(|line| line.split(" // ").next().unwrap_or(line).trim_end());
    let mut kept = Vec::new();
    while let Some(line) = lines.next() {
        let attribute = line.trim_start();
        let space = " ".repeat(line.len() - attribute.len() + 1);
        if ["#[cfg(test)]", "#[cfg(any(test, fuzzing))]", "#[cfg(fuzzing)]"].contains(&attribute) {
            // An item ends where its indentation returns.
            let ends = |line: &str| line.ends_with([';', '}', ',']) && !line.starts_with(&space);
            lines.by_ref().find(|line| ends(line));
        } else {
            kept.push(line);
        }
    }
    kept
}

/// The paths into the library that a file imports or names, each with its name there.
fn imports(lines: &[&str], path: &ModulePath, is_folder: bool) -> Vec<(ModulePath, String)> {
    let mut found = Vec::new();
    // The modules within the file that a line is in, each with its indentation.
    let mut within: Vec<(usize, &str)> = Vec::new();
    let mut lines = lines.iter();
    while let Some(line) = lines.next() {
        let code = line.trim_start();
        let indent = line.len() - code.len();
        if let Some((_, name)) = code.strip_suffix(" {").and_then(|head| head.split_once("mod ")) {
            within.push((indent, name));
        } else if code == "}" {
            within.pop_if(|(start, _)| *start == indent);
        }
        let inner = within.iter().map(|(_, name)| (*name).to_owned());
        let here: ModulePath = path.iter().cloned().chain(inner).collect();
        let visible = ["", "pub ", "pub(crate) ", "pub(super) "];
        let import = visible.iter().find_map(|word| code.strip_prefix(word)?.strip_prefix("use "));
        if let Some(begun) = import {
            let mut tree = begun.to_owned();
            while !tree.ends_with(';') {
                tree.push_str(lines.next().expect("the end of an import").trim());
            }
            let all = expanded(tree.trim_end_matches(';'));
            found.extend(all.iter().filter_map(|import| imported(import, &here, is_folder)));
        } else {
            let named = named(code).filter_map(|path| from_root(path, &here, false));
            found.extend(named.map(|path| (path, String::new())));
        }
    }
    found
}

/// What an import leads to, and its name in the file.
fn imported(import: &str, here: &ModulePath, is_folder: bool) -> Option<(ModulePath, String)> {
    let (path, alias) = import.split_once(" as ").map_or((import, None), |(p, a)| (p, Some(a)));
    let path = from_root(path.trim_end_matches("::self"), here, is_folder)?;
    let name = alias.map(str::to_owned).or_else(|| path.last().cloned())?;
    Some((path, name))
}

/// The paths into the library in a line that is no import.
fn named(code: &str) -> impl Iterator<Item = &str> {
    // `pub(in crate::store)` names no item.
    let visible = code.strip_prefix("pub(in ").and_then(|rest| rest.split_once(')'));
    let code = visible.map_or(code, |(_, item)| item);
    let words = code.split(|c: char| !c.is_alphanumeric() && c != '_' && c != ':');
    words.filter(|word| ["crate::", "super::", "self::"].iter().any(|own| word.starts_with(own)))
}

/// The paths that a tree of imports names: `a::{b, c::d}` names `a::b` and `a::c::d`.
fn expanded(tree: &str) -> Vec<String> {
    let Some((head, rest)) = tree.split_once('{') else { return vec![tree.trim().to_owned()] };
    let inside = rest.rsplit_once('}').expect("a closed brace").0;
    let mut depth = 0;
    let parts = inside.split(|c: char| {
        depth += i32::from(c == '{') - i32::from(c == '}');
        c == ',' && depth == 0
    });
    let parts = parts.map(str::trim).filter(|part| !part.is_empty());
    parts.flat_map(|part| expanded(&format!("{}{part}", head.trim()))).collect()
}

/// A path of an import from the root on, if it leads into the library. Those of a folder may begin
/// with one of its files.
fn from_root(path: &str, here: &ModulePath, is_folder: bool) -> Option<ModulePath> {
    let mut words = path.split("::").filter(|word| !word.is_empty()).peekable();
    let mut from = match words.peek() {
        Some(&"crate") => Vec::new(),
        Some(&("super" | "self")) => here.clone(),
        _ if is_folder => here.clone(),
        _ => return None,
    };
    for word in words {
        match word {
            "crate" | "self" => {}
            "super" => drop(from.pop()),
            name => from.push(name.to_owned()),
        }
    }
    Some(from)
}

/// The file that defines what a path names.
fn definition<'m>(modules: &'m Modules, path: &[String]) -> Option<&'m Path> {
    let depth = (0..=path.len()).rev().find(|depth| modules.contains_key(&path[..*depth]))?;
    let module = &modules[&path[..depth]];
    if !module.is_folder() {
        return Some(&module.file);
    }
    let name = path.get(depth)?;
    let (exported, _) = module.imports.iter().find(|(_, exported)| exported == name)?;
    definition(modules, exported)
}

/// Every file of the library with those that it imports from.
fn imported_files() -> Imports {
    let (source, mut modules) = (root().join("src"), Modules::new());
    read_modules(&Vec::new(), source.join("lib.rs"), &source, &mut modules);
    let name = |file: &Path| {
        file.strip_prefix(&source).expect("below the root").to_string_lossy().replace('\\', "/")
    };
    let files = modules.values().filter(|module| !module.is_folder());
    let with_imports = files.map(|module| {
        let of = |(path, _): &(ModulePath, String)| {
            let found = definition(&modules, path);
            let found = found.map(name);
            found.unwrap_or_else(|| panic!("{}: where is {}?", name(&module.file), path.join("::")))
        };
        let own = name(&module.file);
        let others = module.imports.iter().map(of).filter(|other| *other != own);
        (own.clone(), others.collect())
    });
    with_imports.collect()
}

/// The files that a file imports, by way of others too.
fn reached<'i>(imports: &'i Imports, file: &'i str) -> BTreeSet<&'i str> {
    let (mut reached, mut open) = (BTreeSet::new(), vec![file]);
    while let Some(file) = open.pop() {
        open.extend(imports[file].iter().map(String::as_str).filter(|next| reached.insert(*next)));
    }
    reached
}

/// Groups of files each of which imports, by way of others too, all of its group.
fn circles(imports: &Imports) -> BTreeSet<Vec<&str>> {
    let reached: BTreeMap<&str, BTreeSet<&str>> =
        imports.keys().map(|file| (file.as_str(), reached(imports, file))).collect();
    let circle = |file: &&str| -> Vec<&str> {
        reached[file].iter().copied().filter(|other| reached[other].contains(file)).collect()
    };
    reached.keys().map(circle).filter(|circle| !circle.is_empty()).collect()
}

#[test]
fn no_layer_uses_one_above_it() {
    assert_layers(library(), &LAYERS, &["lib"]);
}

#[test]
fn no_files_of_the_library_import_each_other_in_a_circle() {
    let imports = imported_files();
    let found = circles(&imports);
    let expected: BTreeSet<Vec<&str>> = CIRCLES.iter().map(|files| files.to_vec()).collect();
    let told = |circle: &Vec<&str>| {
        let within = |file: &&str| {
            let others = imports[*file].iter().filter(|other| circle.contains(&other.as_str()));
            format!("{file} imports {}\n", others.cloned().collect::<Vec<_>>().join(", "))
        };
        circle.iter().map(within).collect()
    };
    let new: Vec<String> = found.difference(&expected).map(told).collect();
    assert!(new.is_empty(), "files in a circle:\n{}", new.join("and:\n"));
    let gone: Vec<_> = expected.difference(&found).collect();
    assert!(gone.is_empty(), "no circle any more: {gone:?}");
}

#[test]
fn no_layer_of_the_command_uses_one_above_it() {
    let files = layered(&root().join("crates/cli/src"));
    assert!(files.iter().any(|(layer, ..)| layer == "terminal"));
    assert_layers(files, &COMMAND_LAYERS, &["lib", "main", "help_tests", "args_tests"]);
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
