//! All tests of the C library in one binary, so that it is linked once.

mod abi;
mod bindings;
mod header;
mod programs;
mod support;
