//! What each part of `twindex add` takes on one thread.

use crate::Outcome;
use crate::cores::blocks::Block;
use crate::ingest::BATCH;
use crate::json::{Line, command};
use crate::system::scratch;
use std::collections::HashMap;
use std::fs;
use std::ops::AddAssign;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};
use twindex::{Index, WriteTxn};

/// The number of measurements of each kind. The least counts, because other work of the machine
/// only adds to it.
const TIMES: usize = 3;

/// How long each part takes for all of a corpus, on one thread.
#[derive(Clone, Copy, Debug, Default)]
pub struct Parts {
    /// The reader's thread: to read, and to cut at the ends of lines.
    pub reading: Duration,
    /// The parser's threads: to find lines, parse and sketch them.
    pub parsing: Duration,
    /// The writer's thread: to insert documents and count what became of them.
    pub inserting: Duration,
    /// The writer's thread: to commit.
    pub committing: Duration,
    /// The writer's and the library's threads: the work that they share.
    pub sharing: Duration,
    /// The library's threads: to free documents, for which nobody waits.
    pub freeing: Duration,
    /// How long the writer waits for the disk.
    pub disk: Duration,
    /// The merging thread, beside the writer.
    pub merging: Duration,
}

impl Parts {
    /// The work that is done on cores.
    pub fn work(&self) -> Duration {
        let Self { reading, parsing, inserting, committing, sharing, .. } = *self;
        reading + parsing + inserting + committing + sharing + self.freeing + self.merging
    }

    /// The writer's thread alone.
    pub fn writing(&self) -> Duration {
        self.inserting + self.committing + self.disk
    }
}

/// The time that the threads of the command ran, by what they do.
#[derive(Clone, Copy, Debug, Default)]
struct Threads {
    reader: Duration,
    parser: Duration,
    library: Duration,
    merge: Duration,
    main: Duration,
}

/// Measures the command with one thread for parsing, and insertion by itself.
pub fn measure(corpus: &Path, blocks: &[Block]) -> Outcome<Parts> {
    let mut runs = Vec::new();
    for _ in 0..TIMES {
        runs.push((threads(corpus)?, insertion(corpus, blocks)?));
    }
    let of = |time: fn(&(Threads, Insertion)) -> Duration| least(runs.iter().map(time));
    // With one thread, the command shares nothing: the library's thread frees documents only.
    let (committing, freeing) = (of(|run| run.1.committing)?, of(|run| run.0.library)?);
    let sharing = of(|run| run.1.helping)?.saturating_sub(freeing) * 2;
    Ok(Parts {
        reading: of(|run| run.0.reader)?,
        parsing: of(|run| run.0.parser)?,
        // The command also counts outcomes, starts and ends. What is freed during a commit was
        // taken for help with it, so it is missing there and added here.
        inserting: of(|run| run.0.main)?.saturating_sub(committing + sharing),
        committing,
        sharing,
        freeing,
        disk: of(|run| run.1.disk)?,
        merging: of(|run| run.0.merge)?,
    })
}

/// The time of `add` with this many threads, on this many cores.
pub fn real(corpus: &Path, threads: u32, cores: u32) -> Outcome<Duration> {
    let mut times = Vec::new();
    for _ in 0..TIMES {
        let folder = scratch()?;
        let index = folder.path().join("cores.twx");
        let add = command(&index, corpus, &["--threads", &threads.to_string()]);
        // Binds the command to the first cores.
        let mut bound = Command::new("taskset");
        bound.arg("-c").arg(format!("0-{}", cores - 1)).arg(add.get_program());
        bound.args(add.get_args()).stderr(Stdio::null()).stdin(Stdio::null());
        let start = Instant::now();
        let status = bound.status().map_err(|error| format!("taskset: {error}"))?;
        times.push(start.elapsed());
        if !status.success() {
            return Err(format!("twindex add ended with {status}").into());
        }
    }
    least(times)
}

fn least(times: impl IntoIterator<Item = Duration>) -> Outcome<Duration> {
    Ok(times.into_iter().min().ok_or("nothing was measured")?)
}

/// Runs `add --threads 1` and measures how long each of its threads runs.
fn threads(corpus: &Path) -> Outcome<Threads> {
    let folder = scratch()?;
    let index = folder.path().join("cores.twx");
    let mut child = command(&index, corpus, &["--threads", "1"]).stderr(Stdio::null()).spawn()?;
    let process = child.id().to_string();
    let mut ran: HashMap<String, (String, Duration)> = HashMap::new();
    while !has_ended(&child)? {
        for thread in fs::read_dir(format!("/proc/{process}/task"))?.flatten() {
            let (path, number) = (thread.path(), thread.file_name());
            // A thread may end at any time; what it was seen to have run counts.
            if let (Ok(name), Some(time)) =
                (fs::read_to_string(path.join("comm")), ran_so_far(&path))
            {
                ran.insert(number.to_string_lossy().into_owned(), (name.trim().to_owned(), time));
            }
        }
        thread::sleep(Duration::from_millis(2));
    }
    let status = child.wait()?;
    if !status.success() {
        return Err(format!("twindex add ended with {status}").into());
    }
    let mut threads = Threads::default();
    for (number, (name, time)) in ran {
        let role = match &*name {
            "reader" => &mut threads.reader,
            "parser" => &mut threads.parser,
            "twindex merge" => &mut threads.merge,
            _ if number == process => &mut threads.main,
            _ => &mut threads.library,
        };
        role.add_assign(time);
    }
    Ok(threads)
}

