//! `twindex plan`: forecasts the recall, errors and size of an index before it is created.

use crate::commands::plan_sample::{self, Sample, SampleOptions};
use crate::run::ending::Ending;
use crate::run::failure::Failure;
use crate::run::global_options::GlobalOptions;
use crate::run::over_input::check_no_input;
use crate::run::results_file::is_standard_output;
use crate::run::whole_file;
use crate::terminal::output::{Results, bytes, count, grouped, rounded_recall, summary};
use crate::terminal::plot::{Curve, draw, picture};
use anyhow::{Context, anyhow};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use twindex::Agreement;
use twindex::Shingle;
use twindex::Space;
use twindex::{DEFAULT_LANES, DEFAULT_RECALL, DEFAULT_THRESHOLD};
use twindex::{Forecast, Textbook};

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Each row of the table is for pairs of one similarity. Its columns are probabilities:
  reported   that the pair is found: it is compared, and its estimate reaches the threshold
  missed     that it is not reported, for similarities at or above the threshold
  extra      that it is reported, for similarities below the threshold
  candidate  that the pair shares a bucket and is compared; unmet is the rest
A pair right at the threshold is reported about half the time, because estimates fall on both
sides. All columns count lanes that are equal by chance. recall_at_threshold does not, because
it is a promise, so it is a little less than candidate. With --textbook also:
  textbook   that it is compared, if the same lanes form bands by the rule
             (1/b)^(1/r) = threshold; textbook_missed and textbook_extra are missed and extra
             with these bands

With --error, the plan is for the fewest lanes whose estimates have at most this standard error at
any similarity; lanes_for_error is how many it takes, also between 64, 128, 256 and 512.

Bytes are those of a compacted index with ids of 20 bytes. Background candidates are the documents
of similarity 0.05 that a query compares in vain.

With --sample, the records of PATH are compared with each other by estimates. For each threshold,
pairs counts those from it to the next one, and removed the records that dedup would remove. Of
each shingle, one_change is the median similarity of a text to itself with one letter changed,
background that of two unrelated texts on average, and high_background what one pair of a hundred
reaches. A shingle suits if one_change reaches the threshold and high_background is at most half
of it.

With --length, shingle is the least char:N by the textbook's rule (20^N well above the length),
and shingle_chance is the probability that a text has a given shingle by chance: at most 0.01.

Examples:
  twindex plan --threshold 0.8
  twindex plan --threshold 0.5 --recall 0.95 --docs 10000000
  twindex plan --error 0.025
  twindex plan --length 50000
  twindex plan --sample crawl.jsonl
  twindex plan --threshold 0.7 --svg curve.svg --json")]
pub(crate) struct Plan {
    /// Least Jaccard similarity that counts as similar, above 0, at most 1
    #[arg(long, value_name = "T", default_value_t = DEFAULT_THRESHOLD)]
    threshold: f64,
    /// Least probability that a pair at the threshold becomes a candidate
    #[arg(long, value_name = "P", default_value_t = DEFAULT_RECALL)]
    recall: f64,
    /// Lanes of a signature, a byte each: 64, 128, 256 or 512
    #[arg(long, value_name = "K", default_value_t = DEFAULT_LANES)]
    lanes: usize,
    /// Take as many lanes as this standard error of an estimate needs, above 0, below 0.5
    #[arg(long, value_name = "E", conflicts_with = "lanes")]
    error: Option<f64>,
    /// Documents that the index will hold
    #[arg(long, value_name = "N", default_value_t = 1_000_000,
          value_parser = clap::value_parser!(u64).range(1..=u64::from(u32::MAX)))]
    docs: u64,
    /// Characters of a typical text: adds how long shingles must be to be rare in it
    #[arg(long, value_name = "CHARS",
          value_parser = clap::value_parser!(u64).range(1..=1_000_000_000_000))]
    length: Option<u64>,
    /// Also show what the textbook's rule for bands would do
    #[arg(long)]
    textbook: bool,
    /// Draw the curve into this file
    #[arg(long, value_name = "FILE")]
    svg: Option<PathBuf>,
    #[command(flatten)]
    sample: SampleOptions,
}

/// The length assumed for an id: that of a typical path, or of a URL without its host.
const ID_BYTES: usize = 20;

