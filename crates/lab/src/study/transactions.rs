//! Transactions by columns: the transactions that contain each item.

use super::StudyContext;
use super::gospel_texts::{NORMALIZATION, Translation};
use rustc_hash::FxHashMap;
use std::borrow::Cow;
use std::io::{self, BufRead, BufReader};
use std::path::Path;
use twindex::{Error, Result};
use twindex_cli::input::open_text;

/// The layout of a file of transactions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct TransactionLayout {
    /// The separator of items; by default any amount of white space and commas.
    pub(crate) separator: Option<char>,
    /// Whether the file is a matrix: the first line names the items, and every other line has a 1
    /// or a 0 for each item.
    pub(crate) matrix: bool,
}

/// A matrix of transactions and items, stored by columns. Takes 4 bytes for each item of each
/// transaction.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Transactions {
    /// The items in order of appearance.
    pub(crate) items: Vec<String>,
    /// For each item, the ascending numbers of the transactions with it.
    pub(crate) columns: Vec<Vec<u32>>,
    /// The number of transactions.
    pub(crate) count: u32,
}

/// The number of lines between two reports of progress.
const LINES: u64 = 10_000;

impl Transactions {
    /// Reads a file or standard input line by line, decompressing it if necessary. Empty lines are
    /// ignored. An item that is repeated in a transaction counts once.
    ///
    /// # Errors
    ///
    /// [`Error::Io`] with the line, for a file that cannot be read, is not UTF-8, has fewer than
    /// two transactions, or is not a valid matrix.
    pub(crate) fn read(
        path: &Path,
        layout: TransactionLayout,
        context: &StudyContext<'_>,
    ) -> Result<Self> {
        let failed =
            |source| Error::Io { path: path.to_owned(), action: "reading transactions", source };
        let text = open_text(path).map_err(|bad| failed(io::Error::other(bad.cause)))?;
        // The size of standard input is unknown, and that of a compressed file is too small.
        let bytes = std::fs::metadata(path).map_or(0, |found| found.len());
        let (mut reader, mut line) = (BufReader::new(text), Vec::new());
        let mut builder = TransactionsBuilder::new(layout);
        let (mut number, mut done) = (0, 0);
        loop {
            line.clear();
            let read = reader.read_until(b'\n', &mut line).map_err(failed)?;
            if read == 0 {
                break;
            }
            done += read as u64;
            number += 1;
            if number % LINES == 0 {
                context.at(done, bytes.max(done))?;
            }
            builder
                .line(&line)
                .map_err(|what| failed(io::Error::other(format!("line {number} {what}"))))?;
        }
        builder.finish().map_err(|what| failed(io::Error::other(what)))
    }

    /// The verses of the four Gospels as transactions of their words of at least three letters, in
    /// lower case.
    pub(crate) fn of_verses(translation: &Translation) -> Self {
        let mut builder = TransactionsBuilder::new(TransactionLayout::default());
        for verse in translation.texts.iter().flat_map(|text| text.lines()) {
            let words = NORMALIZATION.apply(verse);
            if !words.is_empty() {
                builder.transaction(words.split(' '));
            }
        }
        builder.all
    }

    /// The total number of items of all transactions.
    pub(crate) fn occurrences(&self) -> u64 {
        self.columns.iter().map(|column| column.len() as u64).sum()
    }
}

struct TransactionsBuilder {
    layout: TransactionLayout,
    all: Transactions,
    numbers: FxHashMap<String, usize>,
    /// For a matrix, the number of columns in its first line.
    width: Option<usize>,
}

impl TransactionsBuilder {
    fn new(layout: TransactionLayout) -> Self {
        let (all, numbers) = (Transactions::default(), FxHashMap::default());
        Self { layout, all, numbers, width: None }
    }

