//! One axis of a panel: its range, its tick marks, and their labels.

use crate::study::{Axis, Scale};
use plotters::coord::ranged1d::{KeyPointHint, NoDefaultFormatting, Ranged, ValueFormatter};
use std::ops::Range;

/// The position of values of 0 or less on a logarithmic axis.
const BELOW: f64 = -10.0;

/// An axis as drawn: linear, logarithmic, or with a name at each whole number.
pub(super) struct DrawnAxis {
    from: f64,
    to: f64,
    log: bool,
    names: Vec<String>,
    whole: bool,
}

impl DrawnAxis {
    /// The drawn form of an axis of a panel with these values. Without a range of its own it spans
    /// the values with some margin.
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
        Self { from, to, log, names, whole: axis.whole }
    }

    pub(super) fn shows(&self, value: f64) -> bool {
        value.is_finite() && (!self.log || value > 0.0)
    }

    pub(super) fn has_names(&self) -> bool {
        !self.names.is_empty()
    }

    /// The position of a value: 0 at the beginning of the axis, 1 at its end.
    pub(super) fn place(&self, value: f64) -> f64 {
        match self.log {
            // Values without a position go far below all others.
            true if value <= 0.0 => BELOW,
            true => (value / self.from).ln() / (self.to / self.from).ln(),
            false => (value - self.from) / (self.to - self.from),
        }
    }

    /// The value at a position.
    pub(super) fn at(&self, place: f64) -> f64 {
        if self.log {
            self.from * (self.to / self.from).powf(place)
        } else {
            self.from + place * (self.to - self.from)
        }
    }

    /// Whether labels have powers of ten. Then all labels of the axis do, because plain ones would
    /// be long.
    fn has_powers(&self) -> bool {
        let greatest = self.from.abs().max(self.to.abs());
        !(1e-3..2e5).contains(&greatest) || (self.log && self.from < 1e-4)
    }

    /// Powers of ten, with as many marks between them as fit. An axis shorter than that has the
    /// marks of a linear one.
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
        if finer[0].len() < 2 {
            return self.linear_marks(most);
        }
        let fits = finer.into_iter().find(|marks| marks.len() <= most);
        fits.unwrap_or_else(|| {
            let step = (1..).find(|step| marks(&[1.0], *step).len() <= most.max(2));
            marks(&[1.0], step.unwrap_or(1))
        })
    }

    /// Multiples of 1, 2 or 5 times a power of ten; on an axis of whole numbers only such numbers.
    fn linear_marks(&self, most: usize) -> Vec<f64> {
        let least = (self.to - self.from) / most.max(2) as f64;
        let power = 10_f64.powf(least.log10().floor());
        let step = [1.0, 2.0, 5.0, 10.0].map(|part| part * power);
        let step = step.into_iter().find(|step| *step >= least * 0.999).unwrap_or(least);
        let step = if self.whole { step.max(1.0) } else { step };
        let (first, last) = ((self.from / step).ceil() as i64, (self.to / step).floor() as i64);
        (first..=last).map(|number| number as f64 * step).collect()
    }
}

impl Ranged for DrawnAxis {
    type FormatOption = NoDefaultFormatting;
    type ValueType = f64;

