//! Colour: when to use it, and the styles of what is printed.

use super::escape::is_plain;
use clap::builder::styling::{AnsiColor, Style};
use clap::{ColorChoice, ValueEnum};
use std::ffi::OsString;
use std::io::IsTerminal;
use std::sync::OnceLock;

/// When to use colour.
// The variants have no documentation: clap would add it to the help of every command.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum ColorMode {
    #[default]
    Auto,
    Always,
    Never,
}

/// The style of the program name before a message.
pub const PREFIX: Style = AnsiColor::Red.on_default().bold();

/// The style of a similarity, the value that a reader looks for first.
pub const VALUE: Style = AnsiColor::Green.on_default();

/// The style of the name of a value or column.
pub const NAME: Style = Style::new().bold();

/// The styles of passages that two texts share, in turn.
pub const PASSAGES: [Style; 4] = [
    AnsiColor::Green.on_default(),
    AnsiColor::Cyan.on_default(),
    AnsiColor::Magenta.on_default(),
    AnsiColor::Yellow.on_default(),
];

/// The style of what a text has and the other lacks, on the left and on the right.
pub const DELETED: Style = AnsiColor::Red.on_default().strikethrough();
pub const INSERTED: Style = AnsiColor::Green.on_default().underline();

/// The mode of this process. Messages can come from anywhere, so it is global.
static MODE: OnceLock<ColorMode> = OnceLock::new();

impl ColorMode {
    /// The value of `--color` among the arguments. It is found before clap parses them, because
    /// clap itself prints help and errors.
    pub fn typed(args: impl Iterator<Item = OsString>) -> Self {
        let mut args = args.skip(1).take_while(|arg| arg != "--");
        let mut mode = Self::default();
        while let Some(arg) = args.next() {
            let Some(arg) = arg.to_str() else { continue };
            let value = match arg.strip_prefix("--color") {
                Some("") => args.next().and_then(|value| value.into_string().ok()),
                Some(rest) => rest.strip_prefix('=').map(str::to_owned),
                None => None,
            };
            // An unknown value is ignored here; clap refuses it later.
            mode = value.and_then(|value| Self::from_str(&value, false).ok()).unwrap_or(mode);
        }
        mode
    }

    /// Makes this the mode of the process, unless one is set already. Returns what clap needs.
    pub fn set(self) -> ColorChoice {
        match *MODE.get_or_init(|| self) {
            Self::Always => ColorChoice::Always,
            Self::Auto if allowed() => ColorChoice::Auto,
            Self::Auto | Self::Never => ColorChoice::Never,
        }
    }
}

/// Whether the environment allows colour.
fn allowed() -> bool {
    let set = |name| std::env::var_os(name).unwrap_or_default();
    set("NO_COLOR").is_empty() && set("TERM") != "dumb"
}

/// Whether to use colour on this stream.
pub fn is_on(stream: &impl IsTerminal) -> bool {
    match MODE.get().copied().unwrap_or_default() {
        ColorMode::Always => true,
        ColorMode::Never => false,
        ColorMode::Auto => stream.is_terminal() && allowed(),
    }
}

/// The text in a style.
pub fn paint(style: Style, text: &str) -> String {
    debug_assert!(is_plain(text), "control characters must be escaped first");
    format!("{style}{text}{style:#}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_color_option_is_found_among_the_arguments() {
        for (typed, mode) in [
            ("twindex list i", ColorMode::Auto),
            ("twindex --color never list i", ColorMode::Never),
            ("twindex list i --color=always", ColorMode::Always),
            ("twindex list i --color=always --color never", ColorMode::Never),
            ("twindex list i --color", ColorMode::Auto),
            ("twindex list i --color blue", ColorMode::Auto),
            ("twindex list -- --color=always", ColorMode::Auto),
        ] {
            assert_eq!(ColorMode::typed(typed.split(' ').map(OsString::from)), mode, "{typed}");
        }
    }
}
