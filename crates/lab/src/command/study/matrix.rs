//! The options of `twindex-lab study matrix`.

use super::outputs::Outputs;
use crate::study::matrix::MatrixSettings;
use std::path::PathBuf;

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Prints the characteristic matrix of small sets, the functions that permute its rows, and the
signature matrix, cell by cell. Without texts, the sets are the examples of the papers, and every
cell is compared with the printed one. With texts, the sets are their shingles, in lower case.

Output: a line for each pair of sets, with the numbers of rows that both have, only a, only b, and
neither; the exact similarity; the number of functions with equal least values, and the estimate;
of all orders of the rows, if there are at most 9, those in which both sets have the same first
row. Then for each matrix its rows, with 1 or 0 for each set and the value of each function z1, z2
and so on, and its signatures, with the formula of each function. A row number is i, and the
remainder 0 stands for the number of rows.

Examples:
  twindex-lab study matrix
  twindex-lab study matrix 'the cat sat' 'the hat sat' --shingle 3 --functions 6
  twindex-lab study matrix --text a.txt --text b.txt --csv cells.csv --svg matrix.svg")]
pub(super) struct MatrixArgs {
    /// Texts to make a matrix of, at least two
    texts: Vec<String>,
    /// File with a further text; may be given several times
    #[arg(long, value_name = "FILE")]
    text: Vec<PathBuf>,
    /// Characters of a shingle
    #[arg(long, value_name = "N", default_value_t = MatrixSettings::default().shingle as u64,
          value_parser = clap::value_parser!(u64).range(1..=1000))]
    shingle: u64,
    /// Functions of a signature
    #[arg(long, value_name = "K", default_value_t = MatrixSettings::default().functions as u64,
          value_parser = clap::value_parser!(u64).range(1..=100))]
    functions: u64,
    #[command(flatten)]
    pub(super) outputs: Outputs,
}

impl MatrixArgs {
    pub(super) fn settings(&self) -> MatrixSettings {
        MatrixSettings {
            texts: self.texts.clone(),
            files: self.text.clone(),
            shingle: self.shingle as usize,
            functions: self.functions as usize,
        }
    }
}
