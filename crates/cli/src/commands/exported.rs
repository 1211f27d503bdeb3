//! The lines of an export: a header with the settings, then one line for each document.

use crate::run::failure::in_options;
use crate::run::seconds::{seconds_of, time_of};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::fmt::Write;
use twindex::{
    Content, Document, FORMAT_VERSION, IndexOptions, SetSize, Settings, Signature, Sketcher,
    Snapshot, UnicodeVersions, Weights, Winnowing,
};

/// The export version that this build writes, and the newest that it reads.
const EXPORT_VERSION: u64 = 1;

/// The settings and the number of documents that the first line gives.
pub(crate) struct Header {
    pub(crate) settings: Settings,
    pub(crate) documents: u64,
}

#[derive(Serialize)]
struct HeaderOut {
    twindex_export: u64,
    format: u32,
    settings: SettingsOut,
    documents: u64,
}

#[derive(Serialize)]
struct SettingsOut {
    threshold: f64,
    recall: f64,
    lanes: usize,
    shingle: String,
    normalize: String,
    multiset: bool,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    weighted: bool,
    store_text: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    passages: Option<usize>,
    seed: u64,
    bands: usize,
    depth: u32,
    unicode: Unicode,
}

#[derive(Deserialize)]
struct Versions {
    twindex_export: Option<u64>,
    format: Option<u64>,
}

#[derive(Deserialize)]
struct HeaderIn<'a> {
    #[serde(borrow)]
    settings: SettingsIn<'a>,
    documents: u64,
}

#[derive(Deserialize)]
struct SettingsIn<'a> {
    // The digits are kept as written and parsed by `str::parse`, which rounds correctly. The faster
    // float parser of serde_json can differ in the last bit.
    #[serde(borrow)]
    threshold: &'a RawValue,
    #[serde(borrow)]
    recall: &'a RawValue,
    lanes: usize,
    shingle: String,
    normalize: String,
    multiset: bool,
    #[serde(default)]
    weighted: bool,
    #[serde(default)]
    store_text: bool,
    #[serde(default)]
    passages: usize,
    seed: u64,
    unicode: Option<Unicode>,
}

/// The versions of the Unicode tables that the texts were normalised and cut with.
#[derive(Clone, Copy, Serialize, Deserialize)]
struct Unicode {
    case: (u8, u8, u8),
    normalization: (u8, u8, u8),
    segmentation: (u8, u8, u8),
}

/// Returns the first line of an export.
pub(crate) fn header(snapshot: &Snapshot) -> serde_json::Result<String> {
    let settings = snapshot.settings();
    let UnicodeVersions { case, normalization, segmentation } = settings.unicode;
    serde_json::to_string(&HeaderOut {
        twindex_export: EXPORT_VERSION,
        format: snapshot.format_version(),
        settings: SettingsOut {
            threshold: settings.threshold(),
            recall: settings.recall(),
            lanes: settings.lanes(),
            shingle: settings.shingle.to_string(),
            normalize: settings.normalization.to_string(),
            multiset: settings.multiset,
            weighted: settings.weighted,
            store_text: settings.store_text,
            passages: settings.winnowing.map(Winnowing::length),
            seed: settings.seed,
            bands: settings.plan.bands(),
            depth: settings.plan.depth(),
            unicode: Unicode { case, normalization, segmentation },
        },
        documents: snapshot.len(),
    })
}

/// Reads the first line.
pub(crate) fn read_header(line: &[u8]) -> Result<Header, String> {
    const NOT_AN_EXPORT: &str =
        "no export of twindex: its first line is no header with `twindex_export`";
    let versions: Versions = serde_json::from_slice(line).map_err(|_| NOT_AN_EXPORT.to_owned())?;
    let version = versions.twindex_export.ok_or(NOT_AN_EXPORT)?;
    let newer = |what: &str, found: u64, known: u64| {
        format!("{what} {found}, this twindex reads up to {known}; use a newer twindex")
    };
    if version > EXPORT_VERSION {
        return Err(newer("an export of version", version, EXPORT_VERSION));
    }
    if let Some(format) = versions.format.filter(|format| *format > u64::from(FORMAT_VERSION)) {
        return Err(newer("an export from an index of format", format, FORMAT_VERSION.into()));
    }
    let invalid = |error: &dyn std::fmt::Display| format!("its header is wrong: {error}");
    let HeaderIn { settings, documents } =
        serde_json::from_slice(line).map_err(|error| invalid(&json_error(&error)))?;
    let number = |name: &str, raw: &RawValue| {
        raw.get().parse::<f64>().map_err(|_| invalid(&format!("`{name}` is not a number")))
    };
    let mut options = IndexOptions::new()
        .threshold(number("threshold", settings.threshold)?)
        .recall(number("recall", settings.recall)?)
        .lanes(settings.lanes)
        .shingle(
            settings
                .shingle
                .parse()
                .map_err(|error: twindex::Error| invalid(&in_options(&error)))?,
        )
        .normalization(
            settings
                .normalize
                .parse()
                .map_err(|error: twindex::Error| invalid(&in_options(&error)))?,
        )
        .multiset(settings.multiset)
        .weighted(settings.weighted)
        .store_text(settings.store_text)
        .passages(settings.passages)
        .seed(settings.seed);
    if let Some(tables) = settings.unicode {
        options = options.unicode(UnicodeVersions {
            case: tables.case,
            normalization: tables.normalization,
            segmentation: tables.segmentation,
        });
    }
    let settings = options.settings().map_err(|error| invalid(&in_options(&error)))?;
    Ok(Header { settings, documents })
}

