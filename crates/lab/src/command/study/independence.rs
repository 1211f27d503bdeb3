//! The options of `twindex-lab study independence`.

use super::outputs::Outputs;
use crate::study::independence::IndependenceSettings;

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Draws random polynomials of degree below K as hash functions: the values of any K keys are
independent. Counts which key of a run of neighbouring keys has the least value, for two sets that
share the middle three fifths of the run, J = .6. Fields of 7 and 11 elements are enumerated: all
sets, all polynomials.

Columns: keys; independence (K); estimate_bias; four_errors (four standard errors of it); ends
(how often an end of the run is the least, 1 without bias); worst_of_7 and worst_of_11 (the
greatest relative bias of a key of any set of that field; exact).

Examples:
  twindex-lab study independence --svg independence.svg
  twindex-lab study independence --keys 1000 --functions 20000 --csv independence.csv")]
pub(super) struct IndependenceArgs {
    /// Neighbouring keys of the union of both sets
    #[arg(long, value_name = "N", default_value_t = IndependenceSettings::default().keys)]
    keys: usize,
    /// Functions of each degree
    #[arg(long, value_name = "R", default_value_t = IndependenceSettings::default().functions)]
    functions: u32,
    #[command(flatten)]
    pub(super) outputs: Outputs,
}

impl IndependenceArgs {
    pub(super) fn settings(&self) -> IndependenceSettings {
        IndependenceSettings { keys: self.keys, functions: self.functions }
    }
}
