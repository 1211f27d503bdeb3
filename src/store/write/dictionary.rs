//! Trains and stores the dictionary that compresses the texts of an index.

use crate::error::Result;
use crate::store::bytes::codec::seal;
use crate::store::bytes::schema::{DICTIONARY_ROW, META, Table};
use crate::store::bytes::texts::{DICTIONARY_KEY, Dictionary};
use crate::store::document::Document;
use crate::store::storage_error::Doing;
use crate::store::write::writer::Writer;
use std::sync::Arc;

impl Writer {
    /// Trains a dictionary from the first batch that has enough texts, unless there already is one.
    pub(super) fn learn_dictionary(&mut self, documents: &[Document]) -> Result<()> {
        if self.state().dictionary.is_some() || documents.len() < Dictionary::MIN_TEXTS {
            return Ok(());
        }
        let texts: Vec<&str> = documents.iter().filter_map(|new| new.text.as_deref()).collect();
        match Dictionary::train(&texts) {
            Some(dictionary) => self.take_dictionary(Arc::new(dictionary)),
            None => Ok(()),
        }
    }

    /// Stores a dictionary and uses it for all texts from now on.
    pub(crate) fn take_dictionary(&mut self, dictionary: Arc<Dictionary>) -> Result<()> {
        let (path, action) = (self.path(), "writing the dictionary");
        let row = seal(dictionary.bytes().to_vec(), Table::Meta, DICTIONARY_KEY);
        let mut meta = self.txn()?.open_table(META).doing(path, action)?;
        meta.insert(DICTIONARY_ROW, &row[..]).doing(path, action)?;
        drop(meta);
        self.state_mut().dictionary = Some(dictionary);
        self.touch(1);
        Ok(())
    }
}
