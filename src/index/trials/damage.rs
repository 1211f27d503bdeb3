//! Finished files of random workloads, and what may happen to their bytes.

use crate::index::trials::workload::{Expected, TUNING, create_on, steps, unbroken};
use crate::store::{CrashReplay, Disk, Event, Unsynced, leaves_of};
use std::sync::Arc;

pub(crate) const PAGE: usize = 4096;

/// A finished file and its expected answers.
pub(crate) struct Finished {
    start: Vec<u8>,
    events: Vec<Event>,
    /// The file.
    pub(crate) bytes: Vec<u8>,
    /// The file some commits earlier.
    older: Vec<u8>,
    /// The pages that are not all zeros.
    used: Vec<usize>,
    /// The leaves of some tables; those of redb's own come first.
    leaves: Vec<Vec<usize>>,
    /// The answers it must give.
    pub(crate) expected: Arc<Expected>,
    /// The expected answers before the last commit. In a file that was not closed, damage to the
    /// last commit looks like a power failure during it, so recovery rolls that commit back.
    pub(crate) before: Option<Arc<Expected>>,
}

/// The file after these events, of which one may be lost.
fn replayed(start: &[u8], events: &[Event], lost: Option<usize>) -> Vec<u8> {
    let mut replay = CrashReplay::new(start.to_vec());
    let kept = events.iter().enumerate().filter(|(number, _)| Some(*number) != lost);
    kept.for_each(|(_, event)| replay.pass(event));
    replay.image(Unsynced::Kept, &mut fastrand::Rng::with_seed(0))
}

impl Finished {
    /// Makes a file with runs, an unfinished merge, dead documents and a memtable, either closed or
    /// in need of recovery.
    pub(crate) fn new(seed: u64) -> Self {
        let disk = Disk::default();
        create_on(&disk).expect("created");
        let start = disk.bytes();
        disk.record();
        let expected = unbroken(&steps(seed, 30), &disk, TUNING);
        let mut events = disk.events();
        let last = events.iter().rposition(|event| matches!(event, Event::Done(_)));
        let unclean = seed.is_multiple_of(2);
        events.truncate(if unclean { last.unwrap_or(0) } else { events.len() });
        let bytes = replayed(&start, &events, None);
        let older = replayed(&start, &events[..events.len() * 4 / 5], None);
        let pages = bytes.chunks(PAGE).enumerate();
        let used = pages.filter(|(_, page)| page.iter().any(|byte| *byte != 0));
        let used = used.map(|(number, _)| number).collect();
        let tables = ["storage", "signatures", "documents", "texts", "postings", "meta"];
        let leaves = tables.map(|table| leaves_of(&bytes, table)).to_vec();
        let mut expected = expected.into_iter().rev();
        let last = expected.next().expect("a state");
        let before = expected.find(|earlier| *earlier != last).filter(|_| unclean);
        Self { start, events, bytes, older, used, leaves, expected: last, before }
    }

    /// The file without one of its last writes.
    fn without_a_write(&self, random: &mut fastrand::Rng) -> Option<(Vec<u8>, String)> {
        let is_write = |event: &Event| matches!(event, Event::Write { at, .. } if *at > 0);
        let writes = self.events.iter().enumerate().filter(|(_, event)| is_write(event));
        let writes: Vec<usize> = writes.map(|(number, _)| number).collect();
        let lost = *writes.iter().rev().nth(random.usize(..writes.len().clamp(1, 100)))?;
        let Event::Write { at, bytes } = &self.events[lost] else { return None };
        let said = format!("page {} lost a write of {}", *at as usize / PAGE, bytes.len());
        Some((replayed(&self.start, &self.events, Some(lost)), said))
    }

    /// The file with one to three damages, and their description.
    pub(crate) fn damaged(&self, seed: u64) -> (Vec<u8>, String) {
        let mut random = fastrand::Rng::with_seed(seed);
        let (mut bytes, mut said) = (self.bytes.clone(), Vec::new());
        if random.u32(..12) == 0
            && let Some((changed, what)) = self.without_a_write(&mut random)
        {
            bytes = changed;
            said.push(what);
        }
        for _ in said.len()..random.usize(1..=3) {
            said.extend(self.damage(&mut bytes, &mut random));
        }
        (bytes, said.join(", "))
    }

    /// Does one damage and describes it. `None` if the place is cut off already.
    fn damage(&self, bytes: &mut Vec<u8>, random: &mut fastrand::Rng) -> Option<String> {
        let pick = |pages: &[usize], random: &mut fastrand::Rng| match pages {
            [] => 1,
            pages => pages[random.usize(..pages.len())],
        };
        let page = pick(&self.used, random);
        let other = pick(&self.used, random);
        let kind = random.u32(..14);
        let leaves = &self.leaves[random.usize(..self.leaves.len())];
        let (page, other) = match kind {
            // Pages of one table, or of redb's own.
            10 => (pick(leaves, random), pick(leaves, random)),
            11 | 12 => (pick(&self.leaves[0], random), other),
            _ => (page, other),
        };
        let (start, from) = (page * PAGE, other * PAGE);
        // The first bytes of a page hold its type, so half of the damages hit them.
        let within = if random.bool() { random.usize(..64) } else { random.usize(..PAGE) };
        let at = start + within;
        if bytes.len() < (page.max(other) + 1) * PAGE {
            return None;
        }
        Some(match kind {
            0..=2 | 11 => {
                let bit = random.u32(..8);
                bytes[at] ^= 1 << bit;
                format!("bit {bit} of byte {at}")
            }
            3 => {
                let length = random.usize(1..16).min(bytes.len() - at);
                bytes[at..at + length].fill_with(|| random.u8(..));
                format!("{length} bytes from {at}")
            }
            4 => {
                bytes[start..start + PAGE].fill(0);
                format!("page {page} zero")
            }
            5 => {
                let length = random.usize(1..512).min(bytes.len() - at);
                bytes[at..at + length].fill(0);
                format!("{length} zeros from {at}")
            }
            6 | 10 => {
                bytes.copy_within(from..from + PAGE, start);
                format!("page {other} on page {page}")
            }
            7 => {
                let (one, two) = (page.min(other) * PAGE, page.max(other) * PAGE);
                let (head, tail) = bytes.split_at_mut(two);
                if one < two {
                    head[one..one + PAGE].swap_with_slice(&mut tail[..PAGE]);
                }
                format!("pages {page} and {other} swapped")
            }
            8 => {
                let length = if random.bool() { at } else { start };
                bytes.truncate(length);
                format!("cut to {length}")
            }
            9 | 12 => {
                let old = self.older.get(start..start + PAGE)?;
                bytes[start..start + PAGE].copy_from_slice(old);
                format!("page {page} as it was earlier")
            }
            _ => {
                let length = random.usize(1..3 * PAGE);
                bytes.resize(bytes.len() + length, 0);
                format!("{length} zeros at the end")
            }
        })
    }
}
