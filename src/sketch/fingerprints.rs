//! The fingerprints of a text as a document row stores them: positions and hashes
//! (`docs/format.md`, section "Fingerprint row").

/// The fingerprints of a text, in order, in their stored form.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Fingerprints(Box<[u8]>);

/// Fingerprints of equal hash at equal distances: mostly one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PrintRun {
    /// The position of the first, in units from the beginning of the text.
    pub(crate) first: u64,
    /// The distance between two, and of the first to the fingerprint before.
    pub(crate) gap: u64,
    pub(crate) count: u64,
    pub(crate) hash: u32,
}

/// What is wrong with stored fingerprints.
pub(crate) type Fault = &'static str;

const CUT_SHORT: Fault = "cut short";

impl Fingerprints {
    /// Takes fingerprints in their stored form. Checks that they can be read, and that they lie in
    /// the text.
    pub(crate) fn from_bytes(bytes: &[u8]) -> Result<Self, Fault> {
        let fingerprints = Self(bytes.into());
        let mut rest = bytes;
        let shingles = varint(&mut rest)?;
        let mut next = 0_u64;
        let mut runs = Runs { rest, last: None };
        while let Some(run) = runs.read()? {
            let last = run.gap.checked_mul(run.count - 1);
            let last = last.and_then(|length| run.first.checked_add(length));
            match last {
                Some(last) if run.first >= next && last < shingles => next = last + 1,
                _ => return Err("a fingerprint lies beyond its text"),
            }
        }
        Ok(fingerprints)
    }

    /// The stored form.
    pub(crate) fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// The number of shingles of the text.
    pub(crate) fn shingles(&self) -> u64 {
        varint(&mut &*self.0).unwrap_or(0)
    }

    /// The fingerprints in order, repetitions together.
    pub(crate) fn runs(&self) -> impl Iterator<Item = PrintRun> + '_ {
        let mut rest = &*self.0;
        let _ = varint(&mut rest);
        Runs { rest, last: None }
    }

    /// Whether a hash occurs more than once.
    pub(crate) fn has_repeats(&self) -> bool {
        let (mut runs, mut count) = (0, 0_u64);
        for run in self.runs() {
            (runs, count) = (runs + 1, count.saturating_add(run.count));
        }
        count > runs || self.words().len() as u64 != runs
    }

    /// The distinct hashes, ascending: the words under which the document is found.
    pub(crate) fn words(&self) -> Box<[u32]> {
        let mut words: Vec<u32> = self.runs().map(|run| run.hash).collect();
        words.sort_unstable();
        words.dedup();
        words.into()
    }
}

/// Reads runs from their stored form.
struct Runs<'a> {
    rest: &'a [u8],
    /// The last fingerprint.
    last: Option<PrintRun>,
}

impl Runs<'_> {
    /// The next run, or nothing at the end.
    fn read(&mut self) -> Result<Option<PrintRun>, Fault> {
        if self.rest.is_empty() {
            return Ok(None);
        }
        // The position after the last fingerprint: the first gap counts from before the text.
        let next = match self.last {
            None => 0,
            Some(last) => last.first + last.gap * (last.count - 1) + 1,
        };
        let gap = varint(&mut self.rest)?;
        let run = match (gap, self.last) {
            (0, None) => return Err("it begins with a repetition"),
            (0, Some(last)) => {
                let count = varint(&mut self.rest)?;
                if count == 0 {
                    return Err("a repetition of nothing");
                }
                PrintRun { first: next.saturating_add(last.gap - 1), count, ..last }
            }
            (gap, _) => {
                let (hash, rest) = self.rest.split_first_chunk::<4>().ok_or(CUT_SHORT)?;
                self.rest = rest;
                let first = next.checked_add(gap - 1).ok_or(CUT_SHORT)?;
                PrintRun { first, gap, count: 1, hash: u32::from_le_bytes(*hash) }
            }
        };
        run.gap
            .checked_mul(run.count)
            .and_then(|length| length.checked_add(run.first))
            .ok_or("a fingerprint lies beyond its text")?;
        self.last = Some(run);
        Ok(Some(run))
    }
}

impl Iterator for Runs<'_> {
    type Item = PrintRun;

    fn next(&mut self) -> Option<PrintRun> {
        // `from_bytes` has read them all before.
        self.read().ok().flatten()
    }
}

/// Collects fingerprints in their stored form.
#[derive(Debug, Default)]
pub(crate) struct Encoder {
    bytes: Vec<u8>,
    /// The position after the last fingerprint.
    next: u64,
    /// The gap and hash of the last fingerprint, and how often it was repeated.
    last: Option<(u64, u32)>,
    repeated: u64,
}

impl Encoder {
    /// Adds the next fingerprint.
    pub(crate) fn push(&mut self, position: u64, hash: u32) {
        let gap = position - self.next + 1;
        self.next = position + 1;
        if self.last == Some((gap, hash)) {
            self.repeated += 1;
            return;
        }
        self.end_repetition();
        push_varint(&mut self.bytes, gap);
        self.bytes.extend_from_slice(&hash.to_le_bytes());
        self.last = Some((gap, hash));
    }

    fn end_repetition(&mut self) {
        match std::mem::take(&mut self.repeated) {
            0 => {}
            count => {
                self.bytes.push(0);
                push_varint(&mut self.bytes, count);
            }
        }
    }

    /// The fingerprints of a text of this many shingles.
    pub(crate) fn finish(mut self, shingles: u64) -> Fingerprints {
        self.end_repetition();
        let mut head = Vec::with_capacity(10);
        push_varint(&mut head, shingles);
        Fingerprints([&head[..], &self.bytes].concat().into())
    }
}

/// Appends a number, seven bits a byte, the lowest first; all bytes but the last have the top bit.
pub(crate) fn push_varint(bytes: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        bytes.push(number as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
}

/// Reads a number from the front.
fn varint(bytes: &mut &[u8]) -> Result<u64, Fault> {
    let mut number = 0_u64;
    for shift in (0..63).step_by(7) {
        let (byte, rest) = bytes.split_first().ok_or(CUT_SHORT)?;
        *bytes = rest;
        number |= u64::from(byte & 0x7F) << shift;
        if *byte < 0x80 {
            return Ok(number);
        }
    }
    Err("a number is too long")
}
