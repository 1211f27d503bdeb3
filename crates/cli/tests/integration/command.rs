//! Running the command as a person would: in a folder of its own, with files and streams.

use crate::support::text;
use crate::{BINARY, PROGRAM};
use serde_json::Value;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::mpsc::channel;
use std::thread::{JoinHandle, sleep, spawn};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// A command that takes longer hangs: it is ended and fails its test. No other test of time looks
/// at the clock, which on a busy machine says little.
const PATIENCE: Duration = Duration::from_secs(600);

/// A temporary folder that commands run in.
pub struct Shell {
    folder: PathBuf,
    /// Removes the folder when this is dropped.
    _owner: Option<TempDir>,
    /// What starts a program where the folder is, if that is not everywhere.
    entry: Vec<String>,
}

/// What a command left behind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Done {
    pub status: i32,
    pub stdout: String,
    pub stderr: String,
}

impl Shell {
    pub fn new() -> Self {
        let owner = tempfile::tempdir().expect("a temporary folder");
        Self { folder: owner.path().to_owned(), _owner: Some(owner), entry: Vec::new() }
    }

    /// The folder as a running process sees it, which may have another file system there.
    #[cfg(target_os = "linux")]
    pub fn as_seen_by(&self, running: &Running) -> Self {
        let id = running.child.id().to_string();
        let folder = self.folder.to_str().expect("UTF-8");
        let entry = ["nsenter", "-t", &id, "-U", "-m", "--preserve-credentials", "sh", "-c"];
        let run = ["cd \"$0\" && exec \"$@\"", folder];
        Self {
            folder: PathBuf::from(format!("/proc/{id}/root{folder}")),
            _owner: None,
            entry: entry.into_iter().chain(run).map(str::to_owned).collect(),
        }
    }

    fn command(&self, program: &str) -> Command {
        let Some((first, rest)) = self.entry.split_first() else {
            let mut command = Command::new(program);
            command.current_dir(&self.folder);
            return command;
        };
        let mut command = Command::new(first);
        command.args(rest).arg(program);
        command
    }

    /// A folder with an index `i.twx` of these documents.
    pub fn with(documents: &[(&str, &str)]) -> Self {
        let shell = Self::new();
        shell.pipe("add i.twx -q --format jsonl -", jsonl(documents)).succeeds();
        shell
    }