    fn map(&self, value: &f64, limit: (i32, i32)) -> i32 {
        // Values outside were clipped before. The clamp keeps rounding errors inside the panel.
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

impl ValueFormatter<f64> for DrawnAxis {
    fn format_ext(&self, value: &f64) -> String {
        match self.names.get(value.round().max(0.0) as usize) {
            Some(name) => name.clone(),
            None if self.has_powers() => power(*value),
            None => plain(*value),
        }
    }
}

/// The label of a number, with as few characters as possible.
fn plain(value: f64) -> String {
    let text = format!("{value:.4}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    if text == "-0" { "0".to_owned() } else { text.to_owned() }
}

/// The label of a number with a power of ten.
fn power(value: f64) -> String {
    if value == 0.0 {
        return "0".to_owned();
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

    fn side(axis: &Axis, values: &[f64]) -> DrawnAxis {
        DrawnAxis::new(axis, values.iter().copied())
    }

    #[test]
    fn marks_are_round_numbers_within_the_axis() {
        let linear = side(&Axis::linear("x").within(0.0, 1.0), &[]);
        assert_eq!(linear.linear_marks(6).len(), 6);
        assert!(linear.linear_marks(11).iter().all(|mark| (0.0..=1.0).contains(mark)));
        let log = side(&Axis::log("x").within(1.0, 1e6), &[]);
        assert_eq!(log.log_marks(7), [1.0, 10.0, 100.0, 1e3, 1e4, 1e5, 1e6]);
        assert_eq!(log.log_marks(4), [1.0, 100.0, 1e4, 1e6]);
    }

    #[test]
    fn an_axis_of_whole_numbers_has_no_marks_between_them() {
        let rows = side(&Axis::linear("row").within(0.5, 4.5).whole(), &[]);
        assert_eq!(rows.linear_marks(9), [1.0, 2.0, 3.0, 4.0]);
        let many = side(&Axis::linear("row").within(0.5, 400.5).whole(), &[]);
        assert_eq!(many.linear_marks(9), [50.0, 100.0, 150.0, 200.0, 250.0, 300.0, 350.0, 400.0]);
        let support = side(&Axis::log("support").whole(), &[3.0]);
        assert_eq!(support.log_marks(9), [3.0]);
    }

    #[test]
    fn a_short_logarithmic_axis_has_marks() {
        for value in [0.03, 1.0, 3.0, 7.0, 1234.0] {
            let marks = side(&Axis::log("x"), &[value]).log_marks(9);
            assert!((2..=9).contains(&marks.len()), "{value}: {marks:?}");
        }
    }

    #[test]
    fn a_logarithmic_axis_leaves_out_values_of_0_or_less() {
        let log = side(&Axis::log("x"), &[0.0, -1.0, 10.0, 1000.0, f64::NAN]);
        assert_eq!((log.from * 1.3, log.to / 1.3), (10.0, 1000.0));
        assert!(!log.shows(0.0) && log.shows(5.0) && !log.shows(f64::NAN));
        assert_eq!(log.map(&100.0, (0, 1000)), 500);
    }

    #[test]
    fn an_axis_with_no_value_or_one_has_some_width() {
        for values in [&[][..], &[0.0], &[5.0], &[-3.0]] {
            let side = side(&Axis::linear("x"), values);
            assert!(side.from < side.to, "{values:?}");
        }
    }

    #[test]
    fn the_labels_of_one_axis_are_all_plain_or_all_powers() {
        let marks = |axis: Axis| {
            let side = side(&axis, &[]);
            let marks = if side.log { side.log_marks(7) } else { side.linear_marks(5) };
            marks.iter().map(|mark| side.format_ext(mark)).collect::<Vec<_>>().join(" ")
        };
        assert_eq!(marks(Axis::log("x").within(1.0, 1e6)), "1e0 1e1 1e2 1e3 1e4 1e5 1e6");
        assert_eq!(marks(Axis::log("x").within(1.0, 1e4)), "1 10 100 1000 10000");
        let documents = marks(Axis::log("x").within(100.0, 1e5));
        assert_eq!(documents, "100 300 1000 3000 10000 30000 100000");
        assert_eq!(marks(Axis::log("x").within(1e-5, 0.1)), "1e-5 1e-4 1e-3 1e-2 1e-1");
        assert_eq!(marks(Axis::linear("x").within(0.0, 2e5)), "0 5e4 1e5 1.5e5 2e5");
        assert_eq!(marks(Axis::linear("x").within(-0.5, 0.5)), "-0.4 -0.2 0 0.2 0.4");
        assert_eq!(marks(Axis::linear("x").within(0.0, 5e-4)), "0 1e-4 2e-4 3e-4 4e-4 5e-4");
    }

    #[test]
    fn a_position_gives_back_its_value() {
        for axis in [Axis::linear("x").within(-3.0, 5.0), Axis::log("x").within(0.01, 50.0)] {
            let side = side(&axis, &[]);
            for value in [0.02, 1.0, 5.0, 70.0] {
                assert!((side.at(side.place(value)) / value - 1.0).abs() < 1e-12, "{value}");
            }
        }
        assert!(side(&Axis::log("x"), &[1.0, 2.0]).place(-1.0) < 0.0);
    }
}
