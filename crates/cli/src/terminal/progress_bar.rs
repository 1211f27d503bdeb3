//! A progress bar on standard error, shown on terminals only.

use super::output::count;
use super::output_options::OutputOptions;
use super::{interrupt, messages};
use indicatif::{ProgressBar as Bar, ProgressDrawTarget, ProgressStyle};
use std::io::{self, IsTerminal};
use std::ops::ControlFlow;
use std::time::Duration;

/// A progress bar, which is hidden where no terminal shows it.
pub struct ProgressBar {
    bar: Bar,
    documents: u64,
    /// Whether the command has said what the work is.
    is_named: bool,
}

impl ProgressBar {
    /// Shows progress through this many bytes of input, or through an unknown number.
    pub fn new(options: impl Into<OutputOptions>, bytes: Option<u64>) -> Self {
        let OutputOptions { json, quiet, no_progress } = options.into();
        let hidden = quiet || json || no_progress || !io::stderr().is_terminal();
        let bar = if hidden {
            Bar::with_draw_target(None, ProgressDrawTarget::hidden())
        } else {
            let bar = bytes.map_or_else(Bar::no_length, Bar::new);
            let template = match bytes {
                Some(_) => {
                    "{prefix}{bar:30} {decimal_bytes}/{decimal_total_bytes} \
                         {decimal_bytes_per_sec} {msg}, {eta} left"
                }
                None => "{prefix}{spinner} {decimal_bytes} {decimal_bytes_per_sec} {msg}",
            };
            let style = ProgressStyle::with_template(template);
            bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
            bar.enable_steady_tick(Duration::from_millis(200));
            bar
        };
        Self { bar, documents: 0, is_named: false }
    }

    /// Shows progress through this many documents.
    pub fn of_documents(options: impl Into<OutputOptions>, documents: u64) -> Self {
        let template = "{prefix}{bar:30} {human_pos}/{human_len} documents, {eta} left";
        Self::with_template(options.into(), documents, template)
    }

    /// Shows progress through work that reports how far it is.
    pub fn of_parts(options: impl Into<OutputOptions>) -> Self {
        Self::with_template(options.into(), 0, "{prefix}{bar:30} {percent}%, {eta} left")
    }

    /// Says what the work is, for a command that does several things one after the other.
    pub fn named(self, phase: &str) -> Self {
        self.bar.set_prefix(format!("{phase}: "));
        Self { is_named: true, ..self }
    }

    fn with_template(options: OutputOptions, length: u64, template: &str) -> Self {
        let progress = Self::new(options, Some(length));
        let style = ProgressStyle::with_template(template);
        progress.bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
        progress
    }

    /// Expects more documents.
    pub fn expect_documents(&self, documents: u64) {
        self.bar.inc_length(documents);
    }

    /// Counts finished documents.
    pub fn add_documents(&self, documents: u64) {
        self.bar.inc(documents);
    }

    /// A callback for long work: it shows the progress, and stops the work after a signal.
    pub fn watch(&self) -> impl FnMut(twindex::Progress) -> ControlFlow<()> + '_ {
        |now| self.show(now)
    }

    /// Shows how much of all work is done, and which part of it goes on. Breaks after a signal.
    pub fn show(&self, now: twindex::Progress) -> ControlFlow<()> {
        if !now.phase.is_empty() && !self.is_named {
            self.bar.set_prefix(format!("{}: ", now.phase));
        }
        self.at(now.done, now.total)
    }

    /// Shows how much of all work is done. Breaks after a signal.
    pub fn at(&self, done: u64, total: u64) -> ControlFlow<()> {
        self.bar.set_length(total);
        self.bar.set_position(done);
        if interrupt::asked() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }

    /// Counts finished documents and the bytes of input they came from.
    pub fn add(&mut self, documents: u64, bytes: u64) {
        self.documents += documents;
        self.bar.inc(bytes);
        self.bar.set_message(count(self.documents, "document"));
    }

    /// Prints a message about an error above the bar.
    pub fn say(&self, text: &str) {
        self.bar.suspend(|| messages::message(text));
    }

    /// Prints a message about progress above the bar.
    pub fn note(&self, text: &str) {
        self.bar.suspend(|| messages::note(text));
    }

    /// Removes the bar.
    pub fn finish(&self) {
        self.bar.finish_and_clear();
    }
}
