//! How commands fail, and their errors in the words of the command.

use std::io;
use std::sync::OnceLock;
use twindex::Error;

/// Why a command ended early.
pub enum Failure {
    /// Nobody reads the output any more. This is no error.
    BrokenPipe,
    /// Anything else.
    Error(anyhow::Error),
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self::Error(error.into())
    }
}

impl From<anyhow::Error> for Failure {
    fn from(error: anyhow::Error) -> Self {
        Self::Error(error)
    }
}

/// An error of a file, which it names itself.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct OfFile(pub String);

/// An error while writing results.
impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            _ if error.get_ref().is_some_and(|cause| cause.is::<OfFile>()) => {
                Self::Error(anyhow::anyhow!("{error}"))
            }
            io::ErrorKind::BrokenPipe => Self::BrokenPipe,
            _ => Self::Error(anyhow::anyhow!("standard output: {error}")),
        }
    }
}

/// One line about an error: what failed, then its causes.
pub fn line(error: &anyhow::Error) -> String {
    let parts: Vec<String> = error
        .chain()
        .map(|cause| cause.downcast_ref().map_or_else(|| cause.to_string(), in_options))
        .collect();
    parts.join(": ")
}

/// The message of a library error, with the options of the command in place of settings.
pub fn in_options(error: &Error) -> String {
    match error {
        Error::SettingMismatch { path, setting, stored, asked } => {
            let path = path.display();
            let option = option(setting);
            format!(
                "{path}: created with {option} {stored}, not {asked}; \
                 leave {option} out, or create another index"
            )
        }
        Error::UnequalSettings { path, setting, found, other, expected } => {
            let path = path.display();
            let option = option(setting);
            let other = other.display();
            format!(
                "{path}: its {option} is {found}, that of {other} is {expected}; \
                 both must have the same"
            )
        }
        Error::InvalidSetting { setting, got, expected } => {
            format!("{} {got}: expected {expected}{}", option(setting), percent(setting, got))
        }
        Error::NoTexts { path } => format!(
            "{}: stores no texts; create it with --store-text and add the texts again",
            path.display()
        ),
        Error::NoPassages { path } => format!(
            "{}: has no fingerprints of passages; create it with --passages, or, if it stores \
             texts, add them with `twindex rebuild {} --passages`",
            path.display(),
            path.display()
        ),
        Error::NotTracked { path } => format!(
            "{}: tracks no clusters; begin with `twindex track {}`",
            path.display(),
            path.display()
        ),
        Error::Damaged { .. } => format!("{error} with `twindex check --repair`"),
        other => other.to_string(),
    }
}

/// The failure of a repair: to repair the file is no advice then.
pub fn of_repair(failure: Failure) -> Failure {
    let Failure::Error(error) = &failure else { return failure };
    match error.downcast_ref() {
        Some(Error::Damaged { path, table, key, detail }) => Failure::Error(anyhow::anyhow!(
            "{}: {table} {key}: {detail}; it cannot be repaired and was left as it is; \
             restore a copy, or create the index again from its documents",
            path.display()
        )),
        _ => failure,
    }
}

/// The advice for a percentage that was given where a number up to 1 is expected.
fn percent(setting: &str, got: &str) -> String {
    let is_share = ["threshold", "recall", "confidence"].contains(&setting);
    match got.parse::<f64>() {
        Ok(value) if is_share && (10.0..=100.0).contains(&value) => {
            format!("; did you mean {}?", (value * 1e4).round() / 1e6)
        }
        _ => String::new(),
    }
}

/// The name of the option that sets a setting of the library.
fn option(setting: &str) -> &str {
    match setting {
        "normalization" => "normalize",
        "store_text" => "store-text",
        other => other,
    }
}

/// The message and the place of the first panic.
static PANIC: OnceLock<String> = OnceLock::new();

/// Keeps the message of a panic for [`panicked`] instead of printing it.
pub fn hush_panics() {
    std::panic::set_hook(Box::new(|info| {
        let payload = info.payload();
        let said = payload.downcast_ref::<&str>().copied();
        let said = said.or_else(|| payload.downcast_ref::<String>().map(String::as_str));
        let text = said.unwrap_or("no reason given");
        let place = info
            .location()
            .map_or_else(String::new, |at| format!(" ({}:{})", at.file(), at.line()));
        let _ = PANIC.set(format!("{text}{place}"));
    }));
}

/// The failure of a command that panicked. The storage library panics on some damage.
pub fn panicked() -> Failure {
    let text = PANIC.get().map_or("no reason given", String::as_str);
    Failure::Error(anyhow::anyhow!(
        "internal error: {text}; if `twindex check` finds the index damaged, restore a copy or \
         repair it, otherwise please report it"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use anyhow::Context;

    #[test]
    fn causes_follow_in_one_line() {
        let source = io::Error::other("no space left");
        let error = Error::Io { path: "i.twx".into(), action: "committing", source };
        let error = Err::<(), _>(error).context("all.twx").expect_err("an error");
        assert_eq!(line(&error), "all.twx: i.twx: committing: no space left");
    }

    #[test]
    fn messages_of_the_library_name_options_and_commands() {
        let path = || "i.twx".into();
        let no_texts = Error::NoTexts { path: path() };
        assert!(no_texts.to_string().contains("create it with store_text and"));
        assert!(in_options(&no_texts).contains("create it with --store-text and"));
        let damaged = Error::Damaged {
            path: path(),
            table: "chunks",
            key: "7".to_owned(),
            detail: "too short".to_owned(),
        };
        assert!(!damaged.to_string().contains("--"));
        assert!(in_options(&damaged).ends_with("or repair it with `twindex check --repair`"));
        let mismatch = Error::SettingMismatch {
            path: path(),
            setting: "normalization",
            stored: "none".to_owned(),
            asked: "lower".to_owned(),
        };
        assert!(in_options(&mismatch).contains("created with normalize none, not lower"));
    }
}
