//! Simulations for tests and fuzzing: failing disks, damaged files, small indexes.

#[cfg(test)]
pub(crate) mod disk;
#[cfg(any(test, fuzzing))]
pub(crate) mod fuzz;
#[cfg(test)]
pub(crate) mod locks;
#[cfg(any(test, fuzzing))]
pub(crate) mod testing;
