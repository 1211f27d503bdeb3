//! Bar charts as SVG, with a logarithmic scale: counts of similarities and of cluster sizes. The
//! counts are in a table as well, for paper, fingers and those who do not see the chart.

use super::Kind;
use crate::report::findings::Findings;
use crate::report::histogram::{BARS, bar};
use crate::report::nearest::lowest;
use crate::terminal::numbers::grouped;
use crate::terminal::output::count;
use maud::{Markup, html};

const WIDTH: f64 = 900.0;
const HEIGHT: f64 = 300.0;
const LEFT: f64 = 110.0;
const RIGHT: f64 = 12.0;
const TOP: f64 = 24.0;
const BOTTOM: f64 = 48.0;

/// The width of a character of a mark on a narrow screen, where letters are largest, and the room
/// between two marks.
const LETTER: f64 = 10.0;
const BETWEEN_MARKS: f64 = 12.0;

/// A bar: where it begins and ends on the axis, from 0 to 1, and its count.
struct Bar {
    from: f64,
    to: f64,
    count: u64,
    /// Whether the count is estimated from a sample.
    estimated: bool,
    /// What it shows, in words.
    title: String,
}

/// A chart of bars.
struct Chart {
    bars: Vec<Bar>,
    /// Marks on the horizontal axis.
    marks: Vec<(f64, String)>,
    axis: &'static str,
    /// A line across the chart, and what it marks.
    line: Option<(f64, String)>,
    /// What it shows, for those who do not see it.
    title: String,
    /// The heads of the table of its counts.
    heads: Vec<&'static str>,
    /// The rows of that table.
    rows: Vec<Vec<String>>,
}

impl Chart {
    /// The chart above a caption, and the table of its counts. Nothing if it has no bars.
    fn figure(&self, caption: &Markup) -> Markup {
        if self.bars.iter().all(|bar| bar.count == 0) {
            return html! {};
        }
        html! {
            figure {
                div.chart { (self.draw()) }
                figcaption { (caption) }
            }
            details.counts {
                summary { "The numbers" }
                div.wide {
                    table {
                        thead { tr {
                            @for (place, head) in self.heads.iter().enumerate() {
                                th.number[place > 0] scope="col" { (head) }
                            }
                        } }
                        tbody {
                            @for row in &self.rows {
                                tr { @for (place, cell) in row.iter().enumerate() {
                                    @if place == 0 {
                                        th scope="row" { (cell) }
                                    } @else {
                                        td.number { (cell) }
                                    }
                                } }
                            }
                        }
                    }
                }
            }
        }
    }

    /// Draws the chart.
    fn draw(&self) -> Markup {
        let x = |at: f64| LEFT + at * (WIDTH - LEFT - RIGHT);
        let most = self.bars.iter().map(|bar| bar.count).max().unwrap_or(0);
        // The axis ends at a power of ten.
        let decades = (most.max(1) as f64).log10().ceil().max(1.0);
        let height = |count: u64| match count {
            0 => 0.0,
            // A count of 1 has a bar as well.
            _ => ((count as f64).log10() + 0.15) / (decades + 0.15) * (HEIGHT - TOP - BOTTOM),
        };
        let floor = HEIGHT - BOTTOM;
        let one = |number: f64| format!("{number:.1}");
        html! {
            svg role="img" aria-label=(self.title)
                viewBox={ "0 0 " (WIDTH) " " (HEIGHT) } xmlns="http://www.w3.org/2000/svg" {
                @for decade in 0..=decades as u32 {
                    @let count = 10_u64.saturating_pow(decade);
                    @let y = floor - height(count);
                    line.grid x1=(LEFT) x2=(WIDTH - RIGHT) y1=(one(y)) y2=(one(y)) {}
                    text.y x=(LEFT - 8.0) y=(one(y + 4.0)) { (grouped(count)) }
                }
                @for bar in &self.bars {
                    @if bar.count > 0 {
                        @let tall = height(bar.count);
                        @let left = x(bar.from) + 0.5;
                        @let wide = (x(bar.to) - x(bar.from) - 1.0).max(1.0);
                        rect class=(if bar.estimated { "bar estimated" } else { "bar" })
                            x=(one(left)) y=(one(floor - tall))
                            width=(one(wide)) height=(one(tall)) {
                            title { (bar.title) }
                        }
                    }
                }
                line.axis x1=(LEFT) x2=(WIDTH - RIGHT) y1=(floor) y2=(floor) {}
                @for (at, label) in &self.marks {
                    text.x x=(one(x(*at))) y=(floor + 18.0) { (label) }
                }
                text.x x=(one(x(0.5))) y=(HEIGHT - 8.0) { (self.axis) }
                @if let Some((at, label)) = &self.line {
                    line.threshold x1=(one(x(*at))) x2=(one(x(*at))) y1=(TOP - 8.0) y2=(floor) {}
                    // The words stand where there is room for them.
                    text class=(if *at > 0.5 { "threshold end" } else { "threshold" })
                        x=(one(x(*at) + if *at > 0.5 { -6.0 } else { 6.0 })) y=(TOP) { (label) }
                }
            }
        }
    }
}

