//! Which addresses name the same file, however they are spelled.

use super::address;
use std::path::Path;

/// The one spelling of an address that is compared: schemes and the hosts of the web are in lower
/// case, `s3a` is `s3`, a usual port, escapes of the web and a slash before the name are left out.
pub fn canonical(address: &str) -> String {
    let (scheme, rest) = address.split_once("://").unwrap_or_default();
    let scheme = scheme.to_ascii_lowercase();
    let (host, key) = rest.split_once('/').unwrap_or((rest, ""));
    let key = key.strip_prefix('/').unwrap_or(key);
    let port = match &*scheme {
        "http" => ":80",
        "https" => ":443",
        "s3a" => return format!("s3://{host}/{key}"),
        _ => return format!("{scheme}://{host}/{key}"),
    };
    let host = host.to_ascii_lowercase();
    let host = host.strip_suffix(port).unwrap_or(&host);
    format!("{scheme}://{host}/{}", unescaped(key))
}

/// A name of the web without its escapes. What is no UTF-8 then is replaced.
fn unescaped(key: &str) -> String {
    let mut bytes = Vec::with_capacity(key.len());
    let mut rest = key.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        let escaped = after.get(..2).filter(|_| *first == b'%');
        let escaped = escaped.and_then(|digits| std::str::from_utf8(digits).ok());
        match escaped.and_then(|digits| u8::from_str_radix(digits, 16).ok()) {
            Some(byte) => {
                bytes.push(byte);
                rest = &after[2..];
            }
            None => {
                bytes.push(*first);
                rest = after;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Whether two paths are addresses of the same file or folder.
pub fn is_same_address(a: &Path, b: &Path) -> bool {
    let (Some(a), Some(b)) = (address(a), address(b)) else { return false };
    canonical(a) == canonical(b)
}

/// Whether an address is this file or folder, or lies in it.
pub fn is_at_or_below(address: &str, folder: &str) -> bool {
    let (address, folder) = (canonical(address), canonical(folder));
    let rest = address.strip_prefix(folder.trim_end_matches('/'));
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spellings_of_one_address_are_the_same() {
        for (a, b) in [
            ("S3://bkt/in/c.jsonl", "s3://bkt/in/c.jsonl"),
            ("s3a://bkt/in/c.jsonl", "s3://bkt//in/c.jsonl"),
            ("HTTP://Host:80/a%20b%C3%BC", "http://host/a bü"),
            ("https://host:443", "https://host/"),
        ] {
            assert!(is_same_address(Path::new(a), Path::new(b)), "{a} {b}");
        }
        for (a, b) in [
            ("s3://bkt/a", "s3://BKT/a"),
            ("s3://bkt/a%20b", "s3://bkt/a b"),
            ("http://host:8080/a", "http://host/a"),
            ("s3://bkt/a", "gs://bkt/a"),
            ("a", "a"),
        ] {
            assert!(!is_same_address(Path::new(a), Path::new(b)), "{a} {b}");
        }
        assert!(
            is_at_or_below("s3a://b/in/a", "S3://b/in/") && is_at_or_below("s3://b/x", "s3://b")
        );
        assert!(!is_at_or_below("s3://b/in2/a", "s3://b/in"));
        assert_eq!(canonical("http://h/%zz%4"), "http://h/%zz%4");
    }
}
