//! Finding fingerprints of 64 bits at a small Hamming distance: sampled bits, and all choices of
//! blocks, against brute force.

use crate::sketch::HammingTables;
use crate::study::{Axis, Finding, Panel, Point, Series, SeriesKind};
use std::collections::{HashMap, HashSet};
use twindex::Result;
use twindex::internals::SplitMix;

/// The bits of a fingerprint, and the distance at which pairs should be found (Manku, Jain, Das
/// Sarma 2007).
const BITS: usize = 64;
const DISTANCE: usize = 3;

/// The greatest distance that is drawn.
const FARTHEST: usize = 24;

/// The pairs that are drawn at each distance.
const PAIRS: usize = 400;

/// The fingerprints of the collection, each of which has a near copy.
const COLLECTION: usize = 1_500;

/// A kind of tables under the name of its series.
struct NamedTables {
    name: String,
    law: HammingTables,
    /// The tables for a seed.
    draw: DrawTables,
    /// For each distance, the share of drawn pairs that met.
    met: Vec<f64>,
}

/// Makes tables from a seed.
type DrawTables = fn(u64) -> Result<HammingTables>;

const KINDS: [(&str, DrawTables); 4] = [
    ("sampled bits", |seed| HammingTables::sampled(BITS, 16, 4, seed)),
    ("4 blocks, each one", |_| HammingTables::blocks(BITS, 4, DISTANCE)),
    ("5 blocks, each pair", |_| HammingTables::blocks(BITS, 5, DISTANCE)),
    ("6 blocks, each triple", |_| HammingTables::blocks(BITS, 6, DISTANCE)),
];

/// The panel and its findings.
pub(super) fn run(seed: u64) -> Result<(Panel, Vec<Finding>)> {
    let mut random = SplitMix::new(seed);
    let mut kinds = Vec::new();
    for (name, draw) in KINDS {
        let law = draw(0)?;
        let name = format!("{name}: {} tables of {} bits or more", law.len(), law.width());
        let mut met = Vec::new();
        for distance in 0..=FARTHEST {
            let mut count = 0;
            for _ in 0..PAIRS {
                // Sampled bits are drawn anew for each pair, as the law assumes.
                let tables = draw(random.next())?;
                let a = random.next();
                count += usize::from(tables.meet(&[a], &[flipped(a, distance, &mut random)]));
            }
            met.push(count as f64 / PAIRS as f64);
        }
        kinds.push(NamedTables { name, law, draw, met });
    }
    let mut findings = vec![measured(&kinds)];
    findings.extend(brute_force(&kinds, &mut random)?);
    Ok((panel(&kinds), findings))
}

/// The string with so many different bits flipped.
fn flipped(string: u64, distance: usize, random: &mut SplitMix) -> u64 {
    let mut flips = 0_u64;
    while (flips.count_ones() as usize) < distance {
        flips |= 1 << random.below(BITS as u64);
    }
    string ^ flips
}

fn panel(kinds: &[NamedTables]) -> Panel {
    let mut series = Vec::new();
    for one in kinds {
        let points = (0..=FARTHEST).map(|d| Point::new(d as f64, one.law.found(d)));
        series.push(Series::new(&one.name, SeriesKind::Line, points));
    }
    for one in kinds {
        let points = one.met.iter().enumerate().map(|(d, met)| Point::new(d as f64, *met));
        series.push(Series::new(&one.name, SeriesKind::Dots, points));
    }
    Panel {
        title: format!("Finding {BITS}-bit fingerprints (lines: theory; dots: {PAIRS} pairs each)"),
        x: Axis::linear("Hamming distance").within(0.0, FARTHEST as f64).whole(),
        y: Axis::linear("probability").within(0.0, 1.0),
        series,
    }
}

