//! The key under which interrupted work is resumed: what was asked for, by name.

use std::ffi::OsStr;
use std::path::Path;

/// Named values that decide what a command writes, as bytes.
///
/// Each value follows its name, and both follow their length, so that different values never give
/// the same bytes. A value that is not set is left out: an option that is added later does not
/// change the keys of commands without it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ResumeKey(Vec<u8>);

impl ResumeKey {
    /// Adds a value.
    pub fn with(mut self, name: &str, value: impl AsRef<[u8]>) -> Self {
        for part in [name.as_bytes(), value.as_ref()] {
            self.0.extend_from_slice(&(part.len() as u64).to_le_bytes());
            self.0.extend_from_slice(part);
        }
        self
    }

    /// Adds a value if there is one.
    pub fn with_option(self, name: &str, value: Option<impl AsRef<[u8]>>) -> Self {
        match value {
            Some(value) => self.with(name, value),
            None => self,
        }
    }

    /// Adds a flag if it is set.
    pub fn with_flag(self, name: &str, set: bool) -> Self {
        if set { self.with(name, "") } else { self }
    }

    /// Adds a path, byte for byte.
    pub fn with_path(self, name: &str, path: &Path) -> Self {
        self.with(name, OsStr::as_encoded_bytes(path.as_os_str()))
    }

    /// Adds several paths, in their order.
    pub fn with_paths<'p>(self, name: &str, paths: impl IntoIterator<Item = &'p Path>) -> Self {
        paths.into_iter().fold(self, |key, path| key.with_path(name, path))
    }
}

impl AsRef<[u8]> for ResumeKey {
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_names_values_and_orders_give_other_keys() {
        let key = |parts: &[(&str, &str)]| {
            parts.iter().fold(ResumeKey::default(), |key, (name, value)| key.with(name, value))
        };
        let keys = [
            key(&[]),
            key(&[("a", "")]),
            key(&[("a", "b")]),
            key(&[("ab", "")]),
            key(&[("a", "b"), ("c", "d")]),
            key(&[("c", "d"), ("a", "b")]),
            key(&[("a", "bcd")]),
        ];
        for (at, one) in keys.iter().enumerate() {
            assert!(keys.iter().skip(at + 1).all(|other| one != other), "{one:?}");
        }
    }

    #[test]
    fn a_value_that_is_not_set_changes_nothing() {
        let plain = ResumeKey::default().with("a", "b");
        let same = plain.clone().with_flag("c", false).with_option("d", None::<&str>);
        assert_eq!(plain, same);
        assert_ne!(plain, plain.clone().with_flag("c", true));
        assert_ne!(plain, plain.clone().with_option("d", Some("")));
    }
}
