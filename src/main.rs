//! The command `twindex`.

fn main() -> std::process::ExitCode {
    twindex::cli::main()
}
