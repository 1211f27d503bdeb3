//! Colour: only where a person sees it, and never against the person's wish.

use crate::terminal::escape::is_plain;
use clap::builder::styling::{AnsiColor, Style};
use clap::{ColorChoice, ValueEnum};
use std::ffi::OsString;
use std::io::IsTerminal;
use std::sync::OnceLock;

/// When to use colour. Its values have no help of their own, which would make that of every command
/// much longer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum When {
    #[default]
    Auto,
    Always,
    Never,
}

/// The word before a message.
pub const PREFIX: Style = AnsiColor::Red.on_default().bold();

/// What is to be seen first: a similarity.
pub const VALUE: Style = AnsiColor::Green.on_default();

/// The name of a value, or of a column.
pub const NAME: Style = Style::new().bold();

/// Passages that two texts share, one after the other.
pub const PASSAGES: [Style; 4] = [
    AnsiColor::Green.on_default(),
    AnsiColor::Cyan.on_default(),
    AnsiColor::Magenta.on_default(),
    AnsiColor::Yellow.on_default(),
];

/// What was typed, for messages from everywhere.
static WHEN: OnceLock<When> = OnceLock::new();

impl When {
    /// What is typed, found before everything is parsed: parsing prints help and errors itself.
    pub fn typed(args: impl Iterator<Item = OsString>) -> Self {
        let mut args = args.skip(1).take_while(|arg| arg != "--");
        let mut when = Self::default();
        while let Some(arg) = args.next() {
            let Some(arg) = arg.to_str() else { continue };
            let value = match arg.strip_prefix("--color") {
                Some("") => args.next().and_then(|value| value.into_string().ok()),
                Some(rest) => rest.strip_prefix('=').map(str::to_owned),
                None => None,
            };
            // One that is none is refused when everything is parsed.
            when = value.and_then(|value| Self::from_str(&value, false).ok()).unwrap_or(when);
        }
        when
    }

    /// From now on it holds for all that this module is asked.
    pub fn hold(self) -> ColorChoice {
        match *WHEN.get_or_init(|| self) {
            Self::Always => ColorChoice::Always,
            Self::Auto if wanted() => ColorChoice::Auto,
            Self::Auto | Self::Never => ColorChoice::Never,
        }
    }
}

/// Whether the environment has nothing against colour.
fn wanted() -> bool {
    let set = |name| std::env::var_os(name).unwrap_or_default();
    set("NO_COLOR").is_empty() && set("TERM") != "dumb"
}

/// Whether this stream takes colour.
pub fn is_on(stream: &impl IsTerminal) -> bool {
    match WHEN.get().copied().unwrap_or_default() {
        When::Always => true,
        When::Never => false,
        When::Auto => stream.is_terminal() && wanted(),
    }
}

/// The text in a style.
pub fn paint(style: Style, text: &str) -> String {
    debug_assert!(is_plain(text), "control characters are escaped before");
    format!("{style}{text}{style:#}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colour_is_found_among_what_was_typed() {
        for (typed, when) in [
            ("twindex list i", When::Auto),
            ("twindex --color never list i", When::Never),
            ("twindex list i --color=always", When::Always),
            ("twindex list i --color=always --color never", When::Never),
            ("twindex list i --color", When::Auto),
            ("twindex list i --color blue", When::Auto),
            ("twindex list -- --color=always", When::Auto),
        ] {
            assert_eq!(When::typed(typed.split(' ').map(OsString::from)), when, "{typed}");
        }
    }
}