    /// Reads a line. An error continues the text "line N".
    fn line(&mut self, line: &[u8]) -> Result<(), String> {
        let text = std::str::from_utf8(line).map_err(|_| {
            "is not UTF-8; convert the file, for example with iconv -t utf-8".to_owned()
        })?;
        let text = text.trim_start_matches('\u{feff}').trim_end_matches(['\n', '\r']);
        let separator = self.layout.separator;
        // In a matrix with tabs, a row without items can be a line of tabs alone.
        let is_row =
            |width: usize| width > 1 && cells(text, separator).is_ok_and(|c| c.len() == width);
        if text.trim().is_empty() && !self.width.is_some_and(is_row) {
            return Ok(());
        }
        if self.all.count == u32::MAX {
            return Err(format!("is one too many: at most {} transactions", u32::MAX));
        }
        match (self.layout.matrix, self.width) {
            (false, _) => {
                let parts = match separator {
                    Some(separator) => separated(text, separator)?,
                    None => words(text.split(|c: char| c.is_whitespace() || c == ','))?,
                };
                self.transaction(parts.iter().map(Cow::as_ref).filter(|item| !item.is_empty()));
            }
            (true, None) => {
                let names = cells(text, separator)?;
                for name in &names {
                    self.column(name);
                }
                if self.all.items.len() < names.len() {
                    return Err(
                        "names an item twice; give every column a name of its own".to_owned()
                    );
                }
                self.width = Some(names.len());
            }
            (true, Some(width)) => self.row(&cells(text, separator)?, width)?,
        }
        Ok(())
    }

    fn column(&mut self, item: &str) -> usize {
        if let Some(number) = self.numbers.get(item) {
            return *number;
        }
        let number = self.all.items.len();
        self.numbers.insert(item.to_owned(), number);
        self.all.items.push(item.to_owned());
        self.all.columns.push(Vec::new());
        number
    }

    fn transaction<'t>(&mut self, items: impl Iterator<Item = &'t str>) {
        for item in items {
            let column = self.column(item);
            self.put(column);
        }
        self.all.count += 1;
    }

    /// Adds an item, given by its column, to the current transaction.
    fn put(&mut self, column: usize) {
        let column = &mut self.all.columns[column];
        if column.last() != Some(&self.all.count) {
            column.push(self.all.count);
        }
    }

    fn row(&mut self, cells: &[Cow<'_, str>], width: usize) -> Result<(), String> {
        if cells.len() != width {
            return Err(format!(
                "has {} values, but the first line has {width} names",
                cells.len()
            ));
        }
        for (column, cell) in cells.iter().enumerate() {
            match cell.as_ref() {
                "1" => self.put(column),
                "0" | "" => {}
                other => return Err(format!("has {other:?}: expected 1, 0 or nothing")),
            }
        }
        self.all.count += 1;
        Ok(())
    }

    /// Returns all transactions, or what is wrong with them.
    fn finish(self) -> Result<Transactions, String> {
        match self.all.count {
            0 => Err("there is none; expected one per line".to_owned()),
            1 => Err("there is only one; expected one per line, and at least 2".to_owned()),
            _ => Ok(self.all),
        }
    }
}

/// Splits a line into items without surrounding white space. As in RFC 4180, an item may be
/// enclosed in quotation marks, and two quotation marks inside it stand for one.
fn separated(text: &str, separator: char) -> Result<Vec<Cow<'_, str>>, String> {
    let (mut items, mut rest) = (Vec::new(), Some(text));
    while let Some(text) = rest {
        // If the separator is a tab or a space, it does not count as surrounding white space.
        let begun = text.trim_start_matches(|c: char| c.is_whitespace() && c != separator);
        let Some(quoted) = begun.strip_prefix('"') else {
            let (item, after) = match text.split_once(separator) {
                Some((item, after)) => (item, Some(after)),
                None => (text, None),
            };
            items.push(Cow::Borrowed(item.trim()));
            rest = after;
            continue;
        };
        let (item, after) = unquoted(quoted)?;
        let after = after.trim_start_matches(|c: char| c.is_whitespace() && c != separator);
        items.push(Cow::Owned(item.trim().to_owned()));
        rest = match after.strip_prefix(separator) {
            None if after.is_empty() => None,
            None => {
                return Err(format!(
                    "has {:?} after a closing quotation mark: expected {separator:?}",
                    after.chars().take(SHOWN).collect::<String>()
                ));
            }
            after => after,
        };
    }
    Ok(items)
}