/// The greatest similarity to expect between unrelated texts in one language.
const BACKGROUND_SIMILARITY: f64 = 0.05;

/// A row of the table: probabilities for pairs of one similarity.
struct Row {
    similarity: f64,
    candidate: f64,
    reported: f64,
    /// Whether pairs of this similarity should be reported.
    should_report: bool,
    textbook: f64,
    textbook_reported: f64,
}

pub(crate) fn run(global: &GlobalOptions, args: &Plan) -> Result<Ending, Failure> {
    check_svg(args)?;
    let planned = Planned::new(global, args)?;
    if let Some(path) = &args.svg {
        planned.draw_into(path).with_context(|| path.display().to_string())?;
    }
    let mut results = Results::new(global);
    if global.json {
        planned.print_object(&mut results)?;
    } else {
        planned.print_tables(&mut results)?;
        summary(global, &[], &planned.sentence());
    }
    Ok(planned.ending())
}

/// Fails unless the plot can be written to the file that the user named.
fn check_svg(args: &Plan) -> Result<(), Failure> {
    let Some(path) = &args.svg else { return Ok(()) };
    check_no_input(path, &args.sample.sample)?;
    if is_standard_output(path) {
        return Err(anyhow!("--svg writes to a file: standard output has the table").into());
    }
    Ok(())
}

/// A forecast, and what is told of it.
struct Planned<'a> {
    args: &'a Plan,
    /// The lanes that the standard error asks for, before they are rounded up to a signature's.
    needed_lanes: Option<usize>,
    lanes: usize,
    forecast: Forecast,
    /// The textbook's rule, if the user asks for it.
    textbook: Option<Textbook>,
    space: Space,
    rows: Vec<Row>,
    sample: Option<Sample>,
}

impl<'a> Planned<'a> {
    fn new(global: &GlobalOptions, args: &'a Plan) -> Result<Self, Failure> {
        let needed_lanes = args.error.map(lanes_for).transpose()?;
        let lanes = match needed_lanes {
            Some(needed) => available(needed, args.error.unwrap_or_default())?,
            None => args.lanes,
        };
        let forecast = Forecast::new(args.threshold, args.recall, lanes)?;
        let textbook = args.textbook.then(|| forecast.textbook());
        let space = Space::new(forecast.plan(), lanes, args.docs, ID_BYTES)?;
        let rows = table(&forecast, args.threshold);
        let settings = (args.threshold, args.recall, lanes);
        let sample = if args.sample.sample.is_empty() {
            None
        } else {
            Some(plan_sample::measure(global, &args.sample, settings)?)
        };
        Ok(Self { args, needed_lanes, lanes, forecast, textbook, space, rows, sample })
    }

    fn ending(&self) -> Ending {
        match &self.sample {
            Some(sample) if sample.failed > 0 => Ending::SomeFailed,
            _ => Ending::Done,
        }
    }

    /// The bytes of all documents.
    fn bytes(&self) -> f64 {
        self.space.total() * self.args.docs as f64
    }

    /// The named values that are told before the table.
    fn values(&self) -> Vec<(&'static str, Value)> {
        let Self { args, forecast, space, .. } = self;
        let in_vain = forecast.candidates_among(args.docs, BACKGROUND_SIMILARITY);
        let mut values = vec![
            ("threshold", args.threshold.into()),
            ("recall", args.recall.into()),
            ("lanes", self.lanes.into()),
            ("bands", forecast.plan().bands().into()),
            ("depth", forecast.plan().depth().into()),
            ("recall_at_threshold", rounded_recall(forecast.recall())),
            ("documents", args.docs.into()),
            ("signature_bytes_per_document", one_decimal(space.signatures)),
            ("posting_bytes_per_document", one_decimal(space.postings + space.ids)),
            ("document_bytes_per_document", one_decimal(space.documents)),
            ("bytes_per_document", one_decimal(space.total())),
            ("bytes", (self.bytes().round() as u64).into()),
            ("background_candidates", four_digits(in_vain)),
        ];
        if let (Some(error), Some(needed)) = (args.error, self.needed_lanes) {
            values.extend([("error", error.into()), ("lanes_for_error", needed.into())]);
        }
        if let Some(textbook) = self.textbook {
            values.extend([
                ("textbook_bands", textbook.bands.into()),
                ("textbook_depth", textbook.depth.into()),
                ("textbook_recall_at_threshold", rounded_recall(textbook.recall)),
            ]);
        }
        values.extend(args.length.into_iter().flat_map(recommended_shingle));
        values.extend(self.sample.iter().flat_map(Sample::settings));
        values
    }

