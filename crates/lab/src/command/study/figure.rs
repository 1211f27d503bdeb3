//! Draws the figure of a study as SVG: panels with axes, lines, dots, bands and a legend.

use super::clip_to_panel::{self, PanelPoint};
use super::drawn_axis::DrawnAxis;
use crate::study::{Figure, Panel, Point, Series, SeriesKind};
use plotters::coord::Shift;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;
type Chart<'a, 'b> = ChartContext<'a, SVGBackend<'b>, Cartesian2d<DrawnAxis, DrawnAxis>>;

/// Colours that colour-blind people can tell apart (Okabe, Ito 2008), with a darker yellow for
/// lines on white.
const COLORS: [RGBColor; 8] = [
    RGBColor(0, 114, 178),
    RGBColor(213, 94, 0),
    RGBColor(0, 158, 115),
    RGBColor(204, 121, 167),
    RGBColor(86, 180, 233),
    RGBColor(230, 159, 0),
    RGBColor(100, 100, 100),
    RGBColor(150, 110, 20),
];

/// The opacity of a band.
const BAND: f64 = 0.18;

const FONT: &str = "sans-serif";
const TITLE: i32 = 22;
const HEADING: i32 = 17;
const TEXT: i32 = 14;

/// The size in pixels of a panel with its legend, alone or beside another.
const ALONE: (u32, u32) = (900, 560);
const BESIDE: (u32, u32) = (620, 470);

/// The height in pixels of the title and of a line of a legend.
const TOP: u32 = 44;
const LEGEND_LINE: u32 = 22;

/// The average width in pixels of a letter, and the width of the symbol before a name in a legend.
const LETTER: f64 = 7.2;
const SIGN: i32 = 34;

/// The figure as the text of an SVG file.
pub(super) fn draw(figure: &Figure) -> anyhow::Result<String> {
    let columns = if figure.panels.len() > 1 { 2 } else { 1 };
    let rows = figure.panels.len().div_ceil(columns);
    let size = if columns > 1 { BESIDE } else { ALONE };
    let whole = (size.0 * columns as u32, size.1 * rows as u32 + TOP);
    let mut svg = String::new();
    {
        let area = SVGBackend::with_string(&mut svg, whole).into_drawing_area();
        area.fill(&WHITE)?;
        let (top, below) = area.split_vertically(TOP);
        let center = Pos::new(HPos::Center, VPos::Center);
        let style = (FONT, TITLE).into_font().color(&BLACK).pos(center);
        top.draw_text(&figure.title, &style, (whole.0 as i32 / 2, TOP as i32 / 2))?;
        let names = names(figure);
        for (panel, area) in figure.panels.iter().zip(below.split_evenly((rows, columns))) {
            draw_panel(panel, &area, &names)?;
        }
        area.present()?;
    }
    Ok(svg)
}

/// The names of all series in order of appearance, which decides their colours.
fn names(figure: &Figure) -> Vec<&str> {
    let mut names: Vec<&str> = Vec::new();
    for series in figure.panels.iter().flat_map(|panel| &panel.series) {
        if !names.contains(&series.name.as_str()) {
            names.push(&series.name);
        }
    }
    names
}

fn color(names: &[&str], series: &Series) -> RGBColor {
    let place = names.iter().position(|name| *name == series.name).unwrap_or(0);
    COLORS[place % COLORS.len()]
}

