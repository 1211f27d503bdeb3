//! The command `twindex-lab`.

fn main() -> std::process::ExitCode {
    twindex_lab::main()
}
