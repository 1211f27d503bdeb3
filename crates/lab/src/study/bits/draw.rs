//! The figure of the study of bits.

use super::law::{Layout, TODAY};
use super::measured::{Measured, Place};
use super::tables::bytes_for_error_of_today;
use super::words::{BACKGROUND, DEPTH, Word};
use super::{Results, SIZES, SMALL, TITLE, WIDTHS, layouts};
use crate::study::{Axis, Figure, Panel, Point, Series, SeriesKind};
use twindex::{DEFAULT_THRESHOLD, Result};

/// The similarities of a curve, in hundredths.
const CURVE: std::ops::RangeInclusive<u32> = 5..=97;

pub(super) fn figure(results: &Results) -> Result<Figure> {
    Ok(Figure {
        title: TITLE.to_owned(),
        panels: vec![
            bytes_needed(),
            errors(results),
            candidates(),
            relative_errors()?,
            small_sets(results)?,
        ],
    })
}

fn name(bits: u32) -> String {
    if bits == 1 { "1 bit".to_owned() } else { format!("{bits} bits") }
}

fn curve(value: impl Fn(f64) -> f64) -> impl Iterator<Item = Point> {
    CURVE.map(move |hundredths| {
        let similarity = f64::from(hundredths) / 100.0;
        Point::new(similarity, value(similarity))
    })
}

fn bytes_needed() -> Panel {
    let series = WIDTHS.map(|bits| {
        let points = curve(|similarity| bytes_for_error_of_today(bits, similarity));
        Series::new(name(bits), SeriesKind::Line, points)
    });
    Panel {
        title: format!("Bytes for the error of {TODAY} bits"),
        x: Axis::linear("similarity").within(0.0, 1.0),
        y: Axis::log("bytes of a signature"),
        series: series.into(),
    }
}

fn errors(results: &Results) -> Panel {
    let bytes = SIZES[2];
    let lines = WIDTHS.map(|bits| {
        let layout = Layout::of_bytes(bytes, bits);
        Series::new(name(bits), SeriesKind::Line, curve(|similarity| layout.error(similarity)))
    });
    let drawn = |one: &&Measured| one.layout.bytes() == bytes && one.place == Place::Low;
    let dots = results.single.iter().filter(drawn);
    let dots = dots.map(|one| Point::new(one.draw.similarity(), one.error));
    Panel {
        title: format!("Error of the estimate with {bytes} bytes"),
        x: Axis::linear("similarity").within(0.0, 1.0),
        y: Axis::linear("standard error"),
        series: lines
            .into_iter()
            .chain([Series::new("measured", SeriesKind::Dots, dots)])
            .collect(),
    }
}

fn candidates() -> Panel {
    let series = WIDTHS.map(|bits| {
        let word = Word { depth: DEPTH, bits };
        let points = (4..=9).map(|power| {
            let documents = 10.0_f64.powi(power);
            Point::new(documents, word.candidates(documents, BACKGROUND))
        });
        Series::new(name(bits), SeriesKind::Line, points)
    });
    Panel {
        title: format!("Documents of similarity {BACKGROUND} in a bucket, words of {DEPTH} lanes"),
        x: Axis::log("documents of the index"),
        y: Axis::log("documents in one band's bucket").within(1e-4, 1e8),
        series: series.into(),
    }
}

/// The lines of the layouts except the first, which is today's.
fn relative_errors() -> Result<Panel> {
    let lines = layouts()?.into_iter().skip(1).map(|layout| {
        let points = curve(|similarity| layout.error(similarity) / TODAY.error(similarity));
        Series::new(layout.to_string(), SeriesKind::Line, points)
    });
    let same = [0.05, 0.97].map(|similarity| Point::new(similarity, 1.0));
    let same = Series::new(TODAY.to_string(), SeriesKind::Dashed, same);
    Ok(Panel {
        title: format!("Error of signatures, {TODAY} bits is 1"),
        x: Axis::linear("similarity").within(0.0, 1.0),
        y: Axis::linear("relative standard error").within(0.8, 2.4),
        series: std::iter::once(same).chain(lines).collect(),
    })
}

fn small_sets(results: &Results) -> Result<Panel> {
    let series = layouts()?.into_iter().map(|layout| {
        let elements = SMALL.into_iter().chain([results.settings.elements]);
        let points = elements.filter_map(|elements| {
            let error = results.error_at_threshold(layout, elements)?;
            Some(Point::new(f64::from(elements), error))
        });
        Series::new(layout.to_string(), SeriesKind::Line, points)
    });
    Ok(Panel {
        title: format!("Measured error at {DEFAULT_THRESHOLD}"),
        x: Axis::log("elements of both sets together").whole(),
        y: Axis::linear("standard error"),
        series: series.collect(),
    })
}