fn draw_panel(panel: &Panel, area: &Area<'_>, names: &[&str]) -> anyhow::Result<()> {
    let (width, height) = area.dim_in_pixel();
    let lines = legend_lines(&panel.series, width);
    let legend = LEGEND_LINE * lines.len() as u32 + 8;
    let (plot, below) = area.split_vertically(height - legend);
    let points = || panel.series.iter().flat_map(|series| &series.points);
    let spreads = points().filter_map(|point| point.spread);
    let x = DrawnAxis::new(&panel.x, points().map(|point| point.x));
    let y = DrawnAxis::new(
        &panel.y,
        points().map(|point| point.y).chain(spreads.flat_map(|(low, high)| [low, high])),
    );
    let named = x.has_names();
    let mut builder = ChartBuilder::on(&plot);
    builder.margin(12).margin_right(24).x_label_area_size(48).y_label_area_size(72);
    if !panel.title.is_empty() {
        builder.caption(&panel.title, (FONT, HEADING));
    }
    let mut chart = builder.build_cartesian_2d(x, y)?;
    let mut mesh = chart.configure_mesh();
    mesh.light_line_style(TRANSPARENT).bold_line_style(BLACK.mix(0.12));
    mesh.label_style((FONT, TEXT)).axis_desc_style((FONT, TEXT + 1));
    mesh.x_labels(11).y_labels(9).x_desc(&panel.x.label).y_desc(&panel.y.label);
    if named {
        mesh.disable_x_mesh();
    }
    mesh.draw()?;
    // A band would hide the lines of earlier series.
    for series in &panel.series {
        draw_band(&mut chart, series, color(names, series))?;
    }
    // Dots of several series at one name are drawn beside each other.
    let dots = panel.series.iter().filter(|series| series.kind == SeriesKind::Dots).count();
    let mut dot = 0;
    for series in &panel.series {
        let shift = if named && series.kind == SeriesKind::Dots {
            dot += 1;
            (f64::from(dot) - (dots as f64 + 1.0) / 2.0) * f64::min(0.14, 0.8 / dots as f64)
        } else {
            0.0
        };
        draw_series(&mut chart, series, shift, color(names, series))?;
    }
    draw_legend(&below, &lines, names)
}

/// The points of a series that its panel can show.
fn shown(chart: &Chart<'_, '_>, series: &Series) -> Vec<Point> {
    let sides = chart.as_coord_spec();
    let shown = |point: &&Point| sides.x_spec().shows(point.x) && sides.y_spec().shows(point.y);
    series.points.iter().filter(shown).copied().collect()
}

/// Draws the spread of a series of a line or a band.
fn draw_band(chart: &mut Chart<'_, '_>, series: &Series, color: RGBColor) -> anyhow::Result<()> {
    if !matches!(series.kind, SeriesKind::Line | SeriesKind::Band) {
        return Ok(());
    }
    let points = shown(chart, series);
    let edge = |at: fn((f64, f64)) -> f64| {
        points.iter().filter_map(move |point| Some((point.x, at(point.spread?))))
    };
    let mut band: Vec<(f64, f64)> = edge(|spread| spread.0).collect();
    band.extend(edge(|spread| spread.1).collect::<Vec<_>>().into_iter().rev());
    let places = band.into_iter().map(|(x, y)| place(chart, x, y)).collect();
    for band in inside(chart, vec![clip_to_panel::area(places)]) {
        if band.len() > 2 {
            chart.draw_series([Polygon::new(band, color.mix(BAND))])?;
        }
    }
    Ok(())
}

/// Draws a series without its band.
fn draw_series(
    chart: &mut Chart<'_, '_>,
    series: &Series,
    shift: f64,
    color: RGBColor,
) -> anyhow::Result<()> {
    let points = shown(chart, series);
    let middle: Vec<PanelPoint> =
        points.iter().map(|point| place(chart, point.x + shift, point.y)).collect();
    match series.kind {
        SeriesKind::Dots => {
            let bars = points.iter().filter_map(|point| {
                let (x, (low, high)) = (point.x + shift, point.spread?);
                Some([place(chart, x, low), place(chart, x, high)])
            });
            let bars: Vec<_> =
                bars.flat_map(|ends| inside(chart, clip_to_panel::line(&ends))).collect();
            chart.draw_series(bars.into_iter().map(|bar| PathElement::new(bar, color)))?;
            let dots = middle.into_iter().filter(|dot| clip_to_panel::is_inside(*dot)).collect();
            for dot in inside(chart, vec![dots]).into_iter().flatten() {
                chart.draw_series([Circle::new(dot, 3, color.filled())])?;
            }
        }
        SeriesKind::Line => {
            for part in inside(chart, clip_to_panel::line(&middle)) {
                chart.draw_series(LineSeries::new(part, color.stroke_width(2)))?;
            }
        }
        SeriesKind::Band => {}
        SeriesKind::Dashed => {
            for part in inside(chart, clip_to_panel::line(&middle)) {
                chart.draw_series(DashedLineSeries::new(part, 7, 4, color.stroke_width(2)))?;
            }
        }
    }
    Ok(())
}

