//! Texts in other encodings than UTF-8.

use encoding_rs::{Encoding, UTF_8};
use encoding_rs_io::DecodeReaderBytesBuilder;
use std::borrow::Cow;
use std::io::Read;

/// The encoding of this name, by the Encoding Standard, such as `latin1` or `utf-16le`.
pub fn encoding(name: &str) -> Option<&'static Encoding> {
    Encoding::for_label_no_replacement(name.as_bytes())
}

/// A stream as UTF-8. Its byte order mark, if there is one, decides between UTF-8 and UTF-16.
pub(super) fn decoding(
    stream: impl Read + Send + 'static,
    encoding: &'static Encoding,
) -> Box<dyn Read + Send> {
    let mut decoder = DecodeReaderBytesBuilder::new();
    let decoder = decoder.encoding(Some(encoding)).bom_override(true).strip_bom(true);
    Box::new(decoder.build(stream))
}

/// A text in this encoding, or why it is none. Without a name it is UTF-8. Its byte order mark, if
/// there is one, decides between UTF-8 and UTF-16, whatever the name.
pub(super) fn decoded<'b>(bytes: &'b [u8], name: Option<&str>) -> Result<Cow<'b, str>, String> {
    let utf8 = || {
        let text = std::str::from_utf8(bytes);
        let text = text.map_err(|error| {
            format!("not valid UTF-8 at byte {} of its body", error.valid_up_to() + 1)
        })?;
        Ok(Cow::Borrowed(text))
    };
    let marked = Encoding::for_bom(bytes).map(|(encoding, _)| encoding);
    match (marked.or_else(|| encoding(name?)), name) {
        (Some(encoding), _) if encoding == UTF_8 => utf8(),
        (Some(encoding), _) => Ok(encoding.decode_with_bom_removal(bytes).0),
        (None, None) => utf8(),
        (None, Some(name)) => {
            utf8().map_err(|cause| format!("{cause}, and its encoding `{name}` is not known"))
        }
    }
}
