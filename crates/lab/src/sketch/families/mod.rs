//! Families of hash functions for MinHash.

mod family;
mod jenkins;
mod modular;
mod multiplicative;
mod murmur3;
mod polynomial;
mod prime;
mod tabulation;
mod vector;
mod xxh3;

pub use family::{Family, HashFunction};
pub use jenkins::{Jenkins, jenkins_mix};
pub use modular::{Modular, PrintedModular, RowModular};
pub use multiplicative::Multiplicative;
pub use murmur3::{Murmur3, murmur3_32};
pub use polynomial::{Independence, Polynomial};
pub use prime::Prime;
pub use tabulation::Tabulation;
pub use vector::shift_xor_hash;
pub use xxh3::Xxh3;
