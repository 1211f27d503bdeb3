//! The threads and queues of `twindex add`, which wait instead of working.

use crate::Outcome;
use crate::cores::blocks::Block;
use crate::cores::measured::Parts;
use crate::cores::waiting::{Cores, Role, SLOWED, idle};
use crate::ingest::BATCH;
use rayon::prelude::*;
use rayon::{ScopeFifo, ThreadPool, ThreadPoolBuilder};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;
use std::time::{Duration, Instant};

/// The most batches that are parsed or wait to be inserted, as in `crates/cli/src/run/records.rs`.
const MOST_AHEAD: u32 = 16;

/// The fewest documents of an insertion that shares its work, as in `src/store/parallel.rs`.
const SHARED_FROM: usize = 256;

/// How often an insertion shares work: to hash ids, to look them up, to encode rows, to sort the
/// entries of a segment, and to merge it with others.
const SHARED_TIMES: u32 = 5;

/// The parts of work that is shared: the bands of an index with default settings, and its ids.
const SHARED_PARTS: u32 = 17;

/// What it costs to hand work to other threads and to wait for it.
const HANDING: Duration = Duration::from_micros(20);

/// The time of a run, and how long each role worked in it.
#[derive(Clone, Copy, Debug)]
pub struct Simulated {
    pub took: Duration,
    pub reader: Duration,
    pub threads: Duration,
    pub writer: Duration,
}

struct Pipeline<'p> {
    cores: Cores,
    parts: &'p Parts,
    bytes: usize,
    documents: usize,
    /// The pool on which the library shares its work.
    library: ThreadPool,
    reader: Role,
    threads: Role,
    writer: Role,
    merger: Role,
}

/// A block that is being parsed: the number of its lines, and the channel that tells when it is
/// done.
type Parsing = (usize, Receiver<()>);

/// Runs the pipeline with this many parsing threads, on this many cores.
pub fn simulate(parts: &Parts, blocks: &[Block], threads: u32, cores: u32) -> Outcome<Simulated> {
    let pool = || ThreadPoolBuilder::new().num_threads(threads as usize).build();
    let pipeline = Pipeline {
        cores: Cores::new(cores),
        parts,
        bytes: blocks.iter().map(Block::bytes).sum(),
        documents: blocks.iter().map(|block| block.lines.len()).sum(),
        library: pool()?,
        reader: Role::default(),
        threads: Role::default(),
        writer: Role::default(),
        merger: Role::default(),
    };
    let parsers = pool()?;
    let start = Instant::now();
    thread::scope(|scope| {
        let (sender, receiver) = sync_channel(threads.clamp(2, MOST_AHEAD) as usize);
        let pipeline = &pipeline;
        let reader = scope.spawn(move || {
            parsers.in_place_scope_fifo(|pool| pipeline.read(blocks, pool, &sender));
        });
        pipeline.write(&receiver);
        reader.join().map_err(|_| "the reader panicked")
    })?;
    Ok(Simulated {
        took: start.elapsed() / SLOWED,
        reader: pipeline.reader.worked(),
        threads: pipeline.threads.worked(),
        writer: pipeline.writer.worked(),
    })
}

impl<'p> Pipeline<'p> {
    /// Reads blocks, and has each parsed by the pool.
    fn read(&'p self, blocks: &'p [Block], pool: &ScopeFifo<'p>, batches: &SyncSender<Parsing>) {
        for block in blocks {
            self.cores.work(&self.reader, share(self.parts.reading, block.bytes(), self.bytes));
            let (sender, receiver) = sync_channel(1);
            pool.spawn_fifo(move |_| {
                self.parse(block);
                // The receiver waits for it.
                let _ = sender.send(());
            });
            if batches.send((block.lines.len(), receiver)).is_err() {
                break;
            }
        }
    }

    fn parse(&self, block: &Block) {
        let parse = |bytes: &usize| {
            self.cores.work(&self.threads, share(self.parts.parsing, *bytes, self.bytes));
        };
        block.lines.par_iter().for_each(parse);
    }

    fn write(&self, batches: &Receiver<Parsing>) {
        let batch = BATCH as usize;
        let commits = self.documents.div_ceil(batch).max(1) as u32;
        let (mut in_batch, mut committed) = (0, 0);
        thread::scope(|scope| {
            let mut merging = None;
            while let Ok((mut documents, parsed)) = batches.recv() {
                // The parser sends in any case.
                let _ = parsed.recv();
                while documents > 0 {
                    let now = documents.min(batch - in_batch);
                    self.insert(now);
                    // A thread of the library's pool frees them.
                    let freeing = share(self.parts.freeing, now, self.documents);
                    scope.spawn(move || self.cores.work(&self.threads, freeing));
                    (documents, in_batch) = (documents - now, in_batch + now);
                    committed += now;
                    if in_batch < batch && committed < self.documents {
                        continue;
                    }
                    in_batch = 0;
                    // The merge that began after the last commit is due in this one.
                    merging.take().map(thread::ScopedJoinHandle::join);
                    self.cores.work(&self.writer, self.parts.committing / commits);
                    idle(&self.writer, self.parts.disk / commits);
                    if self.parts.merging > Duration::ZERO {
                        let merge = || self.cores.work(&self.merger, self.parts.merging / commits);
                        merging = Some(scope.spawn(merge));
                    }
                }
            }
        });
    }

    fn insert(&self, documents: usize) {
        let own = share(self.parts.inserting, documents, self.documents);
        let shared = share(self.parts.sharing, documents, self.documents);
        if documents < SHARED_FROM {
            return self.cores.work(&self.writer, own + shared);
        }
        for _ in 0..SHARED_TIMES {
            self.cores.work(&self.writer, own / SHARED_TIMES);
            self.share(shared / SHARED_TIMES);
            idle(&self.writer, HANDING);
        }
    }

    /// Shares work, as `src/store/parallel.rs` does: the writer takes parts of it, too.
    fn share(&self, shared: Duration) {
        let next = AtomicU32::new(0);
        let work = |role| {
            while next.fetch_add(1, Ordering::Relaxed) < SHARED_PARTS {
                self.cores.work(role, shared / SHARED_PARTS);
            }
        };
        self.library.in_place_scope(|scope| {
            (1..self.library.current_num_threads())
                .for_each(|_| scope.spawn(|_| work(&self.threads)));
            work(&self.writer);
        });
    }
}

/// A part of a time.
fn share(time: Duration, part: usize, whole: usize) -> Duration {
    time.mul_f64(part as f64 / whole.max(1) as f64)
}
