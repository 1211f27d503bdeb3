//! The binary interface is the one that `abi.txt` lists, so that every change of it is seen.

use crate::support::{Program, include, libraries, root, run, text};
use std::collections::BTreeSet;
use std::fmt::Write;
use std::fs;
use std::process::Command;

/// The header without comments and with single spaces.
fn header() -> String {
    let text = fs::read_to_string(include().join("twindex.h")).expect("the header is there");
    let (_, text) = text.split_once("*/").expect("the comment at the top");
    let lines = text.lines().map(|line| line.split("//").next().unwrap_or_default());
    lines.collect::<Vec<_>>().join("\n").replace("extern \"C\" {", "")
}

fn single_spaced(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The prototypes of all functions, in the order of their names.
fn functions(header: &str) -> BTreeSet<String> {
    let statements = header.split(';').map(|statement| {
        let lines = statement.lines().filter(|line| !line.starts_with(['#', '}']));
        single_spaced(&lines.collect::<Vec<_>>().join(" "))
    });
    let functions = statements.filter(|text| text.contains("twindex_") && text.contains('('));
    let functions = functions.filter(|text| !text.starts_with("typedef") && !text.contains('{'));
    functions.collect()
}

/// The constants with their values.
fn constants(header: &str) -> Vec<String> {
    let defined = header.lines().filter_map(|line| line.strip_prefix("#define "));
    defined.filter(|text| text.contains(' ')).map(single_spaced).collect()
}

/// The types that are no structures.
fn types(header: &str) -> Vec<String> {
    let typedefs = header.split(';').filter_map(|statement| statement.split("typedef ").nth(1));
    typedefs.filter(|text| !text.contains('{')).map(single_spaced).collect()
}

/// The structures with their fields, as a C program that prints them is to be told.
fn fields(header: &str) -> String {
    let mut out = String::new();
    for part in header.split("typedef struct {").skip(1) {
        let (body, rest) = part.split_once('}').expect("its end");
        let (name, _) = rest.split_once(';').expect("its name");
        let name = name.trim();
        writeln!(out, "STRUCT({name});").expect("written");
        for field in body.split(';').filter(|field| !field.trim().is_empty()) {
            let declared = single_spaced(field);
            let field = declared.rsplit([' ', '*']).next().expect("a name");
            writeln!(out, "FIELD({name}, {field}, \"{declared}\");").expect("written");
        }
    }
    out
}

fn layout(header: &str) -> String {
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("fields.h"), fields(header)).expect("written");
    let source = folder.path().join("layout.c");
    fs::copy(root().join("tests/c/layout.c"), &source).expect("copied");
    let program = Program::c(source).compile(folder.path());
    text(&run(&mut Command::new(program)).stdout)
}

#[test]
fn the_binary_interface_is_the_one_that_is_listed() {
    let header = header();
    let mut abi = String::from("# The binary interface of libtwindex on 64-bit Linux.\n\n");
    for function in functions(&header) {
        writeln!(abi, "{function}").expect("written");
    }
    for part in [types(&header).join("\n"), constants(&header).join("\n"), layout(&header)] {
        writeln!(abi, "\n{}", part.trim_end()).expect("written");
    }
    let path = root().join("abi.txt");
    if std::env::var_os("TWINDEX_BLESS").is_some() {
        fs::write(&path, &abi).expect("written");
    }
    let kept = fs::read_to_string(&path).expect("abi.txt is there");
    assert!(
        kept == abi,
        "the binary interface has changed. Old programs must go on working: add functions, and \
         fields at the end, only. TWINDEX_BLESS=1 cargo test --package twindex-c writes abi.txt."
    );
}

#[test]
fn the_library_exports_the_functions_of_the_header_and_nothing_else() {
    let library = libraries().join("libtwindex_c.so");
    let listed = run(Command::new("nm").args(["-D", "--defined-only"]).arg(library));
    let listed = text(&listed.stdout);
    let exported: BTreeSet<&str> =
        listed.lines().filter_map(|line| line.split_whitespace().nth(2)).collect();
    let header = header();
    let functions = functions(&header);
    let name = |text: &'_ String| {
        let (before, _) = text.split_once('(').expect("a function");
        before.rsplit([' ', '*']).next().expect("a name").to_owned()
    };
    let declared: BTreeSet<String> = functions.iter().map(name).collect();
    let declared: BTreeSet<&str> = declared.iter().map(String::as_str).collect();
    assert_eq!(exported, declared);
    assert!(declared.len() > 50, "{declared:?}");
}
