//! Estimates from the lanes of real sketches, cut to a few bits.

use super::super::StudyContext;
use super::law::Layout;
use twindex::internals::{GOLDEN, SplitMix, fmix64};
use twindex::{Normalization, Result, Shingle, Shingler, Sketch, Sketcher};

/// The lanes of a sketch, the most that the library offers.
pub(super) const SKETCH_LANES: u32 = 512;

/// Where the bits of a lane are taken from, if there are fewer than 8.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    Low,
    /// The high bits of the byte that an index stores.
    High,
}

/// The pairs to draw.
#[derive(Clone, Copy, Debug)]
pub(super) struct Draw {
    pub(super) pairs: u32,
    /// The elements of both sets together.
    pub(super) elements: u32,
    /// How many of them are in both.
    pub(super) shared: u32,
    pub(super) seed: u64,
}

impl Draw {
    /// The pairs whose similarity is the nearest to this one.
    pub(super) fn new(pairs: u32, elements: u32, similarity: f64, seed: u64) -> Self {
        let shared = (similarity * f64::from(elements)).round() as u32;
        Self { pairs, elements, shared, seed }
    }

    pub(super) fn similarity(self) -> f64 {
        f64::from(self.shared) / f64::from(self.elements)
    }
}

/// The estimates of all pairs by one layout.
pub(super) struct Measured {
    pub(super) layout: Layout,
    pub(super) place: Place,
    pub(super) draw: Draw,
    /// The mean of the estimates, less the similarity.
    pub(super) bias: f64,
    /// The root of the mean square error.
    pub(super) error: f64,
}

impl Measured {
    /// The standard error by the law. `None` if a sketch may have lanes that no element fell into
    /// in the first round: further rounds fill them from elements that other lanes hold, too.
    pub(super) fn law(&self) -> Option<f64> {
        let (lanes, elements) = (f64::from(SKETCH_LANES), f64::from(self.draw.elements));
        // The expected number of empty lanes.
        let empty = lanes * (-elements / lanes).exp();
        let sketches = self.layout.lanes().div_ceil(SKETCH_LANES);
        (empty < 0.01)
            .then(|| self.layout.error_among(self.draw.similarity(), self.draw.elements, sketches))
    }

    /// The bias in units of its standard error. Chance gives at most about 4.
    pub(super) fn bias_beyond(&self) -> Option<f64> {
        Some(self.bias.abs() / (self.law()? / f64::from(self.draw.pairs).sqrt()))
    }

    /// The difference of the error from that of the law, in units of its standard error.
    pub(super) fn error_beyond(&self) -> Option<f64> {
        let law = self.law()?;
        // The standard error of a standard deviation of nearly normal values.
        Some((self.error - law).abs() / (law / (2.0 * f64::from(self.draw.pairs)).sqrt()))
    }
}

/// Sketches pairs of fresh sets, and estimates their similarity by all layouts.
///
/// # Errors
///
/// Those of the sketcher and of the context.
pub(super) fn measure(
    layouts: &[(Layout, Place)],
    draw: Draw,
    (context, done): (&StudyContext<'_>, (u64, u64)),
) -> Result<Vec<Measured>> {
    let most = layouts.iter().map(|(layout, _)| layout.lanes()).max().unwrap_or(0);
    let shingler = Shingler::new(Shingle::Tokens, Normalization::NONE, false, 0)?;
    let sketcher = Sketcher::new(shingler, SKETCH_LANES as usize, 0)?;
    let one = |pair: u64| {
        let seed = fmix64(draw.seed ^ fmix64(pair));
        let differences = differences(&sketcher, most.div_ceil(SKETCH_LANES), draw, seed);
        let of = |(layout, place): &(Layout, Place)| {
            layout.estimate(equal(&differences, *layout, *place)) - draw.similarity()
        };
        Ok(layouts.iter().map(of).collect::<Vec<f64>>())
    };
    let steps = 4 * u64::from(draw.elements) * u64::from(most.div_ceil(SKETCH_LANES));
    // Collected in order, so that sums are the same on any number of threads.
    let errors: Vec<Vec<f64>> = context.repeat(done, draw.pairs, steps, one)?;
    let pairs = f64::from(draw.pairs);
    let summary = |(at, (layout, place)): (usize, &(Layout, Place))| Measured {
        layout: *layout,
        place: *place,
        draw,
        bias: errors.iter().map(|of_pair| of_pair[at]).sum::<f64>() / pairs,
        error: (errors.iter().map(|of_pair| of_pair[at].powi(2)).sum::<f64>() / pairs).sqrt(),
    };
    Ok(layouts.iter().enumerate().map(summary).collect())
}

/// Measures pairs of several similarities and numbers of elements.
///
/// # Errors
///
/// Those of the sketcher and of the context.
pub(super) fn measure_all(
    layouts: &[(Layout, Place)],
    draws: &[Draw],
    context: &StudyContext<'_>,
    (done, total): (usize, usize),
) -> Result<Vec<Measured>> {
    let mut measured = Vec::new();
    for (at, draw) in draws.iter().enumerate() {
        let done = ((done + at) as u64, total as u64);
        measured.extend(measure(layouts, *draw, (context, done))?);
    }
    Ok(measured)
}

/// The bits in which the lanes of two fresh sets differ, over some sketches.
fn differences(sketcher: &Sketcher, sketches: u32, draw: Draw, seed: u64) -> Vec<u64> {
    let mut keys = SplitMix::new(seed);
    let apart = draw.elements - draw.shared;
    let (first, second) = (draw.shared + apart / 2, apart - apart / 2);
    let mut differences = Vec::new();
    for _ in 0..sketches {
        // The first round of a sketch is the hash itself, so each sketch hashes elements anew.
        let key = keys.next();
        let hashes: Vec<u64> =
            (0..u64::from(draw.elements)).map(|element| fmix64(key ^ element)).collect();
        let b: Vec<u64> = [&hashes[..draw.shared as usize], &hashes[first as usize..]].concat();
        debug_assert_eq!(b.len() as u32, draw.shared + second);
        let lanes = |set: &[u64]| sketcher.sketch_of_hashes(set).as_ref().map_or(Vec::new(), mixed);
        let (a, b) = (lanes(&hashes[..first as usize]), lanes(&b));
        differences.extend(a.iter().zip(&b).map(|(a, b)| a ^ b));
    }
    differences
}

/// The lanes after mixing. The low 8 bits are those that an index stores.
pub(super) fn mixed(sketch: &Sketch) -> Vec<u64> {
    sketch.lanes().iter().map(|lane| fmix64(u64::from(*lane) ^ GOLDEN)).collect()
}

/// The equal lanes of either width of a layout.
fn equal(differences: &[u64], layout: Layout, place: Place) -> [u32; 2] {
    let (first, rest) = differences.split_at(layout.first.count as usize);
    let count = |differences: &[u64], bits: u32| {
        let shift = if place == Place::High { 8_u32.saturating_sub(bits) } else { 0 };
        let mask = (u64::MAX >> (64 - bits)) << shift;
        differences.iter().filter(|difference| *difference & mask == 0).count() as u32
    };
    let others = &rest[..layout.others.count as usize];
    [count(first, layout.first.bits), count(others, layout.others.bits)]
}
