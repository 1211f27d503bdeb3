//! Parses records of a table (CSV, TSV), whose header names the columns.

use super::json::Fields;
use super::names::shortened;
use super::record::{
    BYTE_ORDER_MARK, BadRecord, Body, Naming, RawRecord, Record, RecordName, WANTS_WEIGHTS,
    not_utf8, too_long,
};
use super::rows::{Cut, RawRow, RowBlock, RowBlocks, begin, parser};
use super::text_form::TextForm;
use csv_core::{ReadRecordResult, Reader};
use std::borrow::Cow;
use std::io::Read;
use std::ops::Range;
use std::sync::Arc;

/// The table that records come from.
pub struct Table {
    /// Its name in messages.
    pub(super) path: String,
    header: Arc<[u8]>,
    delimiter: u8,
    columns: usize,
    /// The column of the id, if there is one.
    id: Option<usize>,
    /// The column of the text.
    text: usize,
    fields: Fields,
    naming: Naming,
    /// The most bytes of a record.
    most: usize,
}

impl Table {
    /// Whether tabs divide its fields.
    pub(super) fn has_tabs(&self) -> bool {
        self.delimiter == b'\t'
    }

    /// The first record as it was read, with its line end.
    pub(super) fn header(&self) -> &Arc<[u8]> {
        &self.header
    }

    /// Reads the header of a table.
    pub(super) fn begin<R: Read>(
        rows: &mut RowBlocks<R>,
        path: String,
        delimiter: u8,
        fields: &Fields,
        naming: Naming,
        most: usize,
    ) -> Result<Self, BadRecord> {
        let bad = |cause: String| BadRecord { place: path.clone(), cause };
        if fields.weighted {
            return Err(bad(format!("a table, but {WANTS_WEIGHTS}")));
        }
        let block = rows.header().map_err(|error| bad(error.to_string()))?;
        let block = block
            .ok_or_else(|| bad("empty; expected a header with the names of the columns".into()))?;
        if let Some((_, cut)) = block.cut {
            return Err(bad(format!("its header: {}", explained(cut, most))));
        }
        let header: Arc<[u8]> = block.rows().first().map(|row| row.raw).unwrap_or_default().into();
        if header.len() > most {
            return Err(bad(format!("its header: {}", too_long(most))));
        }
        let mut places = Vec::new();
        let unmarked = header.strip_prefix(BYTE_ORDER_MARK).unwrap_or(&header);
        let bytes = unquoted(&mut parser(delimiter), unmarked, |_, place| places.push(place));
        let names: Vec<_> =
            places.into_iter().map(|place| String::from_utf8_lossy(&bytes[place])).collect();
        let find = |name: &str, option: &str| {
            let mut found = (0..names.len()).filter(|column| names[*column] == name);
            match (found.next(), found.next()) {
                (Some(_), Some(_)) => Err(bad(format!("two columns are called `{name}`"))),
                (Some(column), None) => Ok(column),
                (None, _) if separated_otherwise(&names) => Err(bad(format!(
                    "its header is one column, {}; columns are separated by commas in CSV and by \
                     tabs in TSV",
                    shortened(names.iter().map(|name| &**name))
                ))),
                (None, _) => Err(bad(format!(
                    "no column `{name}` in its header {}; name another with {option}",
                    shortened(names.iter().map(|name| &**name))
                ))),
            }
        };
        let text = find(&fields.text, "--text-field")?;
        let is_optional = matches!(naming, Naming::Prefix(_) | Naming::Automatic);
        let id = match &fields.id {
            Some(id) if !is_optional || names.iter().any(|name| name == id) => {
                Some(find(id, "--id-field")?)
            }
            _ => None,
        };
        let (columns, fields) = (names.len(), fields.clone());
        Ok(Self { header, delimiter, columns, id, text, fields, naming, most, path })
    }

    fn bad(&self, line: u64, cause: String) -> BadRecord {
        BadRecord { place: format!("{}:{line}", self.path), cause }
    }

    /// The error for the record that was left out of a block, if any.
    pub(super) fn left_out(&self, block: &RowBlock) -> Option<BadRecord> {
        block.cut.map(|(line, cut)| self.bad(line, explained(cut, self.most)))
    }

    /// A parser of its records, which can be reused.
    pub(super) fn parser(&self) -> Reader {
        parser(self.delimiter)
    }

