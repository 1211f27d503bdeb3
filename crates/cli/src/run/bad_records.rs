//! The messages about bad records: a line for each, up to some of a file, then their number.

use crate::input::BadRecord;
use crate::terminal::output::grouped;

/// The most bad records of a file that have a message each. More would hide everything else.
const SHOWN: u64 = 10;

/// The bad records of the file that is being read.
#[derive(Default)]
pub(crate) struct BadRecords {
    file: String,
    seen: u64,
}

impl BadRecords {
    /// The messages to print now that this record was met.
    pub(crate) fn add(&mut self, bad: &BadRecord) -> Vec<String> {
        let mut messages = Vec::new();
        if bad.file() != self.file {
            messages.extend(self.finish());
            bad.file().clone_into(&mut self.file);
        }
        // What is wrong with a file as a whole, as when it is cut short, is always shown.
        let of_a_line = bad.place != self.file;
        self.seen += u64::from(of_a_line);
        if self.seen <= SHOWN || !of_a_line {
            messages.push(bad.to_string());
        }
        messages
    }

    /// The message at the end of the file: how many more bad records it had.
    pub(crate) fn finish(&mut self) -> Option<String> {
        let more = std::mem::take(&mut self.seen).saturating_sub(SHOWN);
        let records = if more == 1 { "record" } else { "records" };
        (more > 0).then(|| format!("{}: {} more bad {records}", self.file, grouped(more)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn after_ten_bad_records_of_a_file_comes_a_count() {
        let mut bad_records = BadRecords::default();
        let mut messages = Vec::new();
        for (file, count) in [("a:b", 12), ("c", 10), ("d", 11)] {
            for line in 0..count {
                let bad = BadRecord { place: format!("{file}:{line}"), cause: "bad".into() };
                messages.extend(bad_records.add(&bad));
            }
        }
        for whole in ["d", "e"] {
            let bad = BadRecord { place: whole.into(), cause: "cut short".into() };
            messages.extend(bad_records.add(&bad));
        }
        messages.extend(bad_records.finish());
        assert_eq!(messages.len(), 10 + 1 + 10 + 10 + 1 + 1 + 1);
        assert_eq!(messages[9..12], ["a:b:9: bad", "a:b: 2 more bad records", "c:0: bad"]);
        assert_eq!(messages[31..], ["d: cut short", "d: 1 more bad record", "e: cut short"]);
    }
}
