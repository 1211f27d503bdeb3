//! Tests that break an index on purpose: crashes, disk errors, damaged files, hostile documents.

#[cfg(test)]
mod crash_tests;
#[cfg(test)]
mod damage;
#[cfg(test)]
mod damage_tests;
#[cfg(test)]
mod follow_tests;
#[cfg(any(test, fuzzing))]
pub(crate) mod fuzz;
#[cfg(test)]
mod hostile_tests;
#[cfg(test)]
mod last_numbers_tests;
#[cfg(test)]
mod measures;
#[cfg(test)]
mod page_tests;
#[cfg(test)]
mod trouble_tests;
#[cfg(test)]
mod workload;