    /// The same documents, inserted this many seconds earlier.
    pub fn aged(&self, seconds: i64) -> Self {
        let export = self.run("export i.twx -q").succeeds().stdout;
        let older = export.lines().map(|line| {
            let mut line: Value = serde_json::from_str(line).expect("JSON");
            if let Some(inserted) = line["inserted"].as_i64() {
                line["inserted"] = (inserted - seconds).into();
            }
            line.to_string() + "\n"
        });
        let aged = Self::new();
        aged.pipe("import i.twx -q", older.collect::<String>()).succeeds();
        aged
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    pub fn write(&self, name: &str, content: impl AsRef<[u8]>) {
        let path = self.path(name);
        let folder = path.parent().expect("a file is in a folder");
        std::fs::create_dir_all(folder).expect("a folder");
        std::fs::write(path, content).expect("written");
    }

    pub fn read(&self, name: &str) -> Vec<u8> {
        std::fs::read(self.path(name)).expect("the file can be read")
    }

    /// Runs `twindex` with words that are separated by spaces, and nothing on standard input.
    pub fn run(&self, words: &str) -> Done {
        self.pipe(words, "")
    }

    /// Runs `twindex` with these words and this standard input.
    pub fn pipe(&self, words: &str, stdin: impl Into<Vec<u8>>) -> Done {
        self.args(&words.split(' ').collect::<Vec<_>>(), stdin)
    }

    /// Runs `twindex` with arguments that hold spaces themselves.
    pub fn args(&self, args: &[&str], stdin: impl Into<Vec<u8>>) -> Done {
        let mut command = self.command(BINARY);
        command.args(args);
        Self::done(command, stdin)
    }

    /// Runs `sh -c`, in which `$TWINDEX` is the command.
    #[cfg(unix)]
    pub fn sh(&self, script: &str) -> Done {
        let mut command = self.command("sh");
        command.args(["-c", script]).env("TWINDEX", BINARY);
        Self::done(command, "")
    }

    /// Runs `twindex` as a user who is not root, whom permissions bind. `None` where that cannot
    /// be done here.
    #[cfg(unix)]
    pub fn run_bound(&self, words: &str) -> Option<Done> {
        use std::os::unix::fs::{MetadataExt, PermissionsExt};
        use std::os::unix::process::CommandExt;
        let mut command = self.command(BINARY);
        command.args(words.split(' ')).stdin(Stdio::null());
        let folder = std::fs::metadata(&self.folder).expect("the folder is there");
        if folder.uid() == 0 {
            let open_to_all = std::fs::Permissions::from_mode(0o755);
            std::fs::set_permissions(&self.folder, open_to_all).expect("permissions");
            command.uid(65_534).gid(65_534);
        }
        let output = command.output().ok()?;
        Some(Done::new(output.status, &output.stdout, &output.stderr))
    }

    fn done(command: Command, stdin: impl Into<Vec<u8>>) -> Done {
        let mut command = assert_cmd::Command::from_std(command);
        let output = command.write_stdin(stdin).timeout(PATIENCE).output().expect("it runs");
        Done::new(output.status, &output.stdout, &output.stderr)
    }

    /// Starts `twindex` and leaves it running, its streams in our hands.
    pub fn start(&self, words: &str) -> Running {
        let words: Vec<&str> = [BINARY].into_iter().chain(words.split(' ')).collect();
        self.start_other(&words).expect("it starts")
    }

    #[allow(dead_code, reason = "the tests of the laboratory use it")]
    /// Starts `twindex` with variables of its own.
    pub fn start_in_environment(&self, words: &str, variables: &[(&str, &str)]) -> Running {
        let mut command = self.command(BINARY);
        command.args(words.split(' ')).envs(variables.iter().copied());
        Self::started(command).expect("it starts")
    }

    /// Starts any program, if it is there.
    pub fn start_other(&self, words: &[&str]) -> Option<Running> {
        let (program, args) = words.split_first().expect("a program");
        let mut command = self.command(program);
        command.args(args);
        Self::started(command)
    }

    fn started(mut command: Command) -> Option<Running> {
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command.spawn().ok().map(|child| Running { child })
    }

    pub fn ids(&self) -> Vec<String> {
        let list = self.run("list i.twx").succeeds();
        list.stdout.lines().map(str::to_owned).collect()
    }

    /// A new folder with the same files.
    pub fn copy(&self) -> Self {
        let new = Self::new();
        for name in self.names() {
            std::fs::copy(self.path(&name), new.path(&name)).expect("copied");
        }
        new
    }

    /// The names of all files in the folder.
    pub fn names(&self) -> Vec<String> {
        let entries = std::fs::read_dir(&self.folder).expect("the folder can be read");
        let name = |entry: std::io::Result<std::fs::DirEntry>| entry.expect("an entry").file_name();
        entries.map(|entry| name(entry).into_string().expect("UTF-8")).collect()
    }

    /// What the index answers, but for the times at which documents were inserted.
    pub fn answers(&self) -> Vec<String> {
        let ids = self.ids();
        let some = ids.iter().step_by((ids.len() / 3).max(1));
        let of_some =
            some.flat_map(|id| [format!("query i.twx -q --id {id}"), format!("get i.twx {id}")]);
        let of_all = ["list i.twx", "pairs i.twx -q", "pairs i.twx -q --threshold 0.6"];
        let ask = |words: String| {
            let done = self.run(&words);
            assert!(done.status < 2, "{words}: {done:?}");
            let lines = done.stdout.lines().filter(|line| !line.starts_with("inserted\t"));
            let first = format!("{words}: status {}", done.status);
            lines.fold(first, |all, line| all + "\n" + line)
        };
        of_all.map(str::to_owned).into_iter().chain(of_some).map(ask).collect()
    }

    pub fn assert_clean(&self) {
        let check = self.run("check i.twx");
        assert_eq!(check.status, 0, "{check:?}");
    }
}

impl Done {
    fn new(status: ExitStatus, stdout: &[u8], stderr: &[u8]) -> Self {
        let done = Self {
            status: status.code().unwrap_or_else(|| panic!("ended by a signal: {status}")),
            stdout: String::from_utf8_lossy(stdout).into_owned(),
            stderr: String::from_utf8_lossy(stderr).into_owned(),
        };
        assert!(!done.stderr.contains("panicked"), "{}", done.stderr);
        done
    }

