//! `study law`, `study bits`, `study theory` and `study chance` as commands.

use crate::command::Shell;

#[test]
fn law_writes_its_points_and_its_figure() {
    let shell = Shell::new();
    let done = shell.run("study law --runs 100 --rows 20 --seed 5 --csv law.csv --svg law.svg");
    assert_eq!(done.status, 0, "{}", done.stderr);
    assert!(done.stdout.contains("Wilson\t0.9584\t0.9540\t"), "{}", done.stdout);
    let csv = String::from_utf8(shell.read("law.csv")).expect("UTF-8");
    assert!(csv.starts_with("panel,series,x,y,low,high\n"), "{csv}");
    // The printed interval has a point for each 20 of 999 similarities.
    assert_eq!(csv.lines().filter(|line| line.contains(",as printed,")).count(), 50);
    assert!(shell.read("law.svg").starts_with(b"<svg"));
    let again = shell.run("study law --runs 100 --rows 20 --seed 5");
    assert_eq!(done.stdout, again.stdout);
}

#[test]
fn bits_writes_its_points_and_its_figure() {
    let shell = Shell::new();
    let words = "study bits --pairs 50 --elements 1000 --seed 5 --csv bits.csv --svg bits.svg";
    let done = shell.run(words);
    assert_eq!(done.status, 0, "{}", done.stderr);
    // The standard error of 256 lanes of 8 bits at each similarity, by the law.
    let row = "256\t8\t256\t0.0288\t0.0314\t0.0287\t0.0251\t0.0188\t0.0136\t0.0360\t0.0124";
    assert!(done.stdout.contains(row), "{}", done.stdout);
    let csv = String::from_utf8(shell.read("bits.csv")).expect("UTF-8");
    // Five widths at six similarities.
    assert_eq!(csv.lines().filter(|line| line.contains(",measured,")).count(), 30, "{csv}");
    assert!(shell.read("bits.svg").starts_with(b"<svg"));
    assert_eq!(done.stdout, shell.run(words).stdout);
}

#[test]
fn theory_writes_its_points_and_its_figure() {
    let shell = Shell::new();
    let words = "study theory --runs 200 --maps 5 --seed 5 --csv t.csv --svg t.svg";
    let done = shell.run(words);
    assert_eq!(done.status, 0, "{}", done.stderr);
    let csv = String::from_utf8(shell.read("t.csv")).expect("UTF-8");
    assert_eq!(csv.lines().filter(|line| line.contains(",equation 19,")).count(), 16, "{csv}");
    // J = 3/6 of eight rows, of all orders.
    assert!(done.stdout.contains("0.5000 of all 8! orders"), "{}", done.stdout);
    assert!(shell.read("t.svg").starts_with(b"<svg"));
    assert_eq!(done.stdout, shell.run(words).stdout);
}

#[test]
fn chance_accepts_sizes_and_a_universe() {
    let shell = Shell::new();
    let done = shell.run("study chance --sizes 3 5 --universe 10");
    assert_eq!(done.status, 0, "{}", done.stderr);
    let row = done.stdout.lines().find(|line| line.starts_with("by their sizes\t3\t5\t"));
    // The reference value of `RandomSubsets` for 3 and 5 of 10 is 0.248412698.
    assert!(row.is_some_and(|row| row.contains("\t10\t0.2484\t")), "{}", done.stdout);
}

#[test]
fn invalid_settings_are_refused() {
    let shell = Shell::new();
    for (words, said) in [
        ("study law --similarity 1.2", "from 0 to 1"),
        ("study law --functions 0", "--functions"),
        ("study bits --pairs 49", "--pairs"),
        ("study bits --elements 999", "--elements"),
        ("study theory --maps 0", "maps"),
        ("study theory --runs 99", "runs"),
        ("study chance --sizes 5 6 --universe 5", "universe"),
        ("study chance --sizes 5", "--sizes"),
        ("study chance --sizes 1000000000000 1000000000001", "is not in 0..=1000000000000"),
        ("study chance --universe 0", "--universe"),
        ("study approaches --budget nan", "--budget"),
        ("study precision --runs 18446744073709551615", "--runs"),
    ] {
        let done = shell.run(words);
        assert!(done.status == 2 && done.stderr.contains(said), "{words}: {done:?}");
    }
}