#[derive(Serialize)]
struct DocumentOut<'a> {
    id: &'a str,
    set_size: u64,
    set_code: u32,
    signature: &'a str,
    text_bytes: u64,
    text_hash: &'a str,
    inserted: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    fingerprints: Option<&'a str>,
}

#[derive(Deserialize)]
struct DocumentIn<'a> {
    #[serde(borrow)]
    id: Cow<'a, str>,
    set_size: Option<u64>,
    set_code: Option<u32>,
    #[serde(borrow)]
    signature: Cow<'a, str>,
    text_bytes: Option<u64>,
    #[serde(borrow)]
    text_hash: Option<Cow<'a, str>>,
    inserted: Option<i64>,
    #[serde(borrow)]
    text: Option<Cow<'a, str>>,
    #[serde(borrow)]
    fingerprints: Option<Cow<'a, str>>,
}

/// Returns the line of a document.
pub(crate) fn line(document: &Document) -> anyhow::Result<String> {
    let weights = document.weights()?.map(|weights| weights.to_export());
    let signature = document.signature();
    let text = document.text().or(weights.as_deref());
    // With the text, they can be made again.
    let fingerprints = document.fingerprints().filter(|_| text.is_none()).map(to_hex);
    Ok(serde_json::to_string(&DocumentOut {
        id: document.id(),
        set_size: signature.set_size().estimate() as u64,
        set_code: signature.set_size().pack(),
        signature: &to_hex(signature.lanes()),
        text_bytes: document.text_bytes(),
        text_hash: &document.text_hash().to_string(),
        inserted: document.inserted().map(seconds_of),
        text,
        fingerprints: fingerprints.as_deref(),
    })?)
}

/// How the lines of documents are read.
#[derive(Clone, Copy)]
pub(crate) struct LineReader<'s> {
    /// The sketcher of the index. The signatures must have as many lanes.
    pub(crate) sketcher: &'s Sketcher,
    /// Whether the index stores texts, so that each line must have one.
    pub(crate) with_text: bool,
    /// Whether the index has fingerprints of passages, which come from the text if it stores texts.
    pub(crate) with_passages: bool,
    /// Whether the signatures were made with the Unicode tables of this program.
    pub(crate) same_tables: bool,
}