    /// Parses a record.
    pub(super) fn record<'a>(
        &'a self,
        parser: &mut Reader,
        row: RawRow<'a>,
    ) -> Result<Record<'a>, BadRecord> {
        let RawRow { line, raw } = row;
        let length = raw.strip_suffix(b"\n").unwrap_or(raw);
        if length.strip_suffix(b"\r").unwrap_or(length).len() > self.most {
            return Err(self.bad(line, too_long(self.most)));
        }
        let (mut count, mut id, mut text) = (0, None, 0..0);
        let mut bytes = unquoted(parser, raw, |column, place| {
            count += 1;
            if Some(column) == self.id {
                id = Some(place);
            } else if column == self.text {
                text = place;
            }
        });
        if self.id == Some(self.text) {
            text = id.clone().unwrap_or_default();
        }
        if count != self.columns {
            let fields = if count == 1 { "field" } else { "fields" };
            let cause = format!("{count} {fields}, but the header has {}", self.columns);
            return Err(self.bad(line, cause));
        }
        let not_utf8 =
            |name: &str, error| self.bad(line, format!("field `{name}` is {}", not_utf8(error)));
        let name = match id {
            Some(id) => {
                let id = std::str::from_utf8(&bytes[id]);
                let name = self.fields.id.as_deref().unwrap_or_default();
                RecordName::Id(id.map_err(|error| not_utf8(name, error))?.to_owned())
            }
            None => self.naming.name(line).unwrap_or(RecordName::Automatic),
        };
        bytes.truncate(text.end);
        bytes.drain(..text.start);
        let text = String::from_utf8(bytes)
            .map_err(|error| not_utf8(&self.fields.text, error.utf8_error()))?;
        Ok(Record {
            name,
            body: Body::Text(Cow::Owned(text)),
            place: format!("{}:{line}", self.path),
            raw: RawRecord::Row { header: &self.header, bytes: raw.into() },
            form: TextForm::Field { delimiter: self.delimiter, column: self.text },
        })
    }
}

fn explained(cut: Cut, most: usize) -> String {
    match cut {
        Cut::TooLong => too_long(most),
        Cut::OpenQuote => "a quote opens in this record and is never closed".into(),
    }
}

/// Splits a record into fields and returns their bytes without quotes. Calls `field` with the
/// number of each field and its place in those bytes.
fn unquoted(
    parser: &mut Reader,
    raw: &[u8],
    mut field: impl FnMut(usize, Range<usize>),
) -> Vec<u8> {
    begin(parser);
    // Removing quotes makes nothing longer, but the parser needs room for one more byte.
    let mut out = vec![0; raw.len() + 1];
    let mut ends = [0; 64];
    let (mut written, mut number, mut start) = (0, 0, 0);
    let mut rest = raw;
    let mut line_end = &b"\n"[..];
    loop {
        let (found, read, wrote, ended) = parser.read_record(rest, &mut out[written..], &mut ends);
        rest = &rest[read..];
        written += wrote;
        for end in &ends[..ended] {
            field(number, start..*end);
            (number, start) = (number + 1, *end);
        }
        match found {
            ReadRecordResult::OutputEndsFull => {}
            // The last record may lack its line end.
            ReadRecordResult::InputEmpty if !line_end.is_empty() => {
                rest = std::mem::take(&mut line_end);
            }
            _ => return out,
        }
    }
}

