//! The Python package `twindex`: the library as Python objects, and the command.
//!
//! The crate is a client of the library [`twindex`] and of the command's crate, and uses only their
//! public API. What Python sees is `python/twindex/`; the module `twindex._twindex` comes from
//! here.

mod arrow;
mod calls;
mod care;
mod clusters;
mod columns;
mod command;
mod content;
mod dedup;
mod error;
mod explanation;
mod handle;
mod index;
mod inserting;
mod merging;
mod minhash;
mod numbers;
mod opened;
mod pairs;
mod passages;
mod process;
mod reader;
mod results;
mod row;
mod rows;
mod settings;
mod sketcher;
mod snapshot;
mod tracking;
mod transaction;
mod turn;
mod waiting;

use pyo3::prelude::*;

/// The compiled part of the package.
#[pymodule]
#[pyo3(name = "_twindex", gil_used = true)]
fn compiled(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add_class::<reader::Reader>()?;
    module.add_class::<index::Index>()?;
    module.add_class::<snapshot::Snapshot>()?;
    module.add_class::<transaction::Transaction>()?;
    module.add_class::<sketcher::Sketcher>()?;
    module.add_class::<sketcher::Signatures>()?;
    module.add_class::<settings::Settings>()?;
    module.add_class::<arrow::Table>()?;
    module.add_function(wrap_pyfunction!(columns::digests, module)?)?;
    module.add_function(wrap_pyfunction!(columns::compare_signatures, module)?)?;
    module.add_function(wrap_pyfunction!(columns::greedy, module)?)?;
    module.add_function(wrap_pyfunction!(columns::components, module)?)?;
    module.add_class::<results::Match>()?;
    module.add_class::<results::Matches>()?;
    module.add_class::<results::Document>()?;
    module.add_class::<results::Inserted>()?;
    module.add_class::<pairs::Pair>()?;
    module.add_class::<pairs::Pairs>()?;
    module.add_class::<pairs::Ids>()?;
    module.add_class::<clusters::Cluster>()?;
    module.add_class::<clusters::Clusters>()?;
    module.add_class::<tracking::ClusterChange>()?;
    module.add_class::<explanation::Explanation>()?;
    module.add_class::<explanation::Passage>()?;
    module.add_class::<passages::SharedPassage>()?;
    module.add_class::<passages::PassageMatch>()?;
    module.add_class::<passages::KnownPassage>()?;
    module.add_class::<passages::KnownPassages>()?;
    module.add_class::<care::CheckReport>()?;
    module.add_class::<care::Repair>()?;
    module.add_class::<care::Usage>()?;
    module.add_function(wrap_pyfunction!(index::open, module)?)?;
    module.add_function(wrap_pyfunction!(care::repair, module)?)?;
    module.add_function(wrap_pyfunction!(care::rebuild, module)?)?;
    module.add_function(wrap_pyfunction!(dedup::dedup, module)?)?;
    module.add_function(wrap_pyfunction!(command::run_command, module)?)?;
    minhash::register(module)
}
