//! A progress bar on standard error, only where a person sees it.

use crate::run::global::Global;
use crate::run::{failure, interrupt};
use crate::terminal::output;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::{self, IsTerminal};
use std::ops::ControlFlow;
use std::time::Duration;

/// Progress through so many bytes of input, or through an unknown number.
pub struct Progress {
    bar: ProgressBar,
    documents: u64,
}

impl Progress {
    pub fn new(global: &Global, bytes: Option<u64>) -> Self {
        let hidden =
            global.quiet || global.json || global.no_progress || !io::stderr().is_terminal();
        let bar = match hidden {
            true => ProgressBar::with_draw_target(None, ProgressDrawTarget::hidden()),
            false => {
                let bar = bytes.map_or_else(ProgressBar::no_length, ProgressBar::new);
                let template = match bytes {
                    Some(_) => {
                        "{bar:30} {decimal_bytes}/{decimal_total_bytes} \
                         {decimal_bytes_per_sec} {msg}, {eta} left"
                    }
                    None => "{spinner} {decimal_bytes} {decimal_bytes_per_sec} {msg}",
                };
                let style = ProgressStyle::with_template(template);
                bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
                bar.enable_steady_tick(Duration::from_millis(200));
                bar
            }
        };
        Self { bar, documents: 0 }
    }

    /// Progress through so many documents.
    pub fn of_documents(global: &Global, documents: u64) -> Self {
        let template = "{bar:30} {human_pos}/{human_len} documents, {eta} left";
        Self::with_template(global, documents, template)
    }

    /// Progress through work that tells how far it is.
    pub fn of_parts(global: &Global) -> Self {
        Self::with_template(global, 0, "{bar:30} {percent}%, {eta} left")
    }

    fn with_template(global: &Global, length: u64, template: &str) -> Self {
        let progress = Self::new(global, Some(length));
        let style = ProgressStyle::with_template(template);
        progress.bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
        progress
    }

    pub fn add_documents(&self, documents: u64) {
        self.bar.inc(documents);
    }

    /// Shows how far watched work is, and stops it when the command is asked to end.
    pub fn watch(&self) -> impl FnMut(twindex::Progress) -> ControlFlow<()> + '_ {
        |at| self.at(at.done, at.total)
    }

    /// Shows that so much of all work is done; breaks when the command is asked to end.
    pub fn at(&self, done: u64, total: u64) -> ControlFlow<()> {
        self.bar.set_length(total);
        self.bar.set_position(done);
        match interrupt::asked() {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        }
    }

    pub fn add(&mut self, documents: u64, bytes: u64) {
        self.documents += documents;
        self.bar.inc(bytes);
        self.bar.set_message(output::count(self.documents, "document"));
    }

    /// Prints a line about what is wrong without tearing the bar.
    pub fn say(&self, text: &str) {
        self.bar.suspend(|| failure::message(text));
    }

    /// Prints a line about what goes well.
    pub fn note(&self, text: &str) {
        self.bar.suspend(|| failure::note(text));
    }

    pub fn finish(&self) {
        self.bar.finish_and_clear();
    }
}
