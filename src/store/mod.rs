//! How does it lie on disk? The tables of `docs/format.md` over redb, and the part of them that is
//! kept in memory.
//!
//! Reading order: `schema` (the tables), `record` and `chunk` (their rows), `column` and `segment` (what is not
//! in a run yet), `run` (what is), `state` (everything a commit publishes), `reader`, `writer`,
//! `merge`, `engine` (files, locks, commits), `check`.
#![deny(clippy::indexing_slicing)]

mod ahead;
mod backup;
mod build;
mod candidates;
mod check;
mod check_texts;
mod chunk;
mod codec;
mod column;
mod create;
mod cursor;
mod dead;
#[cfg(test)]
mod disk;
mod engine;
mod fault;
mod file;
mod filter;
mod flush;
#[cfg(any(test, fuzzing))]
pub(crate) mod fuzz;
mod leftover;
mod load;
mod lookup;
mod mark;
mod merge;
mod parallel;
mod reader;
mod rebuild;
mod record;
mod rows;
mod run;
mod schema;
mod segment;
mod settings;
mod space;
mod state;
#[cfg(any(test, fuzzing))]
mod testing;
mod texts;
mod times;
mod upkeep;
mod view;
mod watch;
mod writer;

pub use check::{CheckReport, Invariant, Violation};
pub use engine::Usage;
pub use rebuild::Repair;
pub use settings::Settings;
pub use space::Space;
pub use watch::Progress;

pub(crate) use backup::backup;
pub(crate) use candidates::Bucket;
pub(crate) use check::{CHECKING, check, check_watched};
pub(crate) use cursor::BandEntries;
#[cfg(test)]
pub(crate) use disk::{Call, Crash, Disk, Event, Fate, Trouble};
pub(crate) use engine::{Engine, Tuning};
pub(crate) use lookup::{Existing, Known};
#[cfg(any(test, feature = "cli"))]
pub(crate) use mark::DedupMark;
pub(crate) use reader::Reader;
pub(crate) use rebuild::repair;
pub(crate) use record::DocumentRecord;
pub(crate) use schema::{BandNo, DocNo, FORMAT_VERSION};
pub(crate) use settings::SettingsRequest;
#[cfg(test)]
pub(crate) use testing::hush_panics;
pub(crate) use view::{ChunkTable, DocTable, View};
pub(crate) use watch::{Watch, unwatched};
pub(crate) use writer::{NewDocument, Writer};
