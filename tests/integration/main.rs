//! All integration tests in one binary, so that it is linked once.

mod layering;
mod model;
mod recall;
mod sketch;
mod support;
