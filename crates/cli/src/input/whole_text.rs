//! Reads one input as one text.

use super::batch::Sharing;
use super::format::Format;
use super::inputs::Inputs;
use super::record::BadRecord;
use super::source::Reading;
use std::path::Path;

/// Reads one file or standard input as one text.
pub fn whole_text(path: &Path, most: usize) -> Result<String, BadRecord> {
    if path.is_dir() {
        let cause = "is a directory; name a file".to_owned();
        return Err(BadRecord { place: path.display().to_string(), cause });
    }
    let paths = vec![path.to_owned()];
    let reading = Reading::new(Inputs { paths, format: Format::Text, most, ..Inputs::default() });
    let mut text = String::new();
    for (batch, _) in reading {
        for part in batch
            .parse(Sharing::Batches, |record| Ok(record.body.text().unwrap_or_default().to_owned()))
        {
            text.push_str(&part?);
        }
    }
    Ok(text)
}
