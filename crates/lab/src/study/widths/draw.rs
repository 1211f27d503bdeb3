//! The tables, the picture and the findings of the study.

use super::{Functions, TITLE, Width};
use crate::study::{Axis, Cell, Figure, Finding, Panel, Point, Report, Series, SeriesKind, Table};

const MILLI: f64 = 1e3;

pub(super) fn report(widths: &[Width], grid: &[usize], texts: usize) -> Report {
    let pairs = texts * (texts - 1) / 2;
    Report {
        title: format!("{TITLE}: {pairs} pairs of {texts} texts"),
        table: short(widths, grid),
        further: vec![("times in milliseconds".to_owned(), times(widths, grid))],
        data: long(widths, grid),
        figure: figure(widths, grid),
        findings: findings(widths, grid),
    }
}

/// The last place of the grid: the most functions.
fn last(grid: &[usize]) -> usize {
    grid.len().saturating_sub(1)
}

fn short(widths: &[Width], grid: &[usize]) -> Table {
    let most = last(grid);
    let names = ["shingle", "exact", "modular", "jenkins", "error_printed", "error_modular"];
    let mut table = Table::new(&[&names[..], &["error_jenkins"]].concat());
    for width in widths {
        let mut row = vec![Cell::from(u64::from(width.size)), Cell::Share(width.mean_exact())];
        let means = [Functions::Modular, Functions::Jenkins].map(|of| width.mean(of, most));
        row.extend(means.map(Cell::Share));
        row.extend(Functions::ALL.map(|of| Cell::Share(width.error(of, most))));
        table.push(row);
    }
    table
}

fn times(widths: &[Width], grid: &[usize]) -> Table {
    let functions: Vec<String> = grid.iter().map(|number| format!("jenkins_{number}")).collect();
    let mut columns = vec!["shingle", "merge", "hash_set"];
    columns.extend(functions.iter().map(String::as_str));
    let mut table = Table::new(&columns);
    for width in widths {
        let mut row = vec![Cell::from(u64::from(width.size))];
        row.extend(width.exact.iter().map(|time| Cell::Number(MILLI * time.median())));
        row.extend(
            (0..grid.len()).map(|at| {
                Cell::Number(MILLI * width.estimated(Functions::Jenkins, at).time.median())
            }),
        );
        table.push(row);
    }
    table
}

fn long(widths: &[Width], grid: &[usize]) -> Table {
    let columns = ["method", "shingle", "functions", "mean", "error", "ms", "ms_q1", "ms_q3"];
    let mut data = Table::new(&columns);
    for width in widths {
        for (name, time) in ["merge", "hash set"].into_iter().zip(&width.exact) {
            let mut row = vec![name.into(), u64::from(width.size).into(), Cell::Empty];
            row.extend([Cell::Number(width.mean_exact()), Cell::Empty]);
            row.extend(time.cells(MILLI));
            data.push(row);
        }
        for functions in Functions::ALL {
            for (at, number) in grid.iter().enumerate() {
                let mut row = vec![functions.name().into(), u64::from(width.size).into()];
                row.push((*number).into());
                row.push(width.mean(functions, at).into());
                row.push(width.error(functions, at).into());
                row.extend(width.estimated(functions, at).time.cells(MILLI));
                data.push(row);
            }
        }
    }
    data
}

fn figure(widths: &[Width], grid: &[usize]) -> Figure {
    let sizes = || Axis::linear("characters of a shingle").whole();
    let line = |name: String, of: &dyn Fn(&Width) -> f64| {
        let points = widths.iter().map(|width| Point::new(width.size.into(), of(width)));
        Series::new(name, SeriesKind::Line, points.collect::<Vec<_>>())
    };
    let of_functions = |number: &usize| match number {
        1 => "1 function".to_owned(),
        number => format!("{number} functions"),
    };
    let each = |of: &dyn Fn(&Width, usize) -> f64| -> Vec<Series> {
        let lines = grid.iter().enumerate();
        lines.map(|(at, number)| line(of_functions(number), &|width| of(width, at))).collect()
    };
    let exact = Series { kind: SeriesKind::Dashed, ..line("exact".into(), &Width::mean_exact) };
    let estimates = |of: Functions| Panel {
        title: format!("Estimate by {}", of.name()),
        x: sizes(),
        y: Axis::linear("mean over the pairs").within(0.0, 1.0),
        series: each(&|width, at| width.mean(of, at)).into_iter().chain([]).collect(),
    };
    let mut panels = [Functions::Modular, Functions::Jenkins].map(estimates);
    for panel in &mut panels {
        let points = exact.points.clone();
        panel.series.push(Series { name: exact.name.clone(), kind: exact.kind, points });
    }
    let differences = Panel {
        title: "Error of modular as printed less that of jenkins".to_owned(),
        x: sizes(),
        y: Axis::linear("difference of the mean errors"),
        series: each(&|width, at| {
            width.error(Functions::Printed, at) - width.error(Functions::Jenkins, at)
        }),
    };
    let mut by_size =
        each(&|width, at| MILLI * width.estimated(Functions::Jenkins, at).time.median());
    for (name, at) in [("exact, merge", 0), ("exact, hash set", 1)] {
        let time = |width: &Width| MILLI * width.exact[at].median();
        by_size.push(Series { kind: SeriesKind::Dashed, ..line(name.into(), &time) });
    }
    let times = Panel {
        title: "Time of all pairs by size; estimates by jenkins".to_owned(),
        x: sizes(),
        y: Axis::log("milliseconds"),
        series: by_size,
    };
    let [modular, jenkins] = panels;
    let panels = vec![modular, jenkins, differences, times, by_functions(widths, grid)];
    Figure { title: TITLE.to_owned(), panels }
}