/// The position of a point relative to the panel. It may be outside.
fn place(chart: &Chart<'_, '_>, x: f64, y: f64) -> PanelPoint {
    let sides = chart.as_coord_spec();
    (sides.x_spec().place(x), sides.y_spec().place(y))
}

/// Converts positions to values.
fn inside(chart: &Chart<'_, '_>, parts: Vec<Vec<PanelPoint>>) -> Vec<Vec<(f64, f64)>> {
    let sides = chart.as_coord_spec();
    let value = |(x, y)| (sides.x_spec().at(x), sides.y_spec().at(y));
    parts.into_iter().map(|part| part.into_iter().map(value).collect()).collect()
}

/// The series of the legend, line by line.
fn legend_lines(series: &[Series], width: u32) -> Vec<Vec<&Series>> {
    let mut lines: Vec<Vec<&Series>> = Vec::new();
    let mut room = 0;
    for one in series {
        let needed = legend_width(one);
        match lines.last_mut() {
            Some(line) if needed <= room => line.push(one),
            _ => {
                lines.push(vec![one]);
                room = width as i32 - 90;
            }
        }
        room -= needed;
    }
    lines
}

fn legend_width(series: &Series) -> i32 {
    SIGN + (series.name.chars().count() as f64 * LETTER) as i32 + 16
}

