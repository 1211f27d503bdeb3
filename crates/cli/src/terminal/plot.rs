//! Curves over similarity, drawn with characters for a terminal or as SVG.

use plotters::prelude::*;

/// A probability for each similarity from 0 to 1.
pub struct Curve {
    /// The character that draws it on a terminal.
    sign: char,
    name: &'static str,
    /// The values at similarities in steps of 1 / `STEPS`.
    values: Vec<f64>,
}

/// Steps from 0 to 1: two for each column of a terminal.
const STEPS: usize = 2 * COLUMNS;

/// Columns from 0 to 1. With its labels, a plot is narrower than 80 columns.
const COLUMNS: usize = 64;

/// Rows from 0 to 1.
const ROWS: usize = 12;

impl Curve {
    /// Evaluates a function of the similarity.
    pub fn new(sign: char, name: &'static str, value: impl Fn(f64) -> f64) -> Self {
        let values = (0..=STEPS).map(|step| value(step as f64 / STEPS as f64)).collect();
        Self { sign, name, values }
    }

    fn points(&self) -> impl Iterator<Item = (f64, f64)> + '_ {
        self.values.iter().enumerate().map(|(step, value)| (step as f64 / STEPS as f64, *value))
    }
}

/// Draws curves with characters, later ones over earlier ones, below a title, and a line at the
/// threshold.
pub fn draw(curves: &[Curve], title: &str, threshold: f64) -> String {
    let mut rows = vec![vec![' '; COLUMNS + 1]; ROWS + 1];
    let at = (threshold * COLUMNS as f64).round() as usize;
    for row in &mut rows {
        row[at.min(COLUMNS)] = '|';
    }
    for curve in curves {
        for (column, value) in curve.values.iter().step_by(STEPS / COLUMNS).enumerate() {
            let height = (value.clamp(0.0, 1.0) * ROWS as f64).round() as usize;
            rows[ROWS - height][column] = curve.sign;
        }
    }
    let mut drawing = format!("\n      {title}\n\n share\n");
    for (number, row) in rows.iter().enumerate() {
        let label = match number {
            0 => "1.0",
            n if n == ROWS / 2 => "0.5",
            ROWS => "0.0",
            _ => "",
        };
        let row: String = row.iter().collect();
        drawing += format!("{label:>4} |{row}").trim_end();
        drawing.push('\n');
    }
    drawing += &format!("     +{}\n     ", "-".repeat(COLUMNS + 1));
    for tenth in (0..=10).step_by(2) {
        let width = if tenth == 0 { 3 } else { COLUMNS / 5 };
        drawing += &format!("{:>width$.1}", f64::from(tenth) / 10.0);
    }
    let legend = curves.iter().rev().map(|curve| format!("{} {}", curve.sign, curve.name));
    let legend = legend.collect::<Vec<_>>().join("   ");
    drawing += &format!("\n      similarity        {legend}   | threshold\n");
    drawing
}

/// Draws counts as one line of bars, on a logarithmic scale. Nothing stands for a count of 0.
pub fn bars(counts: &[u64]) -> String {
    const HEIGHTS: [char; 8] = [
        '\u{2581}', '\u{2582}', '\u{2583}', '\u{2584}', '\u{2585}', '\u{2586}', '\u{2587}',
        '\u{2588}',
    ];
    let most = counts.iter().copied().max().unwrap_or(0).max(1);
    let height = |count: u64| match count {
        0 => ' ',
        _ => {
            let share = (count as f64).ln_1p() / (most as f64).ln_1p();
            HEIGHTS[((share * 8.0).ceil() as usize).clamp(1, 8) - 1]
        }
    };
    counts.iter().map(|count| height(*count)).collect()
}

/// Draws curves and the threshold as SVG, below a title.
pub fn picture(curves: &[Curve], title: &str, threshold: f64) -> anyhow::Result<String> {
    // Colour-blind readers can tell these colours apart (Okabe and Ito 2008).
    const COLORS: [RGBColor; 3] =
        [RGBColor(213, 94, 0), RGBColor(0, 158, 115), RGBColor(0, 114, 178)];
    const FONT: (&str, i32) = ("sans-serif", 18);
    let mut svg = String::new();
    {
        let area = SVGBackend::with_string(&mut svg, (800, 500)).into_drawing_area();
        area.fill(&WHITE)?;
        let mut chart = ChartBuilder::on(&area)
            .caption(title, ("sans-serif", 22))
            .margin(15)
            .x_label_area_size(50)
            .y_label_area_size(65)
            .build_cartesian_2d(0.0..1.0, 0.0..1.0)?;
        let mut mesh = chart.configure_mesh();
        mesh.x_labels(11).y_labels(11).light_line_style(TRANSPARENT);
        mesh.label_style(FONT).axis_desc_style(FONT);
        mesh.x_desc("similarity of the pair").y_desc("share of pairs").draw()?;
        for (curve, color) in curves.iter().zip(COLORS.into_iter().cycle()) {
            let line = LineSeries::new(curve.points(), color.stroke_width(2));
            chart
                .draw_series(line)?
                .label(curve.name)
                .legend(move |(x, y)| PathElement::new([(x, y), (x + 20, y)], color));
        }
        let line = LineSeries::new([(threshold, 0.0), (threshold, 1.0)], BLACK);
        chart
            .draw_series(line)?
            .label(format!("threshold {threshold}"))
            .legend(|(x, y)| PathElement::new([(x, y), (x + 20, y)], BLACK));
        chart
            .configure_series_labels()
            .position(SeriesLabelPosition::UpperLeft)
            .label_font(FONT)
            .background_style(WHITE.mix(0.8))
            .border_style(BLACK)
            .draw()?;
        area.present()?;
    }
    Ok(svg)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plot_fits_a_terminal_and_shows_what_rises_where() {
        let step = Curve::new('*', "step", |x| if x < 0.5 { 0.0 } else { 1.0 });
        let drawing = draw(&[step], "a title", 0.75);
        let lines: Vec<&str> = drawing.lines().skip(3).collect();
        assert!(drawing.starts_with("\n      a title\n"), "{drawing}");
        assert!(lines.iter().all(|line| line.len() < 80), "{drawing}");
        let stars = |line: &str| line.chars().filter(|c| *c == '*').count();
        assert_eq!((stars(lines[1]), stars(lines[ROWS + 1])), (COLUMNS / 2 + 1, COLUMNS / 2));
        assert_eq!(lines[2].find('|').zip(lines[2].rfind('|')), Some((5, 6 + 48)), "{drawing}");
    }

    #[test]
    fn bars_are_as_high_as_the_logarithm_of_their_count() {
        assert_eq!(bars(&[0, 1, 1000, 30, 1]), " \u{2581}\u{2588}\u{2584}\u{2581}");
        assert_eq!((bars(&[]), bars(&[0, 0])), (String::new(), "  ".to_owned()));
    }

    #[test]
    fn a_picture_has_axes_curves_and_the_threshold() {
        let curves = [Curve::new('*', "candidate", |x| x), Curve::new('o', "textbook", |x| x * x)];
        let svg = picture(&curves, "a title", 0.8).expect("drawn");
        for part in [
            "<svg",
            "</svg>",
            "a title",
            "similarity of the pair",
            "share of pairs",
            "candidate",
            "textbook",
            "threshold 0.8",
        ] {
            assert!(svg.contains(part), "{part}");
        }
        assert!(svg.matches("<polyline").count() >= 3, "{svg}");
    }
}