    /// Prints one object of JSON.
    fn print_object(&self, results: &mut Results) -> Result<(), Failure> {
        let object = |row: Vec<(&str, Value)>| {
            row.into_iter().map(|(name, value)| (name.to_owned(), value)).collect::<Value>()
        };
        let curve = self.rows.iter().map(|row| object(row.fields(self.args.textbook)));
        let tables = self.sample.iter().flat_map(Sample::tables);
        let tables = tables.map(|(name, rows)| (name, rows.into_iter().map(object).collect()));
        let mut values = self.values();
        values.push(("curve", curve.collect()));
        values.extend(tables);
        results.object(&values)?;
        Ok(results.flush()?)
    }

    /// Prints the values, the table, on a terminal the plot, and what the sample shows.
    fn print_tables(&self, results: &mut Results) -> Result<(), Failure> {
        results.object(&self.values())?;
        results.flush()?;
        results.heading(Row::names(self.args.textbook))?;
        for row in &self.rows {
            results.line(&row.fields(self.args.textbook))?;
        }
        results.flush()?;
        if results.is_aligned() {
            results.text(&draw(&self.curves(), TITLE, self.args.threshold))?;
            results.flush()?;
        }
        self.sample.as_ref().map_or(Ok(()), |sample| sample.print(results))
    }

    /// The sentence that sums it up.
    fn sentence(&self) -> String {
        let Self { args, forecast, .. } = self;
        let rule = self.textbook.map_or(String::new(), |textbook| {
            let recall = percent(textbook.recall);
            let bands = textbook.bands;
            let depth = textbook.depth;
            format!("; by the textbook's {bands} of {depth} it would be {recall}")
        });
        let mut sentence = format!(
            "{} of {} lanes: {} of pairs at {} are compared{rule}; {} {} {}",
            count(forecast.plan().bands() as u64, "band"),
            forecast.plan().depth(),
            percent(forecast.recall()),
            args.threshold,
            count(args.docs, "document"),
            if args.docs == 1 { "takes" } else { "take" },
            bytes(self.bytes() as u64)
        );
        if let Some(sample) = &self.sample {
            sentence += &format!("; {}", sample.sentence(args.threshold));
        }
        sentence
    }

    /// The curves of the plot, the first one at the bottom.
    fn curves(&self) -> Vec<Curve> {
        let textbook = self.textbook.map(|_| {
            let compared = |similarity| self.forecast.textbook_at(similarity).candidate;
            Curve::new('o', "compared by the textbook's rule", compared)
        });
        let own = [
            Curve::new('*', "compared", |similarity| self.forecast.at(similarity).candidate),
            Curve::new('+', "reported", |similarity| self.forecast.at(similarity).reported),
        ];
        textbook.into_iter().chain(own).collect()
    }

    /// Draws the plot into a file.
    fn draw_into(&self, path: &Path) -> anyhow::Result<()> {
        let svg = picture(&self.curves(), TITLE, self.args.threshold)?;
        Ok(whole_file::write(path, svg.as_bytes())?)
    }
}

