//! All tests of the C library in one binary, so that it is linked once.

mod header;
