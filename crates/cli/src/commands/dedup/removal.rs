//! What `dedup` removes: similar records, or passages that are known.

use crate::commands::outputs::audit::{Columns, KNOWN_COLUMNS};
use crate::run::failure::Failure;
use crate::run::index_settings::IndexSettings;
use crate::run::opening;
use crate::run::resume_key::ResumeKey;
use anyhow::anyhow;
use clap::ValueEnum;
use std::path::Path;
use twindex::{Error, IndexOptions, Insertion, Settings};

/// The heading in the help of the options that say what a duplicate is.
pub(super) const DUPLICATES: &str = "What is a duplicate";

/// The part of a record that may be known before `--remove covered` removes it.
const DEFAULT_MAX_OVERLAP: f64 = 0.5;

/// What is removed.
#[derive(Debug, clap::Args)]
pub(crate) struct RemovalOptions {
    /// What to remove
    #[arg(
        help_heading = DUPLICATES,
        long,
        value_name = "WHAT",
        value_enum,
        default_value_t = Remove::Similar
    )]
    pub(crate) remove: Remove,
    /// The least share of a record that the similar document contains, for --remove contained
    /// [default: 1]
    #[arg(help_heading = DUPLICATES, long, value_name = "SHARE")]
    pub(crate) min_contained: Option<f64>,
    /// Remove a record if more than this share of it is known, for --remove covered and spans
    /// [default: 0.5 for covered, 1 for spans]
    #[arg(help_heading = DUPLICATES, long, value_name = "SHARE")]
    pub(crate) max_overlap: Option<f64>,
}

/// What is removed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Remove {
    /// Records that are similar to a known document
    Similar,
    /// Those of them that the known document contains, wholly or to --min-contained
    Contained,
    /// Passages that a known document has, out of the texts (see --passages)
    Spans,
    /// Records of which more than --max-overlap lies in such passages
    Covered,
}

impl Remove {
    /// Whether passages are looked for.
    pub(crate) fn is_by_passages(self) -> bool {
        matches!(self, Self::Spans | Self::Covered)
    }

    /// The columns of the audit.
    pub(crate) fn audit_columns(self) -> Columns {
        match self {
            Self::Similar => &["id", "duplicate_of", "similarity", "exact"],
            Self::Contained => &["id", "duplicate_of", "similarity", "exact", "contained", "kept"],
            Self::Spans | Self::Covered => KNOWN_COLUMNS,
        }
    }
}

impl RemovalOptions {
    /// Refuses options that do not belong together.
    pub(crate) fn check(&self, estimate: bool, against: bool) -> Result<(), Failure> {
        let remove = self.remove;
        let wrong = |option: &str, what: &str| Err(anyhow!("{option} {what}").into());
        if self.min_contained.is_some() && remove != Remove::Contained {
            return wrong("--min-contained", "is for --remove contained");
        }
        if self.max_overlap.is_some() && !remove.is_by_passages() {
            return wrong("--max-overlap", "is for --remove covered and --remove spans");
        }
        if !self.max_overlap.is_none_or(|share| (0.0..=1.0).contains(&share)) {
            return wrong("--max-overlap", "is a share from 0 to 1");
        }
        if !self.min_contained.is_none_or(|share| share > 0.0 && share <= 1.0) {
            return wrong("--min-contained", "is a share above 0, at most 1");
        }
        if estimate && remove != Remove::Similar {
            return wrong("--estimate", "is for --remove similar; all else compares texts");
        }
        if against && remove.is_by_passages() {
            return wrong(
                "--against",
                "compares whole documents; `twindex screen` removes the passages of another index",
            );
        }
        Ok(())
    }

    /// Refuses an index that does not keep what is compared.
    pub(crate) fn check_index(&self, settings: &Settings, index: &Path) -> Result<(), Failure> {
        let path = index.to_owned();
        if self.remove.is_by_passages() {
            opening::check_passages(index, settings)?;
        }
        if self.remove.is_by_passages() && settings.winnowing.is_none() {
            return Err(Error::NoPassages { path }.into());
        }
        if self.remove == Remove::Similar || settings.store_text {
            Ok(())
        } else {
            Err(Error::NoTexts { path }.into())
        }
    }

    /// The options of a new index: what is removed decides what it must keep.
    pub(crate) fn options(&self, settings: &IndexSettings) -> IndexOptions {
        let options = settings.options();
        match self.remove {
            Remove::Similar => options,
            Remove::Contained => options.store_text(true),
            Remove::Spans | Remove::Covered if settings.has_passages_option() => {
                options.store_text(true)
            }
            Remove::Spans | Remove::Covered => options.store_text(true).usual_passages(),
        }
    }

    /// Tells an insertion of passages what to do.
    pub(crate) fn of_passages<'t>(&self, insertion: Insertion<'t>) -> Insertion<'t> {
        match self.remove {
            Remove::Spans => {
                insertion.without_passages().unless_covered(self.max_overlap.unwrap_or(1.0))
            }
            _ => insertion.unless_covered(self.max_overlap.unwrap_or(DEFAULT_MAX_OVERLAP)),
        }
    }

    /// Tells an insertion of similar documents what to do.
    pub(crate) fn of_similar<'t>(&self, insertion: Insertion<'t>) -> Insertion<'t> {
        match self.remove {
            Remove::Contained => insertion.if_contained(self.min_contained.unwrap_or(1.0)),
            _ => insertion,
        }
    }

    /// Adds what decides the result to a key.
    pub(crate) fn add_to(&self, key: ResumeKey) -> ResumeKey {
        let share = |share: Option<f64>| share.map(|share| share.to_string());
        match self.remove {
            // The key of a command that does not name this is as it always was.
            Remove::Similar => key,
            remove => key
                .with("remove", format!("{remove:?}"))
                .with_option("min-contained", share(self.min_contained).as_ref())
                .with_option("max-overlap", share(self.max_overlap).as_ref()),
        }
    }
}
