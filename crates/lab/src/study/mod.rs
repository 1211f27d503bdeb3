//! What do the papers' experiments show? Each computed anew, with what must be seen.
//!
//! A study takes its settings and gives a [`Report`]; how that is printed and drawn is the command's.

mod approach;
mod columns;
mod fillers;
mod matrix;
mod orders;
mod planted;
mod ranked;
mod report;
mod texts;
mod timing;
pub(crate) mod transactions;
mod work;

pub(crate) mod approaches;
pub(crate) mod chance;
pub(crate) mod gospels;
pub(crate) mod hash_time;
pub(crate) mod law;
pub(crate) mod methods;
pub(crate) mod precision;
pub(crate) mod rules;
pub(crate) mod shingle_size;
pub(crate) mod simhash;

pub(crate) use report::{
    Axis, Cell, Figure, Finding, Kind, Panel, Point, Report, Scale, Series, Table,
};
pub(crate) use work::Work;
