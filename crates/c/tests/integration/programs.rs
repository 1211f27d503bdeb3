//! C and C++ programs use the library: the examples, and all of it under valgrind and
//! AddressSanitizer.

use crate::support::{Program, has, repository, root, run, text};
use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Output, Stdio};

fn with_input(program: &Path, arguments: &[&str], input: &str) -> Output {
    let mut child = Command::new(program)
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("started");
    let mut stdin = child.stdin.take().expect("a pipe");
    // A program that fails does not read its input.
    let _ = stdin.write_all(input.as_bytes());
    drop(stdin);
    child.wait_with_output().expect("ended")
}

const LINES: &str = "the quick brown fox jumps over the lazy dog\n\
                     another line, which is like no other\n\
                     The quick brown fox jumps over the lazy  dog!\n";

#[test]
fn the_example_in_c_finds_near_duplicates() {
    let folder = tempfile::tempdir().expect("a folder");
    for is_static in [false, true] {
        let source = repository().join("examples/c/near_duplicates.c");
        let program = Program { is_static, ..Program::c(source) }.compile(folder.path());
        let index = folder.path().join(format!("{is_static}.twx"));
        let index = index.to_str().expect("UTF-8");
        let expected = format!(
            "0.97  The quick brown fox jumps over the lazy  dog!\n      \
             the quick brown fox jumps over the lazy dog\n2 lines are kept in {index}\n"
        );
        for _ in 0..2 {
            let output = with_input(&program, &[index], LINES);
            assert_eq!((text(&output.stdout), text(&output.stderr)), (expected.clone(), "".into()));
        }
        let output = with_input(&program, &["no/such/folder.twx"], LINES);
        assert_eq!(output.status.code(), Some(2));
        let message = "near_duplicates: no/such: creating the index in this folder, which does not";
        assert!(text(&output.stderr).starts_with(message), "{output:?}");
    }
}

#[test]
fn the_example_in_cpp_finds_similar_files() {
    let folder = tempfile::tempdir().expect("a folder");
    let source = repository().join("examples/c/similar_files.cpp");
    let flags = &["-std=c++17", "-pedantic"];
    let program =
        Program { source, compiler: "c++", flags, is_static: false }.compile(folder.path());
    for (name, text) in [("one", LINES), ("two", LINES), ("three", "nothing of the kind")] {
        fs::write(folder.path().join(name), text).expect("written");
    }
    let mut command = Command::new(&program);
    command.current_dir(&folder).args(["index.twx", "one", "two", "three"]);
    assert_eq!(text(&run(&mut command).stdout), "1  one  two\n");
    let mut command = Command::new(&program);
    let output = command.current_dir(&folder).args(["index.twx", "four"]).output().expect("run");
    assert_eq!(output.status.code(), Some(2));
    assert_eq!(text(&output.stderr), "similar_files: four: cannot be opened\n");
}

#[test]
fn the_program_in_the_guide_runs() {
    let guide = fs::read_to_string(repository().join("docs/embedding.md")).expect("the guide");
    let (_, rest) = guide.split_once("```c\n").expect("a program");
    let (program, rest) = rest.split_once("```").expect("its end");
    let folder = tempfile::tempdir().expect("a folder");
    let source = folder.path().join("guide.c");
    fs::write(&source, program).expect("written");
    let program = Program::c(source).compile(folder.path());
    let output = run(Command::new(program).current_dir(&folder));
    let printed = text(&output.stdout);
    assert_eq!(printed, "1.00 page-1\n");
    assert!(rest.contains(&format!("It prints `{}`.", printed.trim())));
}

/// Runs a test program in a folder of its own, with this before it. It must be silent on standard
/// error.
fn runs_well(before: &[&str], program: &Path) {
    let folder = tempfile::tempdir().expect("a folder");
    let mut command = match before {
        [] => Command::new(program),
        [tool, arguments @ ..] => {
            let mut command = Command::new(tool);
            command.args(arguments).arg(program);
            command
        }
    };
    let output = run(command.arg(folder.path()));
    let said = (text(&output.stdout), text(&output.stderr));
    assert_eq!(said, ("all as it should be\n".into(), String::new()), "{command:?}");
}

fn test_program(name: &str, flags: &[&str], folder: &Path) -> std::path::PathBuf {
    Program { flags, ..Program::c(root().join("tests/c").join(name)) }.compile(folder)
}

#[test]
fn all_of_the_library_works_under_valgrind() {
    let folder = tempfile::tempdir().expect("a folder");
    for name in ["api.c", "misuse.c"] {
        let program = test_program(name, &["-std=c11"], folder.path());
        runs_well(&[], &program);
        if has("valgrind") {
            let suppressions = root().join("tests/valgrind.supp");
            let suppressions = format!("--suppressions={}", suppressions.display());
            runs_well(
                &[
                    "valgrind",
                    "--quiet",
                    "--leak-check=full",
                    "--show-leak-kinds=definite,indirect,possible",
                    "--errors-for-leak-kinds=definite,indirect,possible",
                    "--error-exitcode=9",
                    &suppressions,
                ],
                &program,
            );
        }
    }
}

#[test]
fn a_forked_child_uses_the_library() {
    let folder = tempfile::tempdir().expect("a folder");
    runs_well(&[], &test_program("fork.c", &["-std=gnu11"], folder.path()));
}

#[test]
fn all_of_the_library_works_under_address_sanitizer() {
    let folder = tempfile::tempdir().expect("a folder");
    for name in ["api.c", "misuse.c"] {
        let flags =
            &["-std=c11", "-fsanitize=address,undefined", "-fno-sanitize-recover=undefined"];
        runs_well(&[], &test_program(name, flags, folder.path()));
    }
}
