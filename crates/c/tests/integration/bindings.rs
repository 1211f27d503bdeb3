//! The examples in Go and Java, where there is a toolchain.

use crate::support::{has, has_file, include, libraries, repository, run, text};
use std::fs;
use std::path::Path;
use std::process::Command;

const TEXTS: [(&str, &str); 3] = [
    ("one.txt", "the quick brown fox jumps over the lazy dog, and runs away"),
    ("three.txt", "nothing of the kind, but another text"),
    ("two.txt", "The quick brown fox jumps over the lazy dog,  and runs away"),
];

const EXPECTED: &str = "one.txt: added\nthree.txt: added\ntwo.txt: like one.txt, 1.00\n\
                        2 documents\n";

/// Files, two of which are similar.
fn texts(folder: &Path) {
    for (name, text) in TEXTS {
        fs::write(folder.join(name), text).expect("written");
    }
}

/// Runs an example on the files, then without any to see an error.
fn finds_the_copy(command: impl Fn() -> Command, folder: &Path) {
    texts(folder);
    let names = TEXTS.map(|(name, _)| name);
    let mut right = command();
    right.current_dir(folder).arg("index.twx").args(names);
    assert_eq!(text(&run(&mut right).stdout), EXPECTED);
    let mut wrong = command();
    let output = wrong.current_dir(folder).arg("one.txt").output().expect("started");
    assert!(!output.status.success());
    assert!(text(&output.stderr).contains("one.txt: not a twindex index"), "{output:?}");
}

#[test]
fn the_example_in_go_finds_the_copy() {
    if !has("go") {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let program = folder.path().join("near_duplicates");
    let libraries = libraries();
    // The library has another name here than where it is installed.
    let link = folder.path().join("libtwindex.so");
    fs::copy(libraries.join("libtwindex_c.so"), &link).expect("copied");
    let folder_name = folder.path().display().to_string();
    run(Command::new("go")
        .arg("build")
        .arg("-o")
        .arg(&program)
        .arg(repository().join("examples/go/near_duplicates.go"))
        .env("CGO_CFLAGS", format!("-I{}", include().display()))
        .env("CGO_LDFLAGS", format!("-L{folder_name} -Wl,-rpath,{folder_name}"))
        .env("CGO_LDFLAGS_ALLOW", "-Wl,-rpath,.*")
        .env("GOFLAGS", "-mod=mod")
        .env("GO111MODULE", "off")
        .env("GOCACHE", folder.path().join("cache")));
    finds_the_copy(|| Command::new(&program), folder.path());
}

/// The archive of JNA, which Debian's package libjna-java has.
const JNA: &str = "/usr/share/java/jna.jar";

#[test]
fn the_example_in_java_finds_the_copy() {
    if !(has("javac") && has_file(JNA)) {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let link = folder.path().join("libtwindex.so");
    fs::copy(libraries().join("libtwindex_c.so"), &link).expect("copied");
    run(Command::new("javac")
        .args(["-Xlint:all", "-Werror", "-cp", JNA, "-d"])
        .arg(folder.path())
        .arg(repository().join("examples/java/NearDuplicates.java")));
    let path = folder.path().display().to_string();
    let command = || {
        let mut command = Command::new("java");
        command.arg("-cp").arg(format!("{JNA}:{path}"));
        command.arg(format!("-Djna.library.path={path}")).arg("NearDuplicates");
        command
    };
    finds_the_copy(command, folder.path());
}