/// Reads the line of a document.
///
/// A text that does not match the other fields is refused, so that no document has a signature that
/// is not its own. If the signature was made with other Unicode tables, the text decides: its
/// signature is taken, as `add` and `rebuild` do.
pub(crate) fn read_line(line: &[u8], reader: LineReader<'_>) -> Result<Document, String> {
    let LineReader { sketcher, with_text, with_passages, same_tables } = reader;
    let lanes = sketcher.lanes();
    let found: DocumentIn<'_> = serde_json::from_slice(line).map_err(|error| json_error(&error))?;
    let signature = from_hex(&found.signature).ok_or("`signature` is not hexadecimal")?;
    if signature.len() != lanes {
        return Err(format!("`signature` has {} lanes, expected {lanes}", signature.len()));
    }
    let size = match (found.set_code, found.set_size) {
        (Some(code), _) => SetSize::unpack(code).ok_or("`set_code` is impossible")?,
        (None, Some(size)) => SetSize::about(size),
        (None, None) => return Err("no field `set_code` or `set_size`".into()),
    };
    if size.is_empty() && signature.iter().any(|lane| *lane != 0) {
        return Err("an empty set has a signature that is not zero".into());
    }
    let document = Document::from_signature(found.id, Signature::new(signature.into(), size))
        .map_err(|error| error.to_string())?;
    if with_text && found.text.is_none() {
        return Err("no field `text`, which the index is to store".into());
    }
    let hash = match &found.text_hash {
        None => document.text_hash(),
        Some(digits) => digits
            .parse()
            .map_err(|_| "`text_hash` is not 32 hexadecimal digits, or 16 of format 1")?,
    };
    let document = match found.text {
        Some(text) => {
            let weights = sketcher.is_weighted().then(|| Weights::from_export(&text)).transpose();
            let weights = weights.map_err(|error| error.to_string())?;
            let content = weights.as_ref().map_or(Content::Text(&text), Content::Weights);
            let (own_hash, own_bytes) = (content.text_hash(), text.len() as u64);
            let is_same = (found.text_hash.is_none() || content.has_hash(hash))
                && found.text_bytes.is_none_or(|bytes| bytes == own_bytes);
            if !is_same {
                return Err("`text` is not the text of the other fields".into());
            }
            let own = sketcher.signature(content).map_err(|error| error.to_string())?;
            let given = document.signature();
            // A size without its code is rounded.
            let has_own = match found.set_code {
                Some(_) => own == *given,
                None => own.lanes() == given.lanes(),
            };
            if same_tables && !has_own {
                return Err("`signature` is not that of `text`".into());
            }
            let document = Document::sketch(document.id(), content, sketcher);
            let document = document.map_err(|error| error.to_string())?;
            if with_text {
                document.with_content(content)
            } else {
                document.with_text_hash(own_hash, own_bytes)
            }
        }
        None => document.with_text_hash(hash, found.text_bytes.unwrap_or(0)),
    };
    let document = match &found.fingerprints {
        Some(digits) if !with_text => {
            let bytes = from_hex(digits).ok_or("`fingerprints` is not hexadecimal")?;
            document.with_fingerprints(&bytes).map_err(|error| error.to_string())?
        }
        None if with_passages && !with_text => {
            return Err("no field `fingerprints`, which the index is to store".into());
        }
        _ => document,
    };
    Ok(match found.inserted {
        Some(seconds) => {
            let time = time_of(seconds).ok_or("`inserted` is no time of this system")?;
            document.inserted_at(time)
        }
        None => document,
    })
}

fn to_hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(2 * bytes.len()), |mut hex, byte| {
        let _ = write!(hex, "{byte:02x}");
        hex
    })
}

/// Decodes hexadecimal digits, or returns `None` if the text has anything else.
fn from_hex(text: &str) -> Option<Vec<u8>> {
    let digit = |byte: u8| char::from(byte).to_digit(16).map(|digit| digit as u8);
    let (pairs, rest) = text.as_bytes().as_chunks::<2>();
    let bytes = pairs.iter().map(|[high, low]| Some(digit(*high)? << 4 | digit(*low)?));
    if rest.is_empty() { bytes.collect() } else { None }
}

