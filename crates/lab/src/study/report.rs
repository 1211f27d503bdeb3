//! What a study gives: tables, a figure, and findings. Only data; the command prints and draws it.

/// All that a study found.
pub(crate) struct Report {
    /// What the study is about, in one line.
    pub(crate) title: String,
    /// A few lines that are printed.
    pub(crate) table: Table,
    /// Every point, for further work.
    pub(crate) data: Table,
    pub(crate) figure: Figure,
    pub(crate) findings: Vec<Finding>,
}

/// Something that must be seen, and whether it was.
pub(crate) struct Finding {
    /// What must be seen.
    pub(crate) expected: String,
    /// What was seen, with its figures.
    pub(crate) seen: String,
    pub(crate) holds: bool,
}

impl Finding {
    pub(crate) fn new(expected: impl Into<String>, holds: bool, seen: impl Into<String>) -> Self {
        Self { expected: expected.into(), seen: seen.into(), holds }
    }
}

/// Rows of cells below names.
pub(crate) struct Table {
    pub(crate) columns: Vec<String>,
    pub(crate) rows: Vec<Vec<Cell>>,
}

impl Table {
    pub(crate) fn new(columns: &[&str]) -> Self {
        Self { columns: columns.iter().map(|name| (*name).to_owned()).collect(), rows: Vec::new() }
    }

    /// All points of a figure: the panel, the series, where the point is, and how far it spreads.
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

    /// Adds a row, which has a cell for each column.
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

/// A picture of some panels below a title.
pub(crate) struct Figure {
    pub(crate) title: String,
    pub(crate) panels: Vec<Panel>,
}

/// Series over two axes. Series of one name have one colour in all panels of a figure.
pub(crate) struct Panel {
    pub(crate) title: String,
    pub(crate) x: Axis,
    pub(crate) y: Axis,
    pub(crate) series: Vec<Series>,
}

/// What is drawn along one side.
#[derive(Clone)]
pub(crate) struct Axis {
    /// What it is, with its unit.
    pub(crate) label: String,
    pub(crate) scale: Scale,
    /// From where to where; by default as far as there are points.
    pub(crate) range: Option<(f64, f64)>,
    /// Of categories, the names of those at 0, 1, 2 and so on; none for numbers.
    pub(crate) names: Vec<String>,
}

impl Axis {
    pub(crate) fn linear(label: &str) -> Self {
        Self { label: label.to_owned(), scale: Scale::Linear, range: None, names: Vec::new() }
    }

    /// For numbers above 0 only; others are left out.
    pub(crate) fn log(label: &str) -> Self {
        Self { scale: Scale::Log, ..Self::linear(label) }
    }

    pub(crate) fn within(self, least: f64, greatest: f64) -> Self {
        Self { range: Some((least, greatest)), ..self }
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

/// Points that belong together.
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
    /// Only how far points spread, without a line.
    Band,
    /// A line to compare with: what theory or a source says.
    Dashed,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Point {
    pub(crate) x: f64,
    pub(crate) y: f64,
    /// From where to where it spreads: a band along a line, a bar at a dot.
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
