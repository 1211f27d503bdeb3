//! The header that is checked in is the one that the sources give.

use crate::support::{include, root};
use std::fs;

/// The header of the sources.
fn generated() -> String {
    let root = root();
    let config = cbindgen::Config::from_file(root.join("cbindgen.toml")).expect("a configuration");
    let bindings =
        cbindgen::Builder::new().with_crate(root).with_config(config).generate().expect("a header");
    let mut text = Vec::new();
    bindings.write(&mut text);
    String::from_utf8(text).expect("UTF-8")
}

#[test]
fn the_header_is_that_of_the_sources() {
    let path = include().join("twindex.h");
    let generated = generated();
    if std::env::var_os("TWINDEX_BLESS").is_some() {
        fs::write(&path, &generated).expect("written");
    }
    let kept = fs::read_to_string(&path).expect("the header is there");
    let version = format!("#define TWINDEX_VERSION \"{}\"\n", env!("CARGO_PKG_VERSION"));
    assert!(kept.contains(&version), "cbindgen.toml has another version than Cargo.toml");
    assert!(
        kept == generated,
        "include/twindex.h differs; TWINDEX_BLESS=1 cargo test --package twindex-c header makes it"
    );
}