/// Whether a process has ended and waits for its status to be read.
fn has_ended(child: &Child) -> Outcome<bool> {
    let stat = fs::read_to_string(format!("/proc/{}/stat", child.id()))?;
    let state = stat.rsplit_once(") ").and_then(|(_, rest)| rest.chars().next());
    Ok(state == Some('Z'))
}

/// How long a thread has run on a core.
fn ran_so_far(thread: &Path) -> Option<Duration> {
    let stat = fs::read_to_string(thread.join("schedstat")).ok()?;
    stat.split(' ').next()?.parse().ok().map(Duration::from_nanos)
}

/// How long a thread has run, and how long it has waited for a core.
fn times_of(thread: &Path) -> [Duration; 2] {
    let stat = fs::read_to_string(thread.join("schedstat")).unwrap_or_default();
    let mut times = stat.split(' ').flat_map(str::parse).map(Duration::from_nanos);
    [times.next().unwrap_or_default(), times.next().unwrap_or_default()]
}

/// What the threads of the command do not tell: how much of the writer's time is spent on commits,
/// how much other threads help it, and how long it waits for the disk.
#[derive(Clone, Copy, Debug, Default)]
struct Insertion {
    committing: Duration,
    helping: Duration,
    disk: Duration,
}

/// Inserts the documents of a corpus as the command does, after they were prepared.
///
/// The library shares work between this thread and one other. Each takes the next piece when it is
/// done with one, so both do half of it. The other thread also frees documents.
fn insertion(corpus: &Path, blocks: &[Block]) -> Outcome<Insertion> {
    let folder = scratch()?;
    let threads = threads_of_insertion();
    let index = Index::create(folder.path().join("insertion.twx"))?;
    let corpus = fs::read(corpus)?;
    let mut sum = Insertion::default();
    let (mut txn, mut in_batch) = (None, 0);
    let mut at = 0;
    for block in blocks {
        let mut documents = Vec::new();
        for length in &block.lines {
            let line = corpus.get(at..at + length).unwrap_or_default();
            at += length;
            if !line.trim_ascii().is_empty() {
                let Line { id, text } = serde_json::from_slice(line)?;
                documents.push(index.prepare(&*id, &*text)?);
            }
        }
        while !documents.is_empty() {
            let room = (BATCH as usize - in_batch).min(documents.len());
            let later = documents.split_off(room);
            in_batch += room;
            let (before, start) = (Clocks::now(&threads), Instant::now());
            let open = match &mut txn {
                Some(txn) => txn,
                none => none.insert(index.begin_write()?),
            };
            open.insertion().documents(documents)?;
            let between = Clocks::now(&threads);
            documents = later;
            if in_batch >= BATCH as usize || at == corpus.len() && documents.is_empty() {
                in_batch = 0;
                txn.take().map_or(Ok(()), WriteTxn::commit)?;
            }
            let (after, took) = (Clocks::now(&threads), start.elapsed());
            let helped = after.pool - between.pool;
            sum.committing += (after.own - between.own).saturating_sub(helped);
            sum.helping += after.pool - before.pool;
            // The other thread of two works while this one does.
            let ran = after.own + after.waited - before.own - before.waited;
            sum.disk += took.saturating_sub(ran);
        }
    }
    Ok(sum)
}

/// This thread, and those of the pool on which the library shares its work.
fn threads_of_insertion() -> Vec<PathBuf> {
    let this = || fs::read_link("/proc/thread-self").map(|link| Path::new("/proc").join(link));
    let pool = rayon::broadcast(|_| this());
    [this()].into_iter().chain(pool).flatten().collect()
}

/// How long threads have run so far.
struct Clocks {
    own: Duration,
    /// How long this thread has waited for a core that another had.
    waited: Duration,
    /// The threads on which the library shares its work.
    pool: Duration,
}

impl Clocks {
    fn now(threads: &[PathBuf]) -> Self {
        // The system adds up the time of a running thread at most every 4 ms, and when it yields.
        thread::yield_now();
        let times: Vec<_> = threads.iter().map(|thread| times_of(thread)).collect();
        let [own, waited] = times.first().copied().unwrap_or_default();
        Self { own, waited, pool: times.iter().skip(1).map(|[ran, _]| *ran).sum() }
    }
}
