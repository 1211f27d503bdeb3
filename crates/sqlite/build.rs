//! Links the shared library so that it stays in memory: its threads outlive `dlclose`.

fn main() {
    let unix = std::env::var("CARGO_CFG_TARGET_OS").is_ok_and(|os| os == "linux");
    if unix {
        println!("cargo:rustc-cdylib-link-arg=-Wl,-z,nodelete");
    }
}
