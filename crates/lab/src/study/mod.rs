//! The papers' experiments, computed anew, with the findings that each must show.
//!
//! A study takes its settings and returns a [`Report`], which the command prints and draws.

mod approach_bench;
mod fill_times;
mod gospel_texts;
mod planted_copies;
mod random_texts;
mod ranked_occurrences;
mod report;
mod shingle_matrix;
mod similar_columns;
mod study_context;
mod text_file;
mod timing;
pub(crate) mod transactions;

pub(crate) mod approaches;
pub(crate) mod bands;
pub(crate) mod bits;
pub(crate) mod chance;
pub(crate) mod functions;
pub(crate) mod gospels;
pub(crate) mod hash_time;
pub(crate) mod independence;
pub(crate) mod law;
pub(crate) mod matrix;
pub(crate) mod methods;
pub(crate) mod precision;
pub(crate) mod rules;
pub(crate) mod shingle_size;
pub(crate) mod simhash;
pub(crate) mod theory;
pub(crate) mod widths;

pub(crate) use report::{
    Axis, Cell, Figure, Finding, Panel, Point, Report, Scale, Series, SeriesKind, Table,
};
pub(crate) use study_context::StudyContext;
