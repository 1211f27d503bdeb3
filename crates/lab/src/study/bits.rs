//! How many bits of a lane an estimate needs: error, bytes, false candidates, and signatures that
//! mix lanes of two widths.
//!
//! Li, König 2010, "b-bit minwise hashing"; Li, König 2011, "Theory and applications of b-bit
//! minwise hashing".

mod draw;
mod findings;
mod law;
mod measured;
mod tables;
mod words;

use super::{Report, StudyContext, Table};
use law::{Lanes, Layout, TODAY};
use measured::{Draw, Measured, Place, SKETCH_LANES, measure_all};
use twindex::internals::fmix64;
use twindex::{BandPlan, DEFAULT_LANES, DEFAULT_RECALL, DEFAULT_THRESHOLD, Error, Result, Space};

const TITLE: &str = "How many bits of a lane an estimate needs";

/// The bits of a lane that are compared, in tables and pictures.
const WIDTHS: [u32; 5] = [1, 2, 4, 8, 16];

/// The bytes of the signatures that are compared.
const SIZES: [u32; 3] = [64, 128, 256];

/// The similarities of tables and of drawn pairs.
const SIMILARITIES: [f64; 6] = [0.3, 0.5, 0.7, 0.8, 0.9, 0.95];

/// The elements of small sets, both together: short texts.
const SMALL: [u32; 5] = [100, 250, 500, 1_000, 2_000];

/// The number of documents in the index for which bytes are computed.
const DOCUMENTS: u64 = 1_000_000;

/// The settings of the study.
#[derive(Clone, Debug)]
pub(crate) struct BitsSettings {
    /// The number of pairs that are drawn of each similarity, at least 50.
    pub(crate) pairs: u32,
    /// The number of elements of both sets together, from 1,000 to 1,000,000.
    pub(crate) elements: u32,
}

impl Default for BitsSettings {
    fn default() -> Self {
        Self { pairs: 2_000, elements: 10_000 }
    }
}

/// All that was measured.
struct Results {
    settings: BitsSettings,
    /// Signatures of a single width, of pairs of all similarities.
    single: Vec<Measured>,
    /// The [`layouts`], of pairs of all similarities.
    mixed: Vec<Measured>,
    /// The layouts, of pairs of small sets at the threshold.
    small: Vec<Measured>,
}

impl Results {
    /// Everything that the law can be compared with.
    fn all(&self) -> impl Iterator<Item = &Measured> {
        [&self.single, &self.mixed, &self.small].into_iter().flatten()
    }

    /// The measured error of a layout, for pairs at the threshold that have this many elements.
    fn error_at_threshold(&self, layout: Layout, elements: u32) -> Option<f64> {
        let mut all = self.mixed.iter().chain(&self.small);
        let fits = |one: &&Measured| {
            one.layout == layout
                && one.draw.elements == elements
                && (one.draw.similarity() - DEFAULT_THRESHOLD).abs() < 0.01
        };
        all.find(fits).map(|one| one.error)
    }
}

/// The lanes of the words of all bands, which must keep their 8 bits.
fn band_lanes() -> Result<Lanes> {
    let plan = BandPlan::new(DEFAULT_THRESHOLD, DEFAULT_RECALL, DEFAULT_LANES)?;
    Ok(Lanes::new(plan.bands() as u32 * plan.depth(), 8))
}

/// Today's signature, then others that could take its place. The next ones have a single width, and
/// the last ones keep the lanes of the bands. Two of them have 256 lanes in all; the others have as
/// many as reach today's error at the default threshold, but no more of a single width than one
/// sketch has.
fn layouts() -> Result<Vec<Layout>> {
    let bands = band_lanes()?;
    let reaching = |first, bits| Layout::reaching(first, bits, TODAY, DEFAULT_THRESHOLD);
    let single = |bits: u32| {
        let lanes = reaching(Lanes::new(0, bits), bits).lanes();
        Layout::of(Lanes::new(lanes.min(SKETCH_LANES), bits))
    };
    let narrowed = |bits| Layout::mixed(bands, Lanes::new(TODAY.lanes() - bands.count, bits));
    let mut all = vec![TODAY, Layout::of(Lanes::new(TODAY.lanes(), 4))];
    all.extend([4, 2, 1].map(single));
    all.push(narrowed(4));
    all.extend([2, 1].map(|bits| reaching(bands, bits)));
    Ok(all)
}

