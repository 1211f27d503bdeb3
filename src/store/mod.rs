//! How does it lie on disk? The tables of `docs/format.md` in redb, and the state in memory beside
//! them.
//!
//! Start with `engine` (one open file) and `state` (what a commit publishes), then `schema` (the
//! tables). The folders follow: `bytes` (the rows of the tables), `runs` (the sorted runs), `read`,
//! `write`, `care` (checks, repair, compaction), and `pages`, which lies beneath redb.
#![deny(clippy::indexing_slicing)]

mod bytes;
mod care;
mod create;
mod document;
mod engine;
mod file;
mod grouped;
mod held;
mod identity;
mod leftover;
mod load;
mod lock;
mod network;
mod pages;
pub(crate) mod parallel;
mod progress;
mod published;
mod queue;
mod read;
mod runs;
mod settings;
#[cfg(any(test, fuzzing))]
pub(crate) mod sim;
mod state;
mod storage_error;
mod tuning;
mod usage;
mod write;

pub use care::check_report::{CheckReport, Invariant, Violation};
pub use care::repair::Repair;
pub use care::space::Space;
pub use document::Document;
pub(crate) use document::Kind;
pub use pages::header::FILE_MAGIC;
pub use progress::{Progress, Work};
pub use settings::Settings;
pub use usage::Usage;

pub(crate) use bytes::clusters::ChangeRow;
pub(crate) use bytes::record::DocumentRecord;
pub use bytes::schema::FORMAT_VERSION;
pub(crate) use bytes::schema::{BandNo, DocNo};
pub(crate) use bytes::time::{seconds_of, time_of};
pub(crate) use care::backup::backup;
#[cfg(test)]
pub(crate) use care::check::check;
pub(crate) use care::check::{CHECKING, check_watching};
pub(crate) use care::rebuild::rebuild;
pub(crate) use care::repair::repair;
pub(crate) use engine::Engine;
pub(crate) use grouped::Grouped;
pub(crate) use network::network_file_system;
pub(crate) use progress::{Tell, Watch, unwatched};
pub(crate) use queue::Place;
pub(crate) use read::band_entries::BandEntries;
pub(crate) use read::bucket::Bucket;
pub(crate) use read::candidates::Asked;
pub(crate) use read::clusters::ClusterReader;
pub(crate) use read::foretold::{BandBuckets, Foretold, Replaced};
pub(crate) use read::found_docs::{CandidateLimit, most_often};
pub(crate) use read::reader::Reader;
pub(crate) use read::recent_lanes::{LanesInOrder, RecentLanes};
pub(crate) use read::view::View;
pub(crate) use runs::spread::sort_spread;
pub(crate) use settings::{PassageRequest, SeedRequest, SettingsRequest};
#[cfg(test)]
pub(crate) use sim::disk::{Call, CrashReplay, Disk, DiskFailure, Event, Unsynced};
#[cfg(test)]
pub(crate) use sim::testing::{leaves_of, silence_storage_panics};
pub(crate) use tuning::Tuning;
pub(crate) use write::attach::Attached;
pub(crate) use write::batch::{Batch, Entry, Existing};
pub(crate) use write::dedup_row::{DedupRow, DedupStage, OwnNumbers};
pub(crate) use write::follow::Followed;
pub(crate) use write::tracking::{ClusterRows, Untracked};
pub(crate) use write::writer::{Committed, Writer};
