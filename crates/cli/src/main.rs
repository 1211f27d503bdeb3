//! The command `twindex`.

fn main() -> std::process::ExitCode {
    twindex_cli::main()
}
