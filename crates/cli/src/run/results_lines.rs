//! Results as lines of text: JSON, or a table of tab-separated columns or of CSV.

use crate::input::quoted;
use crate::run::output_names::NamedFormat;
use crate::run::results_file::ResultsFile;
use crate::run::results_table::Column;
use crate::terminal::escape::cell;
use crate::terminal::output::{ResultsSink, json_line, plain};
use serde_json::Value;
use std::borrow::Cow;
use std::io::{self, Write};
use std::path::Path;

/// Results as lines of text.
pub struct Lines {
    file: ResultsFile,
    form: Form,
}

enum Form {
    Json,
    Tabs,
    /// With the names of the columns.
    Csv(Vec<&'static str>),
}

impl Lines {
    /// Begins a file in the form that its name says. CSV begins with the names of the columns.
    pub fn new(path: &Path, mut file: ResultsFile, columns: &[Column]) -> io::Result<Self> {
        let form = match NamedFormat::of(path) {
            Some(NamedFormat::Csv) => {
                let names: Vec<_> = columns.iter().map(|(name, _)| *name).collect();
                file.write_all(csv_line(names.iter().copied().map(Cow::Borrowed)).as_bytes())?;
                Form::Csv(names)
            }
            Some(NamedFormat::Tsv) => Form::Tabs,
            _ => Form::Json,
        };
        Ok(Self { file, form })
    }
}

impl ResultsSink for Lines {
    fn row(&mut self, fields: &[(&str, Value)]) -> io::Result<()> {
        let line = match &self.form {
            Form::Json => json_line(fields)?,
            Form::Tabs => {
                let values = fields.iter().flat_map(|(_, value)| match value {
                    Value::Array(items) => items.as_slice(),
                    value => std::slice::from_ref(value),
                });
                values.map(|value| plain(value, cell)).collect::<Vec<_>>().join("\t") + "\n"
            }
            Form::Csv(names) => csv_line(names.iter().map(|name| {
                match fields.iter().find(|(field, _)| field == name) {
                    Some((_, Value::String(text))) => Cow::Borrowed(text.as_str()),
                    Some((_, Value::Null)) | None => Cow::Borrowed(""),
                    // A list is JSON, as CSV has none.
                    Some((_, value)) => Cow::Owned(value.to_string()),
                }
            })),
        };
        self.file.write_all(line.as_bytes())
    }

    fn finish(self: Box<Self>) -> io::Result<()> {
        self.file.finish()
    }
}

fn csv_line<'a>(fields: impl Iterator<Item = Cow<'a, str>>) -> String {
    let fields = fields.map(|field| quoted(&field, b',', false).into_owned());
    fields.collect::<Vec<_>>().join(",") + "\n"
}
