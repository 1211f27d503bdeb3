//! Long runs, as a program of its own that prints tables.
//!
//! ```text
//! cargo bench --bench scale -- ingest N [--keep INDEX]
//! cargo bench --bench scale -- queries INDEX [--cache MIB]
//! cargo bench --bench scale -- cold INDEX
//! cargo bench --bench scale -- containment INDEX
//! cargo bench --bench scale -- single INDEX
//! cargo bench --bench scale -- underwrite INDEX
//! cargo bench --bench scale -- change INDEX
//! cargo bench --bench scale -- json CORPUS.jsonl
//! cargo bench --bench scale -- cores CORPUS.jsonl
//! cargo bench --bench scale -- pairs INDEX
//! cargo bench --bench scale -- crowds N
//! cargo bench --bench scale -- table N CORPUS.jsonl
//! ```
//!
//! - `ingest` puts N ready signatures with ids in random order into a new index, 10,000 in a
//!   commit, and leaves it at INDEX if asked to.
//! - `queries` times queries by signature of 2,000 documents of an index, and of 2,000 that nothing
//!   there is like.
//! - `cold` opens an index none of whose pages are in memory, and times the same queries once
//!   (Linux; elsewhere the pages stay in memory).
//! - `containment` times the first containment query of an index, of a later snapshot after inserts
//!   and after removals, and other queries, on a copy of the index.
//! - `single` times durable inserts of one document beside syncing a file, on a copy of the index.
//! - `underwrite` times queries while another thread inserts, and that thread, on copies.
//! - `change` removes, replaces, compacts, finds all pairs and opens again, on a copy.
//! - `json` times the command `twindex add` beside reading and parsing the same file.
//! - `cores` simulates `twindex add` of the file on up to 16 cores.
//! - `pairs` finds all pairs of an index of real documents, three times.
//! - `crowds` times the command on N texts that are near copies, on N that share their first half,
//!   on five times as many of each, and on copies of a text that the index has 60,000 times.
//! - `table` is all of these but `cold`, `containment`, `cores`, `pairs` and `crowds`, with N
//!   synthetic documents.
//!
//! INDEX has 256 lanes; copies lie below `target` and are removed. Without arguments the program
//! does nothing, so that `cargo bench` goes on to the others.

mod change;
mod containment;
mod cores;
mod crowds;
mod ingest;
mod json;
mod queries;
mod report;
mod single;
mod synthetic;
mod system;
mod table;
mod underwrite;

use report::Row;
use std::path::Path;
use std::process::ExitCode;

/// What a measurement gives, or why it could not be made.
type Outcome<T = ()> = Result<T, Box<dyn std::error::Error>>;

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).filter(|arg| arg != "--bench").collect();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    match run(&args) {
        Ok(rows) => {
            if args.first() == Some(&"table") {
                report::heading(&system::description());
            }
            if !rows.is_empty() {
                report::print(&rows);
            }
            ExitCode::SUCCESS
        }
        Err(error) => {
            report::progress(&error.to_string());
            ExitCode::FAILURE
        }
    }
}

fn run(args: &[&str]) -> Outcome<Vec<Row>> {
    match *args {
        ["ingest", count] => ingest::run(number(count)?, None),
        ["ingest", count, "--keep", index] => ingest::run(number(count)?, Some(Path::new(index))),
        ["queries", index] => queries::run(Path::new(index)),
        ["queries", index, "--cache", size] => {
            queries::with_cache(Path::new(index), number(size)? as usize)
        }
        ["cold", index] => queries::cold(Path::new(index)),
        ["containment", index] => containment::run(Path::new(index)),
        ["single", index] => single::run(Path::new(index)),
        ["underwrite", index] => underwrite::run(Path::new(index)),
        ["change", index] => change::run(Path::new(index)),
        ["json", corpus] => json::run(Path::new(corpus)),
        ["cores", corpus] => cores::run(Path::new(corpus)),
        ["pairs", index] => change::all_pairs(Path::new(index)),
        ["crowds", count] => crowds::run(number(count)?),
        ["table", count, corpus] => table::run(number(count)?, Path::new(corpus)),
        // What `change` starts as a process of its own.
        ["abort", index] => change::abort(Path::new(index)),
        [
            "ingest" | "queries" | "cold" | "containment" | "single" | "underwrite" | "change"
            | "json" | "cores" | "pairs" | "crowds" | "table",
            ..,
        ] => {
            Err("wrong arguments; the first lines of benches/scale/main.rs show the right ones"
                .into())
        }
        // Options and filters of other benches.
        _ => Ok(Vec::new()),
    }
}

fn number(text: &str) -> Outcome<u64> {
    match text.parse() {
        Ok(number) if number > 0 => Ok(number),
        _ => Err(format!("{text}: a number above 0 was expected").into()),
    }
}