fn draw_legend(area: &Area<'_>, lines: &[Vec<&Series>], names: &[&str]) -> anyhow::Result<()> {
    let style = (FONT, TEXT).into_font().color(&BLACK).pos(Pos::new(HPos::Left, VPos::Center));
    for (number, line) in lines.iter().enumerate() {
        let y = (LEGEND_LINE * number as u32 + LEGEND_LINE / 2) as i32;
        let mut x = 80;
        for series in line {
            let color = color(names, series);
            let thick = color.stroke_width(2);
            match series.kind {
                SeriesKind::Dots => area.draw(&Circle::new((x + 12, y), 4, color.filled()))?,
                SeriesKind::Band => {
                    let bar = [(x, y - 5), (x + 25, y + 5)];
                    area.draw(&Rectangle::new(bar, color.mix(BAND * 2.0).filled()))?;
                }
                SeriesKind::Line => area.draw(&PathElement::new([(x, y), (x + 25, y)], thick))?,
                SeriesKind::Dashed => {
                    for from in [0, 10, 20] {
                        let dash = [(x + from, y), (x + from + 6, y)];
                        area.draw(&PathElement::new(dash, thick))?;
                    }
                }
            }
            area.draw_text(&series.name, &style, (x + SIGN, y))?;
            x += legend_width(series);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::study::Axis;

    fn figure(panels: usize) -> Figure {
        let wave = |shift: f64| {
            (1..=20).map(move |step| {
                let (x, y) = (f64::from(step), (f64::from(step) / 4.0 + shift).sin());
                Point::spread(x, y, y - 0.1, y + 0.2)
            })
        };
        let panel = |number: usize| Panel {
            title: format!("Panel {number}"),
            x: if number == 1 { Axis::log("size (characters)") } else { Axis::linear("size") },
            y: Axis::linear("similarity"),
            series: vec![
                Series::new("measured", SeriesKind::Line, wave(0.0)),
                Series::new("law", SeriesKind::Dashed, wave(0.5)),
                Series::new("runs", SeriesKind::Dots, wave(1.0)),
            ],
        };
        Figure { title: "Waves".to_owned(), panels: (0..panels).map(panel).collect() }
    }

    #[test]
    fn a_figure_has_titles_axes_legends_and_bands() {
        for panels in 1..=4 {
            let svg = draw(&figure(panels)).expect("drawn");
            for part in ["Waves", "Panel 0", "size", "similarity", "measured", "law", "runs"] {
                assert!(svg.contains(part), "{part}");
            }
            assert_eq!(svg.matches("<polygon").count(), panels, "one band a panel");
        }
    }

    #[test]
    fn points_that_cannot_be_drawn_are_left_out() {
        let mut figure = figure(1);
        figure.panels[0].x = Axis::of_names("who", ["a", "b"].map(str::to_owned));
        figure.panels[0].y = Axis::log("time (s)");
        figure.panels[0].series[0].points =
            vec![Point::new(0.0, f64::NAN), Point::new(1.0, 0.0), Point::new(1.0, f64::INFINITY)];
        assert!(!draw(&figure).expect("drawn").contains("NaN"));
        figure.panels[0].series.clear();
        draw(&figure).expect("a panel without series");
    }

    /// Draws one series in a panel from 0 to 10 and 0 to 1, and returns the elements in its colour.
    fn drawn(kind: SeriesKind, points: &[Point]) -> String {
        let mut figure = figure(1);
        let panel = &mut figure.panels[0];
        panel.x = Axis::linear("x").within(0.0, 10.0);
        panel.y = Axis::linear("y").within(0.0, 1.0);
        panel.series = vec![Series::new("", kind, points.iter().copied())];
        let svg = draw(&figure).expect("drawn");
        let plot = svg.lines().filter(|line| line.contains("#0072B2"));
        // The last element is the symbol in the legend.
        let mut lines: Vec<&str> = plot.collect();
        lines.pop();
        lines.join("\n")
    }

    #[test]
    fn lines_and_dots_outside_of_the_panel_are_not_drawn_at_its_edge() {
        let above = [Point::new(1.0, 1.5), Point::new(5.0, 2.0), Point::new(9.0, 1.2)];
        for kind in [SeriesKind::Line, SeriesKind::Dots] {
            assert_eq!(drawn(kind, &above), "", "{kind:?}");
        }
        let dot = drawn(SeriesKind::Dots, &[Point::new(1.0, 0.5), Point::new(2.0, -0.1)]);
        assert_eq!(dot.matches("<circle").count(), 1, "{dot}");
        // The line leaves the panel and returns, so it has two parts.
        let peak = [Point::new(0.0, 0.5), Point::new(5.0, 1.5), Point::new(10.0, 0.5)];
        assert_eq!(drawn(SeriesKind::Line, &peak).matches("<polyline").count(), 2);
    }

    #[test]
    fn bars_and_bands_reach_the_edge() {
        let wide = [Point::spread(2.0, 0.5, -1.0, 2.0), Point::spread(8.0, 0.5, -1.0, 2.0)];
        let bars = drawn(SeriesKind::Dots, &wide);
        assert_eq!((bars.matches("<circle").count(), bars.matches("<poly").count()), (2, 2));
        let band = drawn(SeriesKind::Band, &wide);
        assert_eq!((band.matches("<polygon").count(), band.matches("<polyline").count()), (1, 0));
    }

    #[test]
    fn a_long_legend_takes_several_lines() {
        let series: Vec<Series> = (0..9)
            .map(|n| Series::new(format!("a rather long name {n}"), SeriesKind::Line, []))
            .collect();
        let lines = legend_lines(&series, 620);
        assert!(lines.len() > 1 && lines.iter().all(|line| !line.is_empty()));
        assert_eq!(lines.iter().map(Vec::len).sum::<usize>(), 9);
    }
}
