//! `twindex-lab study`: the papers' experiments, computed anew, printed, written and drawn.

mod approaches;
mod bands;
mod bits;
mod chance;
mod clip_to_panel;
mod drawn_axis;
mod figure;
mod functions;
mod gospels;
mod hash_time;
mod independence;
mod law;
mod matrix;
mod output;
mod outputs;
mod precision;
mod rules;
mod run_study;
mod shingle_size;
mod simhash;
mod theory;
mod widths;

pub(super) use run_study::{StudyArgs, run};
