//! Shared helpers: compilers, the libraries under test, temporary folders.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

pub fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

pub fn include() -> PathBuf {
    root().join("include")
}

/// The folder with `libtwindex_c.so` and `libtwindex_c.a`: Cargo puts them beside this test.
pub fn libraries() -> PathBuf {
    let test = std::env::current_exe().expect("a path");
    test.parent().expect("a folder").to_owned()
}

pub fn repository() -> PathBuf {
    root().join("../..").canonicalize().expect("there")
}

/// Whether a program can be started. Tests that need one say so and pass where it is absent, unless
/// `TWINDEX_ALL_TOOLS` is set.
pub fn has(program: &str) -> bool {
    let found = Command::new(program).arg("--version").output().is_ok()
        || Command::new(program).arg("version").output().is_ok();
    found || left_out(program)
}

/// Whether a file is there that tests need.
pub fn has_file(path: &str) -> bool {
    Path::new(path).exists() || left_out(path)
}

/// Says that a test is left out; returns false.
fn left_out(missing: &str) -> bool {
    assert!(std::env::var_os("TWINDEX_ALL_TOOLS").is_none(), "there is no {missing}");
    let text = format!("left out: there is no {missing}\n");
    // The harness does not show what a test prints that passes.
    std::io::Write::write_all(&mut std::io::stderr(), text.as_bytes()).expect("written");
    false
}

pub fn run(command: &mut Command) -> Output {
    let output = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    assert!(
        output.status.success(),
        "{command:?}: {}\n{}{}",
        output.status,
        text(&output.stdout),
        text(&output.stderr)
    );
    output
}

pub fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// A program that is linked with the library, compiled without a warning.
pub struct Program<'a> {
    pub source: PathBuf,
    pub compiler: &'a str,
    pub flags: &'a [&'a str],
    pub is_static: bool,
}

impl Program<'_> {
    /// A C program.
    pub fn c(source: impl Into<PathBuf>) -> Self {
        let flags = &["-std=c11", "-pedantic"];
        Self { source: source.into(), compiler: "cc", flags, is_static: false }
    }

    /// Compiles it into a folder, and returns its path.
    pub fn compile(&self, folder: &Path) -> PathBuf {
        let program = folder.join(self.source.file_stem().expect("a name"));
        let libraries = libraries();
        let mut compiler = Command::new(self.compiler);
        compiler.args(["-g", "-Wall", "-Wextra", "-Werror", "-pthread"]).args(self.flags);
        compiler.arg(&self.source).arg("-I").arg(include()).arg("-o").arg(&program);
        if self.is_static {
            compiler.arg(libraries.join("libtwindex_c.a")).args(["-lm", "-ldl"])
        } else {
            compiler
                .arg(format!("-Wl,-rpath,{}", libraries.display()))
                .arg(libraries.join("libtwindex_c.so"))
        };
        run(&mut compiler);
        program
    }
}
