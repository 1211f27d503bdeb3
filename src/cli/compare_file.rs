//! `twindex compare --method file`: two texts larger than memory, exactly.

use super::Ending;
use super::args::Global;
use super::compare::Compare;
use super::failure::Failure;

pub(super) fn run(_: &Global, _: &Compare) -> Result<Ending, Failure> {
    Err(anyhow::anyhow!("--method file is not there yet").into())
}