fn measured(kinds: &[NamedTables]) -> Finding {
    let mut most = 0.0_f64;
    for one in kinds {
        for (distance, met) in one.met.iter().enumerate() {
            let law = one.law.found(distance);
            let error = (law * (1.0 - law) / PAIRS as f64).sqrt();
            // Half a pair is allowed for, since counts are whole.
            let beyond = ((met - law).abs() - 0.5 / PAIRS as f64).max(0.0);
            let errors = if beyond > 0.0 { beyond / error.max(1e-12) } else { 0.0 };
            most = most.max(errors);
        }
    }
    Finding::new(
        "fingerprints meet in tables as often as counting says, at every distance",
        most < 4.5,
        format!(
            "at most {most:.1} standard errors off, of {} shares",
            kinds.len() * (FARTHEST + 1)
        ),
    )
}

/// Looks up all pairs of a collection in the tables, and compares them with those at the distance
/// by comparing all fingerprints.
fn brute_force(kinds: &[NamedTables], random: &mut SplitMix) -> Result<Vec<Finding>> {
    let mut all: Vec<u64> = (0..COLLECTION).map(|_| random.next()).collect();
    for at in 0..COLLECTION {
        all.push(flipped(all[at], 1 + at % (2 * DISTANCE), random));
    }
    let near = |(a, b): &(usize, usize)| (all[*a] ^ all[*b]).count_ones() as usize <= DISTANCE;
    let pairs = (0..all.len()).flat_map(|b| (0..b).map(move |a| (a, b)));
    let expected: HashSet<(usize, usize)> = pairs.filter(near).collect();
    let mut seen = Vec::new();
    for one in kinds {
        let candidates = candidates(&(one.draw)(random.next())?, &all);
        let found = candidates.iter().filter(|pair| near(pair)).count();
        seen.push((one, found, candidates.len()));
    }
    let text = |(one, found, candidates): &(&NamedTables, usize, usize)| {
        format!("{found} of {} among {candidates} candidates ({})", expected.len(), one.name)
    };
    let (certain, uncertain): (Vec<_>, Vec<_>) =
        seen.into_iter().partition(|(one, ..)| one.law.certain() >= DISTANCE);
    let told = |seen: &[(&NamedTables, usize, usize)]| {
        seen.iter().map(text).collect::<Vec<_>>().join("; ")
    };
    Ok(vec![
        Finding::new(
            format!(
                "choices of blocks find every pair at distance {DISTANCE} that brute force does"
            ),
            certain.iter().all(|(_, found, _)| *found == expected.len()),
            told(&certain),
        ),
        Finding::new(
            "as many sampled bits in as many tables miss some of them",
            uncertain.iter().all(|(_, found, _)| *found < expected.len()),
            told(&uncertain),
        ),
    ])
}

/// All pairs that are equal in a table, the lower number first.
fn candidates(tables: &HammingTables, all: &[u64]) -> HashSet<(usize, usize)> {
    let mut buckets: HashMap<(usize, Vec<u64>), Vec<usize>> = HashMap::new();
    let mut pairs = HashSet::new();
    for (number, string) in all.iter().enumerate() {
        for (table, key) in tables.keys(&[*string]).into_iter().enumerate() {
            let bucket = buckets.entry((table, key)).or_default();
            pairs.extend(bucket.iter().map(|other| (*other, number)));
            bucket.push(number);
        }
    }
    pairs
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn candidates_are_the_pairs_that_meet() {
        let mut random = SplitMix::new(3);
        let all: Vec<u64> = (0..60).map(|_| random.next() & 0xf0f0).collect();
        let tables = HammingTables::blocks(16, 4, 2).expect("valid");
        let got = candidates(&tables, &all);
        for b in 0..all.len() {
            for a in 0..b {
                assert_eq!(got.contains(&(a, b)), tables.meet(&[all[a]], &[all[b]]), "{a} {b}");
            }
        }
    }

    #[test]
    fn flips_are_as_many_as_asked_for() {
        let mut random = SplitMix::new(1);
        for distance in [0, 1, 24, 64] {
            let other = flipped(0x1234, distance, &mut random);
            assert_eq!((other ^ 0x1234).count_ones() as usize, distance);
        }
    }

    #[test]
    fn the_findings_hold_under_other_seeds() {
        for seed in 0..3 {
            for finding in run(seed).expect("valid").1 {
                assert!(finding.holds, "{seed}: {}: {}", finding.expected, finding.seen);
            }
        }
    }
}
