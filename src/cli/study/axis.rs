//! One side of a panel: which numbers it spans, where it is marked, and how its marks read.

use crate::study::{Axis, Scale};
use plotters::coord::ranged1d::{KeyPointHint, NoDefaultFormatting, Ranged, ValueFormatter};
use std::ops::Range;

/// A side as it is drawn: linear, logarithmic, or with a name at each whole number.
pub(super) struct Side {
    from: f64,
    to: f64,
    log: bool,
    names: Vec<String>,
}

impl Side {
    /// The side for an axis of a panel with these values. Where the axis has no range, that of the values, and
    /// some room.
    pub(super) fn new(axis: &Axis, values: impl Iterator<Item = f64>) -> Self {
        let log = axis.scale == Scale::Log;
        let names = axis.names.clone();
        let usable = values.filter(|value| value.is_finite() && (!log || *value > 0.0));
        let (least, greatest) = usable.fold((f64::INFINITY, f64::NEG_INFINITY), |range, value| {
            (range.0.min(value), range.1.max(value))
        });
        let (from, to) = match axis.range {
            Some(range) => range,
            None if !names.is_empty() => (-0.5, names.len() as f64 - 0.5),
            None if least > greatest => (if log { 1.0 } else { 0.0 }, if log { 10.0 } else { 1.0 }),
            None if log => (least / 1.3, greatest * 1.3),
            None => {
                let room = match greatest - least {
                    0.0 => f64::max(greatest.abs() * 0.1, 0.5),
                    wide => wide * 0.04,
                };
                // Counts and shares begin at 0 and not below.
                let from = if least >= 0.0 { (least - room).max(0.0) } else { least - room };
                (from, greatest + room)
            }
        };
        Self { from, to, log, names }
    }

    pub(super) fn shows(&self, value: f64) -> bool {
        value.is_finite() && (!self.log || value > 0.0)
    }

    pub(super) fn has_names(&self) -> bool {
        !self.names.is_empty()
    }

    fn place(&self, value: f64) -> f64 {
        match self.log {
            true => (value / self.from).ln() / (self.to / self.from).ln(),
            false => (value - self.from) / (self.to - self.from),
        }
    }

    /// Powers of ten, and between them as many as there is room for.
    fn log_marks(&self, most: usize) -> Vec<f64> {
        let (first, last) = (self.from.log10().floor() as i32, self.to.log10().ceil() as i32);
        let within = |mark: &f64| *mark >= self.from * 0.999 && *mark <= self.to * 1.001;
        let marks = |parts: &[f64], step: usize| -> Vec<f64> {
            let powers = (first..=last).step_by(step);
            let marks =
                powers.flat_map(|power| parts.iter().map(move |part| part * 10_f64.powi(power)));
            marks.filter(within).collect()
        };
        let finer = [marks(&[1.0, 2.0, 5.0], 1), marks(&[1.0, 3.0], 1)];
        let fits = finer.into_iter().find(|marks| marks.len() <= most);
        fits.unwrap_or_else(|| {
            let step = (1..).find(|step| marks(&[1.0], *step).len() <= most.max(2));
            marks(&[1.0], step.unwrap_or(1))
        })
    }

    /// Multiples of 1, 2 or 5 times a power of ten.
    fn linear_marks(&self, most: usize) -> Vec<f64> {
        let least = (self.to - self.from) / most.max(2) as f64;
        let power = 10_f64.powf(least.log10().floor());
        let step = [1.0, 2.0, 5.0, 10.0].map(|part| part * power);
        let step = step.into_iter().find(|step| *step >= least * 0.999).unwrap_or(least);
        let (first, last) = ((self.from / step).ceil() as i64, (self.to / step).floor() as i64);
        (first..=last).map(|number| number as f64 * step).collect()
    }
}

impl Ranged for Side {
    type FormatOption = NoDefaultFormatting;
    type ValueType = f64;

    fn map(&self, value: &f64, limit: (i32, i32)) -> i32 {
        // What lies outside is drawn at the edge.
        let place = self.place(*value).clamp(0.0, 1.0);
        limit.0 + (f64::from(limit.1 - limit.0) * place).round() as i32
    }

    fn key_points<Hint: KeyPointHint>(&self, hint: Hint) -> Vec<f64> {
        let most = hint.max_num_points().min(11);
        if self.has_names() {
            return (0..self.names.len()).map(|name| name as f64).collect();
        }
        if self.log { self.log_marks(most) } else { self.linear_marks(most) }
    }

    fn range(&self) -> Range<f64> {
        self.from..self.to
    }
}

impl ValueFormatter<f64> for Side {
    fn format_ext(&self, value: &f64) -> String {
        match self.names.get(value.round().max(0.0) as usize) {
            Some(name) => name.clone(),
            None => short(*value),
        }
    }
}

/// A number as it stands at a mark: in as few signs as tell it.
fn short(value: f64) -> String {
    let size = value.abs();
    if value == 0.0 || (0.001..1e5).contains(&size) {
        let text = format!("{value:.4}");
        return text.trim_end_matches('0').trim_end_matches('.').to_owned();
    }
    let text = format!("{value:.1e}");
    match text.split_once('e') {
        Some((digits, power)) => {
            format!("{}e{power}", digits.trim_end_matches('0').trim_end_matches('.'))
        }
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn side(axis: &Axis, values: &[f64]) -> Side {
        Side::new(axis, values.iter().copied())
    }

    #[test]
    fn marks_are_round_numbers_within_the_side() {
        let linear = side(&Axis::linear("x").within(0.0, 1.0), &[]);
        assert_eq!(linear.linear_marks(6).len(), 6);
        assert!(linear.linear_marks(11).iter().all(|mark| (0.0..=1.0).contains(mark)));
        let log = side(&Axis::log("x").within(1.0, 1e6), &[]);
        assert_eq!(log.log_marks(7), [1.0, 10.0, 100.0, 1e3, 1e4, 1e5, 1e6]);
        assert_eq!(log.log_marks(4), [1.0, 100.0, 1e4, 1e6]);
    }

    #[test]
    fn a_logarithmic_side_leaves_out_what_has_no_place() {
        let log = side(&Axis::log("x"), &[0.0, -1.0, 10.0, 1000.0, f64::NAN]);
        assert_eq!((log.from * 1.3, log.to / 1.3), (10.0, 1000.0));
        assert!(!log.shows(0.0) && log.shows(5.0) && !log.shows(f64::NAN));
        assert_eq!(log.map(&100.0, (0, 1000)), 500);
    }

    #[test]
    fn a_side_without_values_or_with_one_has_some_width() {
        for values in [&[][..], &[0.0], &[5.0], &[-3.0]] {
            let side = side(&Axis::linear("x"), values);
            assert!(side.from < side.to, "{values:?}");
        }
    }

    #[test]
    fn numbers_at_marks_are_short() {
        let expected = [
            (0.0, "0"),
            (0.25, "0.25"),
            (20.0, "20"),
            (1e5, "1e5"),
            (5e-5, "5e-5"),
            (100.0, "100"),
        ];
        for (value, text) in expected {
            assert_eq!(short(value), text);
        }
    }
}
