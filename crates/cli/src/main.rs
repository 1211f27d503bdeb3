//! The command `twindex`.

fn main() -> std::process::ExitCode {
    twindex_cli::run(std::env::args_os()).into()
}
