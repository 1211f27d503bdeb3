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
    /// Whether an option names the encoding of the input.
    is_encoded: bool,
    /// Whether the file was said to be perhaps in another encoding.
    advised: bool,
}

impl BadRecords {
    pub(crate) fn new(is_encoded: bool) -> Self {
        Self { is_encoded, ..Self::default() }
    }

    /// The messages to print now that this record was met.
    pub(crate) fn add(&mut self, bad: &BadRecord) -> Vec<String> {
        let mut messages = Vec::new();
        if bad.file() != self.file {
            messages.extend(self.finish());
            bad.file().clone_into(&mut self.file);
            self.advised = false;
        }
        // What is wrong with a file as a whole, as when it is cut short, is always shown.
        let of_a_line = bad.place != self.file;
        self.seen += u64::from(of_a_line);
        if self.seen <= SHOWN || !of_a_line {
            let mut message = bad.to_string();
            let is_new = !self.is_encoded && !self.advised;
            if let Some(advice) = is_new.then(|| bad.encoding_advice()).flatten() {
                message += &advice;
                self.advised = true;
            }
            messages.push(message);
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
    fn a_file_in_another_encoding_is_advised_once() {
        let bad = |place: &str| BadRecord {
            place: place.into(),
            cause: "not valid UTF-8 at byte 7".into(),
        };
        let count = |is_encoded| {
            let mut bad_records = BadRecords::new(is_encoded);
            let places = ["a:1", "a:2", "b:1", "b:2"];
            let messages = places.iter().flat_map(|place| bad_records.add(&bad(place)));
            let advised = messages.map(|message| message.contains("--encoding latin1"));
            advised.collect::<Vec<_>>()
        };
        assert_eq!(count(false), [true, false, true, false]);
        assert_eq!(count(true), [false; 4]);
    }

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