/// The recommended shingle for texts of `length` characters, and its chance to occur in one.
fn recommended_shingle(length: u64) -> [(&'static str, Value); 3] {
    let shingle = Shingle::chars_for_length(length);
    let chance = match shingle {
        Shingle::Chars(width) => four_digits(Shingle::chance_by_length(width, length)),
        _ => Value::Null,
    };
    [("length", length.into()), ("shingle", shingle.to_string().into()), ("shingle_chance", chance)]
}

/// Returns the rows for similarities in steps of 0.05, from 0.5 below the threshold to 1, and for
/// the threshold itself.
fn table(forecast: &Forecast, threshold: f64) -> Vec<Row> {
    let first = ((threshold * 20.0).floor() as u32).saturating_sub(10).max(1);
    let mut similarities: Vec<f64> = (first..=20).map(|step| f64::from(step) / 20.0).collect();
    similarities.push(threshold);
    similarities.sort_by(f64::total_cmp);
    similarities.dedup();
    let row = |similarity: f64| {
        let chances = forecast.at(similarity);
        let textbook = forecast.textbook_at(similarity);
        Row {
            similarity,
            candidate: chances.candidate,
            reported: chances.reported,
            should_report: similarity >= threshold,
            textbook: textbook.candidate,
            textbook_reported: textbook.reported,
        }
    };
    similarities.into_iter().map(row).collect()
}

impl Row {
    const NAMES: [&str; 9] = [
        "similarity",
        "reported",
        "missed",
        "extra",
        "candidate",
        "unmet",
        "textbook",
        "textbook_missed",
        "textbook_extra",
    ];

    /// The names of the values; those of the textbook's rule come last.
    fn names(textbook: bool) -> &'static [&'static str] {
        if textbook { &Self::NAMES } else { &Self::NAMES[..6] }
    }

    /// The named values of the row.
    fn fields(&self, with_textbook: bool) -> Vec<(&'static str, Value)> {
        let errors = |reported: f64| {
            if self.should_report {
                (four_digits(1.0 - reported), Value::Null)
            } else {
                (Value::Null, four_digits(reported))
            }
        };
        let (missed, extra) = errors(self.reported);
        let (textbook_missed, textbook_extra) = errors(self.textbook_reported);
        let values = [
            self.similarity.into(),
            four_digits(self.reported),
            missed,
            extra,
            four_digits(self.candidate),
            four_digits(1.0 - self.candidate),
            four_digits(self.textbook),
            textbook_missed,
            textbook_extra,
        ];
        Self::names(with_textbook).iter().copied().zip(values).collect()
    }
}

/// The title of the plot.
const TITLE: &str = "How many pairs of each similarity are found";

/// The number of lanes whose estimates have at most this standard error at every similarity, by the
/// binomial law.
fn lanes_for(error: f64) -> Result<usize, Failure> {
    if !(error > 0.0 && error < 0.5) {
        return Err(anyhow!("--error {error}: expected a number above 0, below 0.5").into());
    }
    Ok((worst_variance() / (error * error)).ceil() as usize)
}

/// The greatest variance of an estimate from one lane. That of an estimate from more lanes is this,
/// divided by their number.
fn worst_variance() -> f64 {
    let variance = |step: u32| Agreement::variance(f64::from(step) / 1000.0, 1);
    (0..=1000).map(variance).fold(0.0, f64::max)
}

/// The fewest lanes of a signature that are at least as many.
fn available(needed: usize, error: f64) -> Result<usize, Failure> {
    const LANES: [usize; 4] = [64, 128, 256, 512];
    let found = LANES.into_iter().find(|lanes| *lanes >= needed);
    found.ok_or_else(|| {
        let most = LANES[LANES.len() - 1];
        // Rounded up: with a smaller error, more lanes would be needed.
        let least = ((worst_variance() / most as f64).sqrt() * 1e4).ceil() / 1e4;
        let needed = match needed {
            ..=MOST_SHOWN => format!("{} lanes", grouped(needed as u64)),
            _ => format!("more than {} lanes", grouped(MOST_SHOWN as u64)),
        };
        anyhow!(
            "--error {error} needs {needed}, and a signature has {most} at most, whose error is \
             {least}; --store-text makes similarities exact"
        )
        .into()
    })
}

/// The most lanes that a message tells as a number.
const MOST_SHOWN: usize = 1_000_000;

/// A recall in per cent. Only that of certainty is shown as 100 %.
fn percent(recall: f64) -> String {
    match 100.0 * recall {
        99.95..100.0 => "more than 99.9 %".to_owned(),
        percent => format!("{percent:.1} %"),
    }
}

/// Rounds a number to four significant digits.
fn four_digits(number: f64) -> Value {
    // A difference of two equal probabilities may leave a rounding error instead of zero.
    let number = if number.abs() < 1e-12 { 0.0 } else { number };
    format!("{number:.3e}").parse::<f64>().map_or(Value::Null, Value::from)
}

/// Rounds a number to one decimal.
fn one_decimal(number: f64) -> Value {
    json!((number * 10.0).round() / 10.0)
}