/// The bytes that a document takes in a compacted index of [`DOCUMENTS`] documents, without its
/// record and text: signature row, entries in the bands, entry of the id.
fn bytes_of_document(layout: Layout) -> Result<f64> {
    let plan = BandPlan::new(DEFAULT_THRESHOLD, DEFAULT_RECALL, DEFAULT_LANES)?;
    let space = Space::new(plan, DEFAULT_LANES, DOCUMENTS, 20)?;
    Ok(signature_pages(layout.bytes()) + space.postings + space.ids)
}

/// The bytes of pages that a signature row takes, as [`Space`] estimates them for whole bytes.
///
/// A row has 4 bytes of key, 8 of set size and checksum, and 4 for where it ends. A leaf has a
/// header of 4 bytes, and a branch one child in 28 bytes.
fn signature_pages(bytes: u32) -> f64 {
    const PAGE: u32 = 4096;
    let rows = (PAGE - 4) / (bytes + 16);
    let branches = 1.0 / f64::from(PAGE / 28 - 1);
    (1.0 + branches) * f64::from(PAGE) / f64::from(rows)
}

pub(crate) fn run(settings: &BitsSettings, context: &StudyContext<'_>) -> Result<Report> {
    check(settings)?;
    let seed = |part: u64, at: usize| fmix64(context.seed ^ fmix64(part << 32 | at as u64));
    let draws = |part: u64| -> Vec<Draw> {
        let draw = |(at, similarity): (usize, f64)| {
            Draw::new(settings.pairs, settings.elements, similarity, seed(part, at))
        };
        SIMILARITIES.into_iter().enumerate().map(draw).collect()
    };
    let small = SMALL
        .into_iter()
        .enumerate()
        .map(|(at, elements)| Draw::new(settings.pairs, elements, DEFAULT_THRESHOLD, seed(2, at)));
    let small: Vec<Draw> = small.collect();
    let of_single = SIZES.into_iter().flat_map(|bytes| {
        let layout = move |bits: u32| Layout::of_bytes(bytes, bits);
        let low = WIDTHS.into_iter().map(move |bits| (layout(bits), Place::Low));
        let high = WIDTHS.into_iter().filter(|bits| *bits < 8);
        low.chain(high.map(move |bits| (layout(bits), Place::High)))
    });
    let of_single: Vec<(Layout, Place)> = of_single.collect();
    let of_mixed: Vec<(Layout, Place)> =
        layouts()?.into_iter().map(|layout| (layout, Place::Low)).collect();
    let (each, total) = (SIMILARITIES.len(), 2 * SIMILARITIES.len() + small.len());
    let results = Results {
        settings: settings.clone(),
        single: measure_all(&of_single, &draws(0), context, (0, total))?,
        mixed: measure_all(&of_mixed, &draws(1), context, (each, total))?,
        small: measure_all(&of_mixed, &small, context, (2 * each, total))?,
    };
    context.at(total as u64, total as u64)?;
    let figure = draw::figure(&results)?;
    Ok(Report {
        title: TITLE.to_owned(),
        table: tables::errors()?,
        further: tables::further(&results)?,
        data: Table::of_points(&figure),
        figure,
        findings: findings::all(&results)?,
    })
}

fn check(settings: &BitsSettings) -> Result<()> {
    let wrong = |setting, got: u32, expected| Error::InvalidSetting {
        setting,
        got: got.to_string(),
        expected,
    };
    if settings.pairs < 50 {
        return Err(wrong("pairs", settings.pairs, "50 or more"));
    }
    if !(1_000..=1_000_000).contains(&settings.elements) {
        return Err(wrong("elements", settings.elements, "a whole number from 1000 to 1000000"));
    }
    Ok(())
}

#[cfg(test)]
#[path = "bits_tests.rs"]
mod tests;