    /// The same, which must have ended well.
    #[track_caller]
    pub fn succeeds(self) -> Self {
        assert_eq!(self.status, 0, "{self:?}");
        self
    }

    /// Asserts an error of one line in the common form that holds these words.
    #[track_caller]
    pub fn fails_with(&self, words: &str) {
        assert_eq!(self.status, 2, "{self:?}");
        assert_eq!(self.stdout, "", "{self:?}");
        assert_eq!(self.stderr.lines().count(), 1, "{self:?}");
        assert!(self.stderr.starts_with(&format!("{PROGRAM}: ")), "{self:?}");
        assert!(self.stderr.contains(words), "{words:?} is not in {self:?}");
    }

    /// The lines of standard output as JSON.
    #[track_caller]
    pub fn json(&self) -> Vec<Value> {
        let parse = |line| serde_json::from_str(line).unwrap_or_else(|_| panic!("JSON: {line}"));
        self.stdout.lines().map(parse).collect()
    }

    /// The summary of `--json`, the last line of standard error.
    #[track_caller]
    pub fn summary(&self) -> Value {
        let line = self.stderr.lines().last().unwrap_or_default();
        serde_json::from_str(line).unwrap_or_else(|_| panic!("no summary: {self:?}"))
    }

    /// A number of the summary.
    #[track_caller]
    pub fn counted(&self, field: &str) -> u64 {
        let summary = self.summary();
        summary[field].as_u64().unwrap_or_else(|| panic!("no number {field} in {summary}"))
    }

    /// One column of tab-separated lines.
    pub fn column(&self, number: usize) -> Vec<&str> {
        self.stdout.lines().filter_map(|line| line.split('\t').nth(number)).collect()
    }
}

/// A command under way. Dropping it ends it.
pub struct Running {
    child: Child,
}

impl Running {
    pub fn stdin(&mut self) -> &mut ChildStdin {
        self.child.stdin.as_mut().expect("standard input is ours")
    }

    pub fn send(&mut self, text: &str) {
        let stdin = self.stdin();
        stdin.write_all(text.as_bytes()).and_then(|()| stdin.flush()).expect("it reads");
    }

    /// Reads a line of standard output, which stays open, so that the command waits with the rest.
    pub fn read_a_line(&mut self) -> String {
        let mut stdout = self.child.stdout.take().expect("standard output is ours");
        let (line, stdout) = in_time("a line of standard output", move || {
            let (mut line, mut byte) = (Vec::new(), [0]);
            while line.last() != Some(&b'\n')
                && stdout.read(&mut byte).expect("it can be read") == 1
            {
                line.push(byte[0]);
            }
            (String::from_utf8_lossy(&line).into_owned(), stdout)
        });
        self.child.stdout = Some(stdout);
        line
    }

    /// Reads a line of standard output, then closes it.
    pub fn read_a_line_and_close(&mut self) -> String {
        let stdout = self.child.stdout.take().expect("standard output is ours");
        in_time("a line of standard output", move || {
            let mut line = String::new();
            BufReader::new(stdout).read_line(&mut line).expect("a line");
            line
        })
    }

    /// Waits until a line of standard error holds these words. What follows is not read.
    pub fn wait_for(&mut self, words: &'static str) {
        let mut stderr = self.child.stderr.take().expect("standard error is ours");
        let stderr = in_time(words, move || {
            let (mut line, mut byte) = (Vec::new(), [0]);
            while stderr.read(&mut byte).expect("standard error can be read") == 1 {
                match byte {
                    [b'\n'] if String::from_utf8_lossy(&line).contains(words) => break,
                    [b'\n'] => line.clear(),
                    [byte] => line.push(byte),
                }
            }
            stderr
        });
        self.child.stderr = Some(stderr);
    }

    /// Sends it a signal by name.
    #[cfg(unix)]
    pub fn signal(&self, name: &str) {
        let id = self.child.id().to_string();
        let sent = Command::new("kill").args([&format!("-{name}"), &id]).status();
        assert!(sent.expect("`kill` runs").success());
    }