/// Whether a header looks as if other characters separated its columns.
fn separated_otherwise(names: &[Cow<'_, str>]) -> bool {
    matches!(names, [name] if name.contains([',', ';', '\t', '|']))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    type Taken = Result<(RecordName, String), String>;

    /// The records of a table, or the error of its header.
    fn taken(text: &str, delimiter: u8, naming: Naming) -> Result<Vec<Taken>, String> {
        let fields = Fields { id: Some("id".into()), text: "text".into(), weighted: false };
        let mut rows = RowBlocks::new(text.as_bytes(), Vec::new(), delimiter, 1_000);
        let begun = Table::begin(&mut rows, "t".into(), delimiter, &fields, naming, 1_000);
        let table = begun.map_err(|bad| bad.to_string())?;
        let mut out = Vec::new();
        while let Some(block) = rows.next().expect("memory can be read") {
            out.extend(table.left_out(&block).map(|bad| Err(bad.to_string())));
            let mut parser = table.parser();
            let taken = |row| match table.record(&mut parser, row) {
                Ok(record) => Ok((record.name, record.body.text().expect("a text").to_owned())),
                Err(bad) => Err(bad.to_string()),
            };
            out.extend(block.rows().into_iter().map(taken));
        }
        Ok(out)
    }

    fn good(id: &str, text: &str) -> Taken {
        Ok((RecordName::Id(id.into()), text.into()))
    }

    #[test]
    fn fields_are_found_by_the_names_of_columns() {
        let table = "more,text,id\r\n1,\"a \"\"b\"\",\r\nc\",x\r\n2,,y";
        let all = taken(table, b',', Naming::Required).expect("a header");
        assert_eq!(all, [good("x", "a \"b\",\r\nc"), good("y", "")]);
        let table = "\u{feff}\"id\"\ttext\nx\t\"a\tb\"\ny\tc,d\n";
        let all = taken(table, b'\t', Naming::Required).expect("a header");
        assert_eq!(all, [good("x", "a\tb"), good("y", "c,d")]);
    }

    #[test]
    fn a_header_without_the_columns_is_one_error() {
        for (table, cause) in [
            ("", "t: empty"),
            ("\n\r\n", "t: empty"),
            ("id,body\na,b\n", "t: no column `text` in its header `id`, `body`;"),
            ("name,text\na,b\n", "t: no column `id` in its header `name`, `text`;"),
            ("id,text,text\n", "t: two columns are called `text`"),
            ("id,\"text\n", "t: its header: a quote opens"),
        ] {
            let error = taken(table, b',', Naming::Required).expect_err(table);
            assert!(error.starts_with(cause), "{error}");
        }
        let long = taken(&"é,".repeat(300), b',', Naming::Required).expect_err("no column");
        assert!(long.contains("...") && long.len() < 600, "{long}");
    }

    #[test]
    fn records_without_an_id_are_named_by_their_line() {
        let table = "text\n\"two\nlines\"\nb\n";
        let all = taken(table, b',', Naming::Prefix("p".into())).expect("a header");
        let numbered = |id: &str, text: &str| Ok((RecordName::Numbered(id.into()), text.into()));
        assert_eq!(all, [numbered("p:2", "two\nlines"), numbered("p:4", "b")]);
        let all = taken(table, b',', Naming::Automatic).expect("a header");
        assert_eq!(all[1], Ok((RecordName::Automatic, "b".into())));
    }

    #[test]
    fn a_record_with_too_many_or_few_fields_is_bad_and_reading_continues() {
        let all = taken("id,text\na,b,c\nd\n\ne,f\n\"g,h\n", b',', Naming::Required);
        let all = all.expect("a header");
        let causes = [
            "t:2: 3 fields, but the header has 2",
            "t:3: 1 field, but the header has 2",
            "t:6: a quote opens in this record and is never closed",
        ];
        assert_eq!(all[..2], [Err(causes[0].into()), Err(causes[1].into())]);
        assert_eq!(all[2..], [good("e", "f"), Err(causes[2].into())]);
    }

    #[test]
    fn a_table_of_many_columns_is_read() {
        let numbers: Vec<String> = (0..1_000).map(|n| n.to_string()).collect();
        let table = format!("{},id,text\n{},x,y", numbers.join(","), numbers.join(","));
        let wide = taken(&table.replace("text", "id,text"), b',', Naming::Required);
        assert!(wide.expect_err("too long for the limit").contains("longer"));
        let table = format!("{0}id,text\n{0}x,y", "c,".repeat(300));
        assert_eq!(taken(&table, b',', Naming::Required).expect("a header"), [good("x", "y")]);
    }

    /// A field in quotes, as RFC 4180 defines them.
    fn quoted(field: &str) -> String {
        format!("\"{}\"", field.replace('"', "\"\""))
    }

    proptest! {
        #[test]
        fn what_was_quoted_comes_back(
            fields in proptest::collection::vec(
                ("[a-c,\"\r\n\té]{0,9}", "[a-c,\"\r\n\té]{0,9}"), 0..9
            )
        ) {
            let rows = fields
                .iter()
                .map(|(id, text)| format!("{},{}\r\n", quoted(id), quoted(text)));
            let table = String::from("id,text\r\n") + &rows.collect::<String>();
            let expected: Vec<_> = fields.iter().map(|(id, text)| good(id, text)).collect();
            prop_assert_eq!(taken(&table, b',', Naming::Required), Ok(expected));
        }
    }
}