/// Describes a JSON error by its column only, because each text has a single line.
fn json_error(error: &serde_json::Error) -> String {
    let said = error.to_string();
    match said.split_once(" at line 1 ") {
        Some((what, column)) => format!("{what} at {column}"),
        None => said,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use twindex::{Normalization, Shingle, Shingler};

    fn sketcher() -> Sketcher {
        let shingler = Shingler::new(Shingle::default(), Normalization::default(), false, 0);
        Sketcher::new(shingler.expect("valid"), 64, 0).expect("valid")
    }

    #[test]
    fn a_text_that_does_not_match_the_other_fields_is_refused() {
        let sketcher = sketcher();
        let document = |text: &str| {
            let document = Document::sketch("a", text, &sketcher).expect("a valid id");
            line(&document.with_content(text)).expect("JSON")
        };
        let (one, other) = (document("one text of some length"), document("another text"));
        let reader = LineReader {
            sketcher: &sketcher,
            with_text: true,
            with_passages: false,
            same_tables: true,
        };
        let read = |line: &str| read_line(line.as_bytes(), reader);
        assert!(read(&one).is_ok() && read(&other).is_ok());
        let mixed = one.replace("one text of some length", "one text of same length");
        assert!(read(&mixed).expect_err("refused").contains("is not the text"));
        // Without `text_hash` and `text_bytes`, the text is checked against the signature.
        let bare = |line: &str| {
            let start = line.find(",\"text_bytes\"").expect("a field");
            let end = line.find(",\"inserted\"").expect("a field");
            format!("{}{}", &line[..start], &line[end..])
        };
        assert!(read(&bare(&one)).is_ok());
        assert!(read(&bare(&mixed)).is_err());
    }

    #[test]
    fn a_signature_that_is_not_that_of_the_text_beside_it_is_refused() {
        let sketcher = sketcher();
        let document = |text: &str| {
            let document = Document::sketch("a", text, &sketcher).expect("a valid id");
            line(&document.with_content(text)).expect("JSON")
        };
        let (one, other) = (document("one text of some length"), document("quite another text"));
        let signature = |line: &str| {
            let fields: serde_json::Value = serde_json::from_str(line).expect("JSON");
            fields["signature"].as_str().expect("a signature").to_owned()
        };
        let forged = one.replace(&signature(&one), &signature(&other));
        let own = Document::sketch("a", "one text of some length", &sketcher).expect("valid");
        for with_text in [true, false] {
            let reader = LineReader {
                sketcher: &sketcher,
                with_text,
                with_passages: false,
                same_tables: true,
            };
            assert!(read_line(one.as_bytes(), reader).is_ok());
            let error = read_line(forged.as_bytes(), reader).expect_err("refused");
            assert!(error.contains("`signature` is not that of `text`"), "{error}");
            let older = LineReader { same_tables: false, ..reader };
            let read = read_line(forged.as_bytes(), older).expect("the text decides");
            assert_eq!(read.signature(), own.signature());
        }
    }

    #[test]
    fn a_document_is_read_as_it_was_written() {
        for size in [SetSize::EMPTY, SetSize::about(1), SetSize::about(3_000_000)] {
            let lane = if size.is_empty() { 0 } else { 0xA7 };
            let signature = Signature::new(vec![lane; 64].into(), size);
            let hash = "00f0000000000001".parse().expect("digits");
            let id = "a \"quoted\"\tid\u{e9}";
            let document = Document::from_signature(id, signature).expect("a valid id");
            let document =
                document.with_text_hash(hash, 17).inserted_at(time_of(-3).expect("a time"));
            let reader = LineReader {
                sketcher: &sketcher(),
                with_text: false,
                with_passages: false,
                same_tables: true,
            };
            let line = line(&document).expect("JSON");
            let read = read_line(line.as_bytes(), reader).expect("read");
            assert_eq!(read.id(), id);
            assert_eq!(read.signature(), document.signature());
            assert_eq!((read.text_hash(), read.text_bytes()), (hash, 17));
            assert_eq!(read.inserted(), time_of(-3));
        }
    }

    #[test]
    fn a_document_from_another_program_needs_an_id_a_signature_and_a_size() {
        let hex = "ab".repeat(64);
        let sketcher = sketcher();
        let reader = LineReader {
            sketcher: &sketcher,
            with_text: false,
            with_passages: false,
            same_tables: true,
        };
        let read = |line: String| read_line(line.as_bytes(), reader);
        let least = format!("{{\"id\":\"a\",\"signature\":\"{hex}\",\"set_size\":20}}");
        let document = read(least).expect("enough");
        let same = Document::from_signature("a", document.signature().clone()).expect("valid");
        assert_eq!((document.text_hash(), document.inserted()), (same.text_hash(), None));
        assert_eq!(document.signature().set_size().estimate(), 20.0);
        for (line, cause) in [
            (format!("{{\"id\":\"a\",\"signature\":\"{hex}\"}}"), "no field `set_code`"),
            (format!("{{\"signature\":\"{hex}\",\"set_size\":1}}"), "missing field `id`"),
            (format!("{{\"id\":\"\",\"signature\":\"{hex}\",\"set_size\":1}}"), "bytes"),
            (format!("{{\"id\":\"a\",\"signature\":\"{hex}0\",\"set_size\":1}}"), "hexadecimal"),
            (format!("{{\"id\":\"a\",\"signature\":\"{hex}00\",\"set_size\":1}}"), "65 lanes"),
            (format!("{{\"id\":\"a\",\"signature\":\"{hex}\",\"set_size\":0}}"), "empty set"),
            (
                format!("{{\"id\":\"a\",\"signature\":\"{hex}\",\"set_code\":4294967295}}"),
                "impossible",
            ),
            (
                format!(
                    "{{\"id\":\"a\",\"signature\":\"{hex}\",\"set_size\":1,\"text_hash\":\"+1\"}}"
                ),
                "32 hexadecimal digits",
            ),
            ("[1]".into(), "invalid type"),
            ("{\"id\":".into(), "EOF"),
        ] {
            let error = read(line.clone()).expect_err(&line);
            assert!(error.contains(cause) && !error.contains("line 1"), "{line}: {error}");
        }
    }

    #[test]
    fn a_line_without_a_text_is_shorter_than_100_000_bytes() {
        let signature = Signature::new(vec![255; 512].into(), SetSize::about(9));
        let id = "\u{1}".repeat(twindex::MAX_ID_BYTES);
        let document = Document::from_signature(id, signature).expect("a valid id");
        assert!(line(&document).expect("JSON").len() < 100_000);
    }
}