/// The time over the number of functions, at the greatest size.
fn by_functions(widths: &[Width], grid: &[usize]) -> Panel {
    let mut series = Vec::new();
    let mut size = 0;
    if let Some(width) = widths.last() {
        size = width.size;
        for functions in Functions::ALL {
            let points = grid.iter().enumerate().map(|(at, number)| {
                width.estimated(functions, at).time.point(*number as f64, MILLI)
            });
            series.push(Series::new(functions.name(), SeriesKind::Line, points));
        }
        for (name, time) in ["exact, merge", "exact, hash set"].into_iter().zip(&width.exact) {
            let ends = [grid.first(), grid.last()].into_iter().flatten();
            let points = ends.map(|number| Point::new(*number as f64, MILLI * time.median()));
            series.push(Series::new(name, SeriesKind::Dashed, points));
        }
    }
    Panel {
        title: format!("Time of all pairs by functions, shingles of {size}"),
        x: Axis::linear("functions").whole(),
        y: Axis::linear("milliseconds"),
        series,
    }
}

/// The statements of Vilaseca and others 2018, section 7.1.2, and the law of the estimate.
fn findings(widths: &[Width], grid: &[usize]) -> Vec<Finding> {
    let mut findings = vec![equal_exact(widths)];
    let most = last(grid);
    if most > 0 {
        let error = |at: usize| {
            let errors = widths.iter().map(|width| width.error(Functions::Jenkins, at));
            errors.sum::<f64>() / widths.len() as f64
        };
        let (few, many) = (error(0), error(most));
        findings.push(Finding::new(
            "more functions, smaller errors",
            many < few,
            format!("jenkins: {few:.4} with {}, {many:.4} with {}", grid[0], grid[most]),
        ));
    }
    findings.extend(law(widths, grid));
    findings.extend(printed_errs_alike(widths, grid));
    if let Some(width) = widths.last().filter(|_| grid[most] >= 8 * grid[0]) {
        let time = |at: usize| width.estimated(Functions::Jenkins, at).time.median();
        let ratio = time(most) / time(0);
        let number = grid[most] as f64 / grid[0] as f64;
        findings.push(Finding::new(
            "the time of an estimate grows with the number of functions",
            ratio > number / 8.0,
            format!("{ratio:.1} times the time with {number} times the functions"),
        ));
    }
    findings
}

fn equal_exact(widths: &[Width]) -> Finding {
    let pairs = || widths.iter().flat_map(|width| &width.pairs);
    let differ = pairs().filter(|pair| pair.similarity != pair.by_hash_set).count();
    Finding::new(
        "a hash set gives the exact similarity, as the merge does",
        differ == 0,
        format!("{differ} of {} differ", pairs().count()),
    )
}

/// The finding that the errors of Jenkins' mix have the spread of the binomial law. Pairs of
/// similarity near 0 or 1, and less than 25 functions, have too few different values.
fn law(widths: &[Width], grid: &[usize]) -> Option<Finding> {
    let mut squares = Vec::new();
    for (at, number) in grid.iter().enumerate().filter(|(_, number)| **number >= 25) {
        for (error, exact) in widths.iter().flat_map(|width| width.errors(Functions::Jenkins, at)) {
            if (0.05..=0.95).contains(&exact) {
                squares.push(error * error * *number as f64 / (exact * (1.0 - exact)));
            }
        }
    }
    let ratio = (squares.iter().sum::<f64>() / squares.len() as f64).sqrt();
    (squares.len() >= 100).then(|| {
        Finding::new(
            "the errors of jenkins have the spread sqrt(J (1 - J) / k)",
            (0.8..1.25).contains(&ratio),
            format!("{ratio:.3} times that, over {} estimates", squares.len()),
        )
    })
}

/// The finding that modular hashing as printed errs by as much as Jenkins' mix. The paper finds it
/// greater most of the time, from five pairs of texts.
fn printed_errs_alike(widths: &[Width], grid: &[usize]) -> Option<Finding> {
    let difference = |width: &Width, at: usize| {
        width.error(Functions::Printed, at) - width.error(Functions::Jenkins, at)
    };
    let places: Vec<usize> = (0..grid.len()).filter(|at| grid[*at] >= 25).collect();
    let differences =
        widths.iter().flat_map(|width| places.iter().map(move |at| difference(width, *at)));
    let differences: Vec<f64> = differences.collect();
    let greater = differences.iter().filter(|difference| **difference > 0.0).count();
    let mean = differences.iter().sum::<f64>() / differences.len() as f64;
    (differences.len() >= 12).then(|| {
        Finding::new(
            "from 25 functions on, modular as printed errs as jenkins does, within 0.01",
            mean.abs() < 0.01,
            format!("{mean:+.4}; greater in {greater} of {} cases", differences.len()),
        )
    })
}
