//! The shell of SQLite with the extension.

use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use tempfile::TempDir;

/// A folder with a database and an index.
pub struct Place {
    folder: TempDir,
}

impl Place {
    pub fn new() -> Self {
        Self { folder: tempfile::tempdir().expect("a folder") }
    }

    pub fn path(&self, name: &str) -> String {
        self.folder.path().join(name).to_str().expect("UTF-8").to_owned()
    }

    /// Runs a script; `INDEX` stands for the path of an index. Returns what it prints, and what
    /// went wrong.
    pub fn run(&self, script: &str) -> (String, String) {
        let script = script.replace("INDEX", &self.path("index.twx"));
        let load = format!(".load {}\n", library().display());
        let mut shell = Command::new("sqlite3")
            .arg(self.path("database.sqlite"))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("sqlite3 is installed");
        let mut stdin = shell.stdin.take().expect("a pipe");
        stdin.write_all((load + &script).as_bytes()).expect("written");
        drop(stdin);
        let output = shell.wait_with_output().expect("ended");
        assert!(output.status.code().is_some(), "{output:?}");
        let [out, err] = [output.stdout, output.stderr]
            .map(|bytes| String::from_utf8_lossy(&bytes).trim_end().to_owned());
        (out, err)
    }

    /// What a script prints. Nothing goes wrong.
    pub fn prints(&self, script: &str) -> String {
        let (out, err) = self.run(script);
        assert_eq!(err, "", "{script}");
        out
    }

    /// What goes wrong in a script.
    pub fn fails(&self, script: &str) -> String {
        let (out, err) = self.run(script);
        assert_ne!(err, "", "{script}: {out}");
        err
    }
}

/// The extension, which Cargo puts beside this test.
pub fn library() -> PathBuf {
    let test = std::env::current_exe().expect("a path");
    test.parent().expect("a folder").join("libtwindex_sqlite")
}