/// The most characters of the wrong text to show in a message.
const SHOWN: usize = 20;

/// The text up to the closing quotation mark, and the rest after it. The opening quotation mark is
/// already removed.
fn unquoted(mut text: &str) -> Result<(String, &str), String> {
    let mut item = String::new();
    while let Some((part, after)) = text.split_once('"') {
        item.push_str(part);
        match after.strip_prefix('"') {
            Some(after) => text = after,
            None => return Ok((item, after)),
        }
        item.push('"');
    }
    Err("has an unclosed quotation mark; an item cannot continue on another line".to_owned())
}

/// Removes the quotation marks around words. A word with a quotation mark on one side only is a
/// part of a longer item, which is an error.
fn words<'t>(all: impl Iterator<Item = &'t str>) -> Result<Vec<Cow<'t, str>>, String> {
    let word = |word: &'t str| {
        let Some(quoted) = word.strip_prefix('"') else { return Ok(Cow::Borrowed(word)) };
        match unquoted(quoted) {
            Ok((word, "")) => Ok(Cow::Owned(word)),
            _ => {
                Err("has a quotation mark before an item of several words; name the separator of \
                      items, such as --separator comma"
                    .to_owned())
            }
        }
    };
    all.map(word).collect()
}

/// The cells of a row of a matrix. Each comma or tab separates two cells; without them, any amount
/// of white space does.
fn cells(text: &str, separator: Option<char>) -> Result<Vec<Cow<'_, str>>, String> {
    let one = separator.or_else(|| [',', '\t'].into_iter().find(|mark| text.contains(*mark)));
    match one {
        Some(separator) => separated(text, separator),
        None => words(text.split_whitespace()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(content: &[u8], layout: TransactionLayout) -> Result<Transactions, String> {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = folder.path().join("t.txt");
        std::fs::write(&path, content).expect("written");
        let read = Transactions::read(&path, layout, &StudyContext::unwatched(0));
        read.map_err(|error| match std::error::Error::source(&error) {
            Some(cause) => format!("{error}: {cause}"),
            None => error.to_string(),
        })
    }

    fn columns(transactions: &Transactions) -> Vec<(&str, &[u32])> {
        let items = transactions.items.iter().map(String::as_str);
        items.zip(transactions.columns.iter().map(Vec::as_slice)).collect()
    }

    #[test]
    fn items_stand_between_white_space_and_commas_and_count_once() {
        let read = read(
            b"\xef\xbb\xbfbread, milk\r\n\n  \nmilk\tmilk eggs,\n,bread",
            TransactionLayout::default(),
        );
        let read = read.expect("well-formed");
        assert_eq!(read.count, 3);
        assert_eq!(columns(&read), [("bread", &[0, 2][..]), ("milk", &[0, 1]), ("eggs", &[1])]);
        assert_eq!(read.occurrences(), 5);
    }

    #[test]
    fn items_of_several_words_need_a_separator() {
        let layout = TransactionLayout { separator: Some(';'), ..TransactionLayout::default() };
        let read = read(b"whole milk; \"white, sliced bread\"\nwhole milk;;\n", layout);
        let read = read.expect("well-formed");
        assert_eq!(columns(&read), [("whole milk", &[0, 1][..]), ("white, sliced bread", &[0])]);
    }

    #[test]
    fn an_item_in_quotation_marks_may_contain_the_separator() {
        for (separator, line, expected) in [
            (',', "\"a, b\",c", &["a, b", "c"][..]),
            (',', " \"a \"\"b\"\"\" , c \"d\" ,", &["a \"b\"", "c \"d\"", ""]),
            (',', "\"\",\"\"\"\"", &["", "\""]),
            ('\t', "\"a\tb\"\t\t\"c\"", &["a\tb", "", "c"]),
            (' ', "\"a b\" c", &["a b", "c"]),
        ] {
            assert_eq!(separated(line, separator).expect("well-formed"), expected, "{line}");
        }
    }

    #[test]
    fn a_compressed_file_is_decompressed() {
        let mut packed = Vec::new();
        let mut encoder = zstd::Encoder::new(&mut packed, 0).expect("an encoder");
        io::Write::write_all(&mut encoder, b"a b\na\n").expect("packed");
        encoder.finish().expect("packed");
        let read = read(&packed, TransactionLayout::default()).expect("well-formed");
        assert_eq!(columns(&read), [("a", &[0, 1][..]), ("b", &[0])]);
    }

    #[test]
    fn a_matrix_gives_the_same_as_lists_of_its_rows() {
        let layout = TransactionLayout { matrix: true, ..TransactionLayout::default() };
        let expected = read(b"a c\nb\nc a b\n", TransactionLayout::default()).expect("well-formed");
        for matrix in [
            "a,\"c\",b\n1,1,0\n,,1\n1,1,1\n",
            "a c  b\n1 1 0\n0 0 1\n1 1 1\n",
            "a\tc\tb\n1\t1\t\n\t\t1\n1\t1\t1",
        ] {
            assert_eq!(read(matrix.as_bytes(), layout).as_ref(), Ok(&expected), "{matrix}");
        }
    }

    #[test]
    fn a_row_of_a_matrix_without_items_is_a_transaction_with_any_separator() {
        let layout = TransactionLayout { matrix: true, ..TransactionLayout::default() };
        for matrix in ["a,b\n1,1\n,\n1,0\n", "a\tb\n1\t1\n\t\n1\t\n", "a b\n1 1\n0 0\n \n1 0\n"] {
            let read = read(matrix.as_bytes(), layout).expect("well-formed");
            assert_eq!(read.count, 3, "{matrix:?}");
            assert_eq!(columns(&read), [("a", &[0, 2][..]), ("b", &[0])], "{matrix:?}");
        }
    }

    #[test]
    fn errors_name_the_line() {
        let (list, matrix) = (
            TransactionLayout::default(),
            TransactionLayout { matrix: true, ..TransactionLayout::default() },
        );
        let comma = TransactionLayout { separator: Some(','), ..TransactionLayout::default() };
        for (content, layout, message) in [
            (&b"a b\n\xff\n"[..], list, "line 2 is not UTF-8"),
            (b"a\n\"b c\",d\n", list, "line 2 has a quotation mark before an item of several"),
            (b"\"a,b\n", comma, "line 1 has an unclosed quotation mark"),
            (b"\"a\" b,c\n", comma, "line 1 has \"b,c\" after a closing quotation mark"),
            (b"\n \n", list, "there is none"),
            (b"a b\n\n", list, "there is only one"),
            (b"a,b\n", matrix, "there is none"),
            (b"a,b,a\n1,0,1\n1,1,1\n", matrix, "line 1 names an item twice"),
            (b"a,b\n1,0\n1\n", matrix, "line 3 has 1 values, but the first line has 2 names"),
            (b"a,b\n1,yes\n0,1\n", matrix, "line 2 has \"yes\": expected 1, 0 or nothing"),
        ] {
            let error = read(content, layout).expect_err(message);
            assert!(
                error.contains("t.txt: reading transactions: ") && error.contains(message),
                "{error}"
            );
        }
        let missing = Transactions::read(Path::new("no/such"), list, &StudyContext::unwatched(0));
        assert!(missing.is_err_and(|error| error.to_string().starts_with("no/such: reading")));
    }

    #[test]
    fn verses_are_transactions_of_words() {
        let [_, english] = super::super::gospel_texts::embedded();
        let verses = Transactions::of_verses(&english);
        let lines = english.texts.iter().flat_map(|text| text.lines());
        assert_eq!(verses.count as usize, lines.filter(|line| line.len() > 2).count());
        let column = |word: &str| {
            let at = verses.items.iter().position(|item| item == word).expect("a word");
            verses.columns[at].len()
        };
        let verses_with = |word: &str| {
            let lines = english.texts.iter().flat_map(|text| text.lines());
            let words = |line: &str| {
                line.to_lowercase().split(|c: char| !c.is_alphanumeric()).any(|w| w == word)
            };
            lines.filter(|line| words(line)).count()
        };
        for word in ["pharisees", "verily", "myrrh"] {
            assert_eq!(column(word), verses_with(word), "{word}");
        }
    }
}
