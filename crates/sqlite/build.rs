//! Links the shared library so that Linux keeps it in memory: its threads outlive `dlclose`.

fn main() {
    let is_linux = std::env::var("CARGO_CFG_TARGET_OS").is_ok_and(|os| os == "linux");
    if is_linux {
        println!("cargo:rustc-cdylib-link-arg=-Wl,-z,nodelete");
    }
}