    /// Waits until it handles signals itself.
    #[cfg(target_os = "linux")]
    pub fn wait_until_it_handles_signals(&self) {
        const INTERRUPT: u64 = 1 << 1;
        self.wait_for_status("SigCgt:", |handled| {
            u64::from_str_radix(handled, 16).is_ok_and(|handled| handled & INTERRUPT != 0)
        });
    }

    /// Waits until it has a file of this name open.
    #[cfg(target_os = "linux")]
    pub fn wait_until_open(&self, name: &str) {
        let start = Instant::now();
        let folder = format!("/proc/{}/fd", self.child.id());
        let is_open = || {
            let files = std::fs::read_dir(&folder).expect("it runs").flatten();
            files
                .filter_map(|file| std::fs::read_link(file.path()).ok())
                .any(|to| to.ends_with(name))
        };
        while !is_open() {
            assert!(start.elapsed() < PATIENCE, "waited in vain for {name} to be opened");
            sleep(Duration::from_millis(5));
        }
    }

    /// Waits until no signal is on its way to it.
    #[cfg(target_os = "linux")]
    pub fn wait_until_signals_are_handled(&self) {
        self.wait_for_status("ShdPnd:", |pending| pending.chars().all(|digit| digit == '0'));
    }

    /// Waits until it waits itself: it sleeps, and has not run for a while.
    #[cfg(target_os = "linux")]
    pub fn wait_until_it_waits(&self) {
        let mut before = String::new();
        self.wait_for_statuses(|status| {
            sleep(Duration::from_millis(200));
            let switches = status.lines().filter(|line| line.contains("ctxt_switches")).collect();
            let is_same = std::mem::replace(&mut before, switches) == before;
            is_same && status.lines().any(|line| line.starts_with("State:\tS"))
        });
    }

    /// Waits until a line of its status in the system is like this.
    #[cfg(target_os = "linux")]
    fn wait_for_status(&self, name: &str, is_so: impl Fn(&str) -> bool) {
        self.wait_for_statuses(|status| {
            let mut values = status.lines().filter_map(|line| line.strip_prefix(name));
            values.any(|value| is_so(value.trim()))
        });
    }

    /// Waits until its status in the system is like this.
    #[cfg(target_os = "linux")]
    fn wait_for_statuses(&self, mut is_so: impl FnMut(&str) -> bool) {
        let start = Instant::now();
        let path = format!("/proc/{}/status", self.child.id());
        loop {
            let status = std::fs::read_to_string(&path).expect("it runs");
            if is_so(&status) {
                return;
            }
            assert!(start.elapsed() < PATIENCE, "waited in vain for a status: {status}");
            sleep(Duration::from_millis(5));
        }
    }

    /// Ends it at once, without any chance to tidy up; returns its status if it had ended before.
    pub fn kill(mut self) -> Option<ExitStatus> {
        self.child.kill().expect("killed");
        let status = self.child.wait().expect("it has ended");
        Some(status).filter(|status| status.code().is_some())
    }

    /// As [`kill`](Self::kill); returns whether it had not ended before. A command that had ended
    /// must have ended well.
    pub fn kill_on_the_way(self) -> bool {
        let ended = self.kill();
        assert!(ended.is_none_or(|status| status.success()), "it failed by itself: {ended:?}");
        ended.is_none()
    }

    /// The most memory that it has had in use so far, in bytes.
    #[cfg(target_os = "linux")]
    pub fn peak_memory(&self) -> u64 {
        self.peak_memory_if_running().expect("it is running")
    }

