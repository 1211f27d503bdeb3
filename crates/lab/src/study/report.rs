//! The result of a study: tables, a figure, and findings. The command prints and draws it.

/// The result of a study.
pub(crate) struct Report {
    /// The subject of the study, in one line.
    pub(crate) title: String,
    /// The short table that is printed.
    pub(crate) table: Table,
    /// Further tables to print, each with its name.
    pub(crate) further: Vec<(String, Table)>,
    /// All points, for further use.
    pub(crate) data: Table,
    pub(crate) figure: Figure,
    pub(crate) findings: Vec<Finding>,
}

/// An expected result, and whether it holds.
pub(crate) struct Finding {
    /// The expected result.
    pub(crate) expected: String,
    /// The actual result, with figures.
    pub(crate) seen: String,
    pub(crate) holds: bool,
}

impl Finding {
    pub(crate) fn new(expected: impl Into<String>, holds: bool, seen: impl Into<String>) -> Self {
        Self { expected: expected.into(), seen: seen.into(), holds }
    }
}

/// A table of named columns.
pub(crate) struct Table {
    pub(crate) columns: Vec<String>,
    pub(crate) rows: Vec<Vec<Cell>>,
}

impl Table {
    pub(crate) fn new(columns: &[&str]) -> Self {
        Self { columns: columns.iter().map(|name| (*name).to_owned()).collect(), rows: Vec::new() }
    }

    /// All points of a figure: panel, series, coordinates and spread.
    pub(crate) fn of_points(figure: &Figure) -> Self {
        let mut table = Self::new(&["panel", "series", "x", "y", "low", "high"]);
        for (panel, series) in
            figure.panels.iter().flat_map(|p| p.series.iter().map(move |s| (p, s)))
        {
            for point in &series.points {
                let (low, high) = match point.spread {
                    Some((low, high)) => (low.into(), high.into()),
                    None => (Cell::Empty, Cell::Empty),
                };
                let (panel, series) = (panel.title.as_str().into(), series.name.as_str().into());
                table.push(vec![panel, series, point.x.into(), point.y.into(), low, high]);
            }
        }
        table
    }

    /// Adds a row with one cell for each column.
    pub(crate) fn push(&mut self, row: Vec<Cell>) {
        debug_assert_eq!(row.len(), self.columns.len(), "{:?}", self.columns);
        self.rows.push(row);
    }
}

/// A value of a table.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Cell {
    Text(String),
    Count(u64),
    /// A number of any size, in six significant digits.
    Number(f64),
    /// A similarity or probability, in four decimals.
    Share(f64),
    Empty,
}

impl From<&str> for Cell {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<String> for Cell {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl From<u64> for Cell {
    fn from(count: u64) -> Self {
        Self::Count(count)
    }
}

impl From<usize> for Cell {
    fn from(count: usize) -> Self {
        Self::Count(count as u64)
    }
}

impl From<f64> for Cell {
    fn from(number: f64) -> Self {
        Self::Number(number)
    }
}

/// A figure of several panels with a title.
pub(crate) struct Figure {
    pub(crate) title: String,
    pub(crate) panels: Vec<Panel>,
}

/// Series over two axes. Series with the same name have the same colour in all panels.
pub(crate) struct Panel {
    pub(crate) title: String,
    pub(crate) x: Axis,
    pub(crate) y: Axis,
    pub(crate) series: Vec<Series>,
}

/// An axis of a panel.
#[derive(Clone)]
pub(crate) struct Axis {
    /// The quantity with its unit.
    pub(crate) label: String,
    pub(crate) scale: Scale,
    /// The range; by default that of the points.
    pub(crate) range: Option<(f64, f64)>,
    /// The names of categories at 0, 1, 2 and so on; empty for numbers.
    pub(crate) names: Vec<String>,
    /// Whether all values are whole numbers, so that marks between them would mean nothing.
    pub(crate) whole: bool,
}

impl Axis {
    pub(crate) fn linear(label: &str) -> Self {
        Self {
            label: label.to_owned(),
            scale: Scale::Linear,
            range: None,
            names: Vec::new(),
            whole: false,
        }
    }

    /// A logarithmic axis. Numbers of 0 or less are left out.
    pub(crate) fn log(label: &str) -> Self {
        Self { scale: Scale::Log, ..Self::linear(label) }
    }

    pub(crate) fn within(self, least: f64, greatest: f64) -> Self {
        Self { range: Some((least, greatest)), ..self }
    }

    /// The axis of whole numbers, such as counts.
    pub(crate) fn whole(self) -> Self {
        Self { whole: true, ..self }
    }

    pub(crate) fn of_names(label: &str, names: impl IntoIterator<Item = String>) -> Self {
        Self { names: names.into_iter().collect(), ..Self::linear(label) }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scale {
    Linear,
    Log,
}

/// A series of points.
pub(crate) struct Series {
    pub(crate) name: String,
    pub(crate) kind: SeriesKind,
    pub(crate) points: Vec<Point>,
}

impl Series {
    pub(crate) fn new(
        name: impl Into<String>,
        kind: SeriesKind,
        points: impl IntoIterator<Item = Point>,
    ) -> Self {
        Self { name: name.into(), kind, points: points.into_iter().collect() }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SeriesKind {
    Line,
    Dots,
    /// Only the spread of the points, without a line.
    Band,
    /// A reference line, from theory or a source.
    Dashed,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Point {
    pub(crate) x: f64,
    pub(crate) y: f64,
    /// The range of the spread: a band along a line, a bar at a dot.
    pub(crate) spread: Option<(f64, f64)>,
}

impl Point {
    pub(crate) fn new(x: f64, y: f64) -> Self {
        Self { x, y, spread: None }
    }

    pub(crate) fn spread(x: f64, y: f64, low: f64, high: f64) -> Self {
        Self { x, y, spread: Some((low, high)) }
    }
}
