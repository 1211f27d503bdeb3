//! All integration tests in one binary, so that it is linked once.

mod bottom;
mod clusters;
mod containment;
mod dedup;
mod exact;
mod expiry;
mod fixtures;
mod history;
mod inputs;
mod intervals;
mod isolation;
mod layering;
mod merging;
mod model;
mod multisets;
mod rebuilding;
mod recall;
mod send_sync;
mod sketch;
mod space;
mod stored_texts;
mod support;
mod threads;
mod top;
mod weights;
