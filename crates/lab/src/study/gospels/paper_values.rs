//! Published values for the Gospels, pair by pair in the order of the paper's tables.

/// Exact values for a built-in translation, computed independently of this project by a program in
/// another language, for the same files and the same preparation.
pub(super) struct ExactValues {
    /// The similarity of the multisets, in ten-thousandths.
    pub(super) multisets: [u32; 6],
    /// The common shingles of the multisets, if computed.
    pub(super) shared: Option<[u64; 6]>,
    /// The similarity of the sets in ten-thousandths, if computed.
    pub(super) sets: Option<[u32; 6]>,
}

/// The values for the French texts, then for the English ones.
pub(super) const EXACT: [ExactValues; 2] = [
    ExactValues {
        multisets: [6376, 6518, 6511, 5746, 8164, 6110],
        shared: Some([72_018, 55_736, 70_445, 62_156, 93_368, 62_206]),
        sets: Some([6801, 7011, 6953, 7419, 7746, 7813]),
    },
    ExactValues { multisets: [6286, 6534, 6604, 5771, 8100, 6213], shared: None, sets: None },
];

/// A cell of a table of Dembele, Lo 2015 for their French texts: similarity in percent, its
/// standard deviation in percent if there is one, and seconds.
#[derive(Clone, Copy)]
pub(super) struct PaperCell {
    pub(super) percent: f64,
    pub(super) deviation: Option<f64>,
    pub(super) seconds: f64,
}

const fn plain(percent: f64, seconds: f64) -> PaperCell {
    PaperCell { percent, deviation: None, seconds }
}

const fn of_runs(percent: f64, deviation: f64, seconds: f64) -> PaperCell {
    PaperCell { percent, deviation: Some(deviation), seconds }
}

/// Table 6: the direct comparison of all shingles.
pub(super) const DIRECT: [PaperCell; 6] = [
    plain(57.62, 755.0),
    plain(57.53, 816.0),
    plain(51.0, 510.0),
    plain(54.12, 640.0),
    plain(69.55, 1430.0),
    plain(48.74, 508.0),
];

/// Table 7: the same, reading the files repeatedly.
pub(super) const BY_FILE: [PaperCell; 6] = [
    plain(57.62, 2312.0),
    plain(57.53, 1376.0),
    plain(51.0, 3021.0),
    plain(54.12, 3080.0),
    plain(69.55, 1457.0),
    plain(48.74, 1552.0),
];

/// Table 8: samples of 10,000 shingles of each text.
pub(super) const SAMPLED: [PaperCell; 6] = [
    plain(47.5, 20.0),
    plain(46.46, 34.0),
    plain(46.04, 29.0),
    plain(50.79, 19.0),
    plain(50.26, 22.0),
    plain(52.28, 27.0),
];

/// The numbers of functions in tables 9 to 12.
pub(super) const FUNCTIONS: [usize; 4] = [5, 10, 15, 20];

/// Tables 9 to 12: RUM on such samples, the mean of 50 runs.
pub(super) const RUM: [[PaperCell; 6]; 4] = [
    [
        of_runs(60.0, 20.76, 26.0),
        of_runs(58.0, 22.1, 25.0),
        of_runs(59.2, 20.38, 22.0),
        of_runs(56.4, 19.87, 22.0),
        of_runs(63.2, 22.03, 22.0),
        of_runs(59.2, 22.38, 27.0),
    ],
    [
        of_runs(62.0, 16.68, 26.0),
        of_runs(61.6, 15.91, 25.0),
        of_runs(63.6, 14.52, 22.0),
        of_runs(62.0, 14.56, 31.0),
        of_runs(58.0, 13.41, 27.0),
        of_runs(63.8, 14.54, 29.0),
    ],
    [
        of_runs(57.0, 13.45, 28.0),
        of_runs(59.33, 11.33, 28.0),
        of_runs(58.26, 13.84, 30.0),
        of_runs(60.13, 13.23, 30.0),
        of_runs(58.26, 13.51, 28.0),
        of_runs(57.2, 14.17, 29.0),
    ],
    [
        of_runs(57.6, 10.63, 32.0),
        of_runs(60.8, 10.11, 31.0),
        of_runs(62.9, 10.63, 31.0),
        of_runs(57.9, 9.59, 32.0),
        of_runs(63.6, 9.22, 31.0),
        of_runs(60.7, 8.94, 31.0),
    ],
];

/// Table 5 for one text.
#[derive(Clone, Copy)]
pub(super) struct PaperSize {
    pub(super) rows: u64,
    pub(super) letters_before: u64,
    pub(super) letters_after: u64,
}

const fn sized(rows: u64, letters_before: u64, letters_after: u64) -> PaperSize {
    PaperSize { rows, letters_before, letters_after }
}

/// Table 5: the rows, and the letters before and after words of fewer than three letters are
/// dropped; John, Luke, Mark, Matthew.
pub(super) const SIZES: [PaperSize; 4] = [
    sized(2534, 96_269, 69_316),
    sized(3442, 129_548, 94_766),
    sized(628, 76_543, 55_555),
    sized(1319, 149_747, 108_722),
];

/// Table 6: the numbers of common shingles, Kc. Table 7 repeats them, with the comma of John and
/// Mark misplaced.
pub(super) const COMMON: [u64; 6] = [59_981, 45_600, 60_134, 52_782, 83_468, 53_827];