/// The histogram of similarities, with the threshold in it. Nothing if there is nothing to count.
pub(super) fn similarities(findings: &Findings, kind: Kind, caption: &Markup) -> Markup {
    let what = kind.removed();
    let Findings { threshold, histogram, nearest, removed, .. } = findings;
    let filled = |number: &usize| histogram.bar(*number) + nearest.histogram.bar(*number) > 0;
    let lowest_bar = (0..=BARS).find(filled).unwrap_or(BARS);
    let first = lowest_bar.min(bar(lowest(*threshold))) / 5 * 5;
    // Similarities of 1 have a bar beyond the last.
    let all = (BARS + 1 - first) as f64;
    let at = |bar: f64| (bar - first as f64) / all;
    let mut bars = Vec::new();
    let mut rows = Vec::new();
    for number in first..=BARS {
        let (from, to) = (at(number as f64), at(number as f64 + 1.0));
        let range = match number {
            BARS => "1".to_owned(),
            _ => format!("{:.2} to {:.2}", number as f64 / 100.0, (number + 1) as f64 / 100.0),
        };
        let count = histogram.bar(number);
        let said = if number == BARS { "similarity 1" } else { &range };
        let title = format!("{said}: {} {what}", grouped(count));
        let about = nearest.scaled(nearest.histogram.bar(number));
        let is_estimated = about > count;
        if count > 0 || is_estimated {
            let cell =
                |is_there: bool, count| if is_there { grouped(count) } else { String::new() };
            rows.push(vec![range.clone(), cell(count > 0, count), cell(is_estimated, about)]);
        }
        if is_estimated {
            let title = format!("{said}: about {} kept, by a sample", grouped(about));
            bars.push(Bar { from, to, count: about, estimated: true, title });
        }
        bars.push(Bar { from, to, count, estimated: false, title });
    }
    let mut marks: Vec<(f64, String)> = (first..BARS)
        .step_by(if BARS - first > 60 { 10 } else { 5 })
        .map(|number| (at(number as f64), format!("{:.2}", number as f64 / 100.0)))
        .collect();
    marks.push((at(BARS as f64 + 0.5), "1".to_owned()));
    let mut heads = vec!["similarity", what, "kept, by a sample"];
    // A column that would be empty is left out.
    if bars.iter().all(|bar| !bar.estimated) {
        heads.pop();
        rows.iter_mut().for_each(|row| row.truncate(heads.len()));
    }
    let chart = Chart {
        bars,
        marks,
        axis: "similarity",
        line: Some((at(threshold * BARS as f64), format!("threshold {threshold}"))),
        title: format!(
            "Histogram of the similarities of {}, with the threshold {threshold}",
            count(*removed, kind.record())
        ),
        heads,
        rows,
    };
    chart.figure(caption)
}

/// How many clusters have which size, by powers of two.
pub(super) fn cluster_sizes(findings: &Findings, caption: &Markup) -> Markup {
    let mut counts: Vec<(u64, u64, u64)> = Vec::new();
    for (size, clusters) in &findings.sizes {
        // 2, 3 to 4, 5 to 8, and so on.
        let end = size.next_power_of_two();
        while counts.last().map_or(1, |(_, end, _)| *end) < end {
            let end = counts.last().map_or(2, |(_, end, _)| end * 2);
            counts.push((end / 2 + 1, end, 0));
        }
        if let Some((_, _, count)) = counts.last_mut() {
            *count += clusters;
        }
    }
    let all = counts.len().max(1) as f64;
    let (mut bars, mut marks, mut rows) = (Vec::new(), Vec::new(), Vec::new());
    // As many bars have a mark as leave room between two of them.
    let widest = counts.last().map_or(0, |(_, end, _)| grouped(*end).len()) as f64;
    let room = (WIDTH - LEFT - RIGHT) / all;
    let step = ((widest * LETTER + BETWEEN_MARKS) / room).ceil() as usize;
    for (place, (first, end, clusters)) in counts.iter().enumerate() {
        let (from, to) = (place as f64 / all, (place + 1) as f64 / all);
        let range = if first == end {
            grouped(*end)
        } else {
            format!("{}\u{2013}{}", grouped(*first), grouped(*end))
        };
        let title = format!("{range} documents: {}", count(*clusters, "cluster"));
        if place % step.max(1) == 0 {
            marks.push(((from + to) / 2.0, grouped(*end)));
        }
        rows.push(vec![range, grouped(*clusters)]);
        bars.push(Bar {
            from: from + 0.1 / all,
            to: to - 0.1 / all,
            count: *clusters,
            estimated: false,
            title,
        });
    }
    let clusters: u64 = findings.sizes.values().sum();
    let chart = Chart {
        bars,
        marks,
        axis: "documents in a cluster, up to",
        line: None,
        title: format!("How large the clusters are: {} in all", grouped(clusters)),
        heads: vec!["documents in a cluster", "clusters"],
        rows,
    };
    chart.figure(caption)
}