    /// The same; `None` if it has ended.
    #[cfg(target_os = "linux")]
    pub fn peak_memory_if_running(&self) -> Option<u64> {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id())).ok()?;
        let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
        let kib = peak.trim().trim_end_matches(" kB").parse::<u64>();
        Some(kib.expect("a number") << 10)
    }

    /// How many bytes it has read so far, from files and streams.
    #[cfg(target_os = "linux")]
    pub fn bytes_read(&self) -> u64 {
        let path = format!("/proc/{}/io", self.child.id());
        let io = std::fs::read_to_string(path).expect("it is running");
        let read = io.lines().find_map(|line| line.strip_prefix("rchar: ")).expect("a count");
        read.parse().expect("a number")
    }

    /// How long processors have worked for it so far, in hundredths of a second.
    #[cfg(target_os = "linux")]
    pub fn work(&self) -> u64 {
        let path = format!("/proc/{}/stat", self.child.id());
        let stat = std::fs::read_to_string(path).expect("it is running");
        // After its name in brackets: the times as user and in the system are the 12th and 13th.
        let (_, rest) = stat.rsplit_once(')').expect("a name");
        let times = rest.split_whitespace().skip(11).take(2);
        times.map(|time| time.parse::<u64>().expect("a number")).sum()
    }

    pub fn is_running(&mut self) -> bool {
        self.child.try_wait().expect("its status").is_none()
    }

    /// Waits for the end while nothing reads what it prints.
    pub fn end_unread(mut self) -> Done {
        let start = Instant::now();
        while self.is_running() {
            assert!(start.elapsed() < PATIENCE, "it does not end");
            sleep(Duration::from_millis(2));
        }
        self.finish()
    }

    /// Waits for the end while standard input stays open.
    pub fn end(mut self) -> Done {
        let stdin = self.child.stdin.take();
        let done = self.finish();
        drop(stdin);
        done
    }

    /// Waits for the end; `None` if a signal ended it before it could note it.
    #[cfg(unix)]
    pub fn end_or_signal(mut self) -> Option<Done> {
        use std::os::unix::process::ExitStatusExt;
        let status = self.child.wait().expect("its status");
        status.signal().is_none().then(|| self.finish())
    }

    /// Closes standard input and waits for the end.
    pub fn finish(mut self) -> Done {
        drop(self.child.stdin.take());
        let stdout = self.child.stdout.take().map(pump);
        let stderr = self.child.stderr.take().map(pump);
        let start = Instant::now();
        let status = loop {
            match self.child.try_wait().expect("its status") {
                Some(status) => break status,
                None => assert!(start.elapsed() < PATIENCE, "it does not end"),
            }
            sleep(Duration::from_millis(2));
        };
        let all = |stream: Option<JoinHandle<Vec<u8>>>| {
            stream.map(|stream| stream.join().expect("a stream")).unwrap_or_default()
        };
        Done::new(status, &all(stdout), &all(stderr))
    }
}

/// Reads a stream to its end beside others.
fn pump(mut stream: impl Read + Send + 'static) -> JoinHandle<Vec<u8>> {
    spawn(move || {
        let mut bytes = Vec::new();
        stream.read_to_end(&mut bytes).expect("the stream can be read");
        bytes
    })
}

/// Waits for something on another thread, but not for ever.
fn in_time<T: Send + 'static>(what: &str, work: impl FnOnce() -> T + Send + 'static) -> T {
    let (sender, receiver) = channel();
    spawn(move || sender.send(work()));
    receiver.recv_timeout(PATIENCE).unwrap_or_else(|_| panic!("waited in vain for {what}"))
}

impl Drop for Running {
    fn drop(&mut self) {
        // It has mostly ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A number that the environment gives to a test.
pub fn number_from(variable: &str) -> Option<u64> {
    std::env::var(variable).ok().and_then(|number| number.parse().ok())
}

/// Says something that is worth knowing also of a test that passes, of which the harness shows
/// nothing that is printed by a macro: seeds, figures, and what could not be tested here.
pub fn report(text: &str) {
    std::io::stderr().write_all(format!("{text}\n").as_bytes()).expect("written");
}

/// Documents as JSON Lines.
pub fn jsonl(documents: &[(&str, &str)]) -> String {
    let line = |(id, text): &(&str, &str)| serde_json::json!({"id": id, "text": text}).to_string();
    documents.iter().map(|document| line(document) + "\n").collect()
}

/// This many texts, each similar to none of the others, one a line.
pub fn lines(count: u64) -> String {
    (0..count).map(|family| text(family, 0, 12) + "\n").collect()
}

/// Two texts that are similar but not equal, and one that is like neither.
pub fn alike() -> (String, String, String) {
    (text(1, 0, 100), text(1, 1, 100), text(2, 0, 100))
}
