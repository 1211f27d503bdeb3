//! What tests and fuzzing simulate: failing disks, damaged files, ready engines.

#[cfg(test)]
pub(crate) mod disk;
#[cfg(any(test, fuzzing))]
pub(crate) mod fuzz;
#[cfg(any(test, fuzzing))]
pub(crate) mod testing;
