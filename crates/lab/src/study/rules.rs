//! Columns of transactions that occur together (the encyclopedia's article on MinHash,
//! applications; Cohen and others 2001, "Finding interesting associations without support
//! pruning").

use super::random_texts::below;
use super::similar_columns::{
    BandPlan, ColumnPair, FoundPairs, PairCriteria, brute_force, find, similarity,
};
use super::transactions::{TransactionLayout, Transactions};
use super::{
    Axis, Cell, Figure, Finding, Panel, Point, Report, Series, SeriesKind, StudyContext, Table,
    gospel_texts,
};
use std::path::PathBuf;
use twindex::DEFAULT_RECALL;
use twindex::Result;
use twindex::internals::SplitMix;
use twindex_cli::run::ranges;

const TITLE: &str = "Columns of transactions that occur together";

/// The settings of the study.
#[derive(Clone, Debug)]
pub(crate) struct RulesSettings {
    /// The file with one transaction per line; by default the verses of the Gospels and their
    /// words.
    pub(crate) file: Option<PathBuf>,
    pub(crate) layout: TransactionLayout,
    /// The least similarity of two columns.
    pub(crate) threshold: f64,
    /// The probability of finding a pair at the threshold.
    pub(crate) recall: f64,
    /// The least number of transactions with both.
    pub(crate) support: u64,
    /// The most pairs to print.
    pub(crate) top: usize,
}

impl Default for RulesSettings {
    fn default() -> Self {
        Self {
            file: None,
            layout: TransactionLayout::default(),
            threshold: 0.2,
            recall: DEFAULT_RECALL,
            support: 3,
            top: 20,
        }
    }
}

/// The most column entries that brute force may visit, which takes about a second.
const AFFORDABLE: u64 = 1_000_000_000;

/// The pairs found, and the data to check them.
struct FoundRules {
    transactions: Transactions,
    wanted: PairCriteria,
    found: FoundPairs,
    /// The columns that brute force compared with all others, ascending.
    sample: Vec<u32>,
    truth: Vec<ColumnPair>,
}

pub(crate) fn run(settings: &RulesSettings, context: &StudyContext<'_>) -> Result<Report> {
    let wanted = PairCriteria {
        threshold: ranges::threshold(settings.threshold)?,
        recall: ranges::recall(settings.recall)?,
        support: settings.support,
    };
    let transactions = match &settings.file {
        Some(path) => Transactions::read(path, settings.layout, context)?,
        None => {
            let [_, english] = gospel_texts::embedded();
            Transactions::of_verses(&english)
        }
    };
    let rules = FoundRules::of(transactions, wanted, context)?;
    Ok(rules.report(settings.top))
}

impl FoundRules {
    fn of(
        transactions: Transactions,
        wanted: PairCriteria,
        context: &StudyContext<'_>,
    ) -> Result<Self> {
        let (columns, count) = (&transactions.columns, transactions.count);
        let found = find(columns, count, wanted, context)?;
        let most = AFFORDABLE / transactions.occurrences().max(1);
        let sample = sample(columns.len(), most.max(1), context.seed);
        let truth = brute_force(columns, count, &sample, wanted, context)?;
        Ok(Self { transactions, wanted, found, sample, truth })
    }

    /// The number of transactions with this item.
    fn size(&self, item: u32) -> usize {
        self.transactions.columns[item as usize].len()
    }

    fn similarity(&self, pair: &ColumnPair) -> f64 {
        similarity(pair.both, self.size(pair.a), self.size(pair.b))
    }

    /// The pairs by falling similarity, then by falling support.
    fn ranked(&self) -> Vec<&ColumnPair> {
        let mut ranked: Vec<&ColumnPair> = self.found.pairs.iter().collect();
        ranked.sort_by(|a, b| {
            self.similarity(b)
                .total_cmp(&self.similarity(a))
                .then(b.both.cmp(&a.both))
                .then((a.a, a.b).cmp(&(b.a, b.b)))
        });
        ranked
    }

    fn row(&self, pair: &ColumnPair) -> Vec<Cell> {
        let (a, b) = (self.size(pair.a) as f64, self.size(pair.b) as f64);
        let (both, all) = (pair.both as f64, f64::from(self.transactions.count));
        let name = |item: u32| Cell::from(self.transactions.items[item as usize].as_str());
        vec![
            name(pair.a),
            name(pair.b),
            Cell::Share(self.similarity(pair)),
            Cell::Count(pair.both),
            Cell::Share(both / all),
            Cell::Share(both / a),
            Cell::Share(both / b),
            // The lift: the factor by which one item makes the other more likely.
            Cell::Number(both * all / (a * b)),
        ]
    }

    fn report(&self, top: usize) -> Report {
        const COLUMNS: [&str; 8] =
            ["a", "b", "similarity", "support", "share", "a_to_b", "b_to_a", "lift"];
        let (mut table, mut data) = (Table::new(&COLUMNS), Table::new(&COLUMNS));
        for (rank, pair) in self.ranked().into_iter().enumerate() {
            if rank < top {
                table.push(self.row(pair));
            }
            data.push(self.row(pair));
        }
        Report {
            title: format!(
                "{TITLE}: {} pairs of {} items in {} transactions",
                self.found.pairs.len(),
                self.transactions.items.len(),
                self.transactions.count,
            ),
            table,
            further: Vec::new(),
            data,
            figure: self.figure(),
            findings: self.findings(),
        }
    }

    fn findings(&self) -> Vec<Finding> {
        let found = |pair: &&ColumnPair| self.found.pairs.binary_search(pair).is_ok();
        let (known, seen) = (self.truth.len(), self.truth.iter().filter(found).count());
        let recall = self.wanted.recall;
        // Three standard deviations of the number found, if all pairs were exactly at the
        // threshold.
        let slack = 3.0 * (recall * (1.0 - recall) * known as f64).sqrt();
        let items = self.transactions.items.len() as u64;
        let BandPlan { bands, depth, .. } = self.found.bands;
        let promised = || {
            Finding::new(
                format!(
                    "at least {recall} of the pairs from {} on are found",
                    self.wanted.threshold
                ),
                seen as f64 >= recall * known as f64 - slack,
                format!(
                    "{seen} of the {known} that brute force finds with {} of {items} items; {} of \
                     {} pairs are candidates by {bands} bands of {depth}",
                    self.sample.len(),
                    self.found.candidates,
                    items * items.saturating_sub(1) / 2,
                ),
            )
        };
        let sampled = |item: u32| self.sample.binary_search(&item).is_ok();
        let checked = self.found.pairs.iter().filter(|pair| sampled(pair.a) || sampled(pair.b));
        let wrong = checked.clone().filter(|pair| self.truth.binary_search(pair).is_err()).count();
        let checked = checked.count();
        let exact = || {
            Finding::new(
                "every pair found reaches the least similarity and the least support",
                wrong == 0,
                format!("{wrong} of {checked} checked pairs are not found by brute force"),
            )
        };
        // Without pairs there is no finding.
        let told = [(known > 0).then(promised), (checked > 0).then(exact)];
        told.into_iter().flatten().collect()
    }

    fn figure(&self) -> Figure {
        let point = |pair: &ColumnPair| Point::new(pair.both as f64, self.similarity(pair));
        let missed = self.truth.iter().filter(|pair| self.found.pairs.binary_search(pair).is_err());
        let missed: Vec<Point> = missed.map(point).collect();
        let mut series =
            vec![Series::new("found", SeriesKind::Dots, self.found.pairs.iter().map(point))];
        if !missed.is_empty() {
            series.push(Series::new("missed", SeriesKind::Dots, missed));
        }
        let scatter = Panel {
            title: "Every pair found".to_owned(),
            x: Axis::log("support: transactions with both").whole(),
            y: Axis::linear("Jaccard's similarity of the columns").within(0.0, 1.0),
            series,
        };
        Figure { title: TITLE.to_owned(), panels: vec![scatter, self.pruned()] }
    }

    /// The number of pairs left by a least support, which other methods need.
    fn pruned(&self) -> Panel {
        let mut supports: Vec<u64> = self.found.pairs.iter().map(|pair| pair.both).collect();
        supports.sort_unstable();
        let all = supports.len();
        let mut steps: Vec<(u64, usize)> =
            supports.iter().enumerate().map(|(at, support)| (*support, all - at)).collect();
        steps.dedup_by_key(|step| step.0);
        let left = steps.into_iter().map(|(support, left)| Point::new(support as f64, left as f64));
        let hundredth = f64::from(self.transactions.count) / 100.0;
        let bounds = [1.0, all.max(2) as f64].map(|height| Point::new(hundredth, height));
        Panel {
            title: "Pairs that a least support would leave".to_owned(),
            x: Axis::log("least support: transactions with both").whole(),
            y: Axis::log("pairs").whole(),
            series: vec![
                Series::new("found", SeriesKind::Line, left),
                Series::new("1 % of all transactions", SeriesKind::Dashed, bounds),
            ],
        }
    }
}

/// A random sample of at most `most` columns, ascending. Every choice is equally likely.
fn sample(columns: usize, most: u64, seed: u64) -> Vec<u32> {
    let mut all: Vec<u32> = (0..columns as u32).collect();
    if most >= all.len() as u64 {
        return all;
    }
    let mut random = SplitMix::new(!seed);
    for at in 0..most as usize {
        let other = at + below(&mut random, (columns - at) as u64) as usize;
        all.swap(at, other);
    }
    all.truncate(most as usize);
    all.sort_unstable();
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::{BTreeMap, BTreeSet};

    fn text(cell: &Cell) -> &str {
        match cell {
            Cell::Text(text) => text,
            _ => panic!("no text: {cell:?}"),
        }
    }

    /// Compares with pairs of words of the verses of Mark, counted with sets of strings.
    #[test]
    fn pairs_of_words_agree_with_counting_verse_by_verse() {
        let [_, english] = gospel_texts::embedded();
        let mut words = BTreeMap::<&str, BTreeSet<usize>>::new();
        let verses = english.texts[2].to_lowercase();
        for (verse, line) in verses.lines().enumerate() {
            for word in line.split(|c: char| !c.is_alphanumeric()).filter(|word| word.len() > 2) {
                words.entry(word).or_default().insert(verse);
            }
        }
        let mut expected = BTreeMap::new();
        words.retain(|_, verses| verses.len() >= 3);
        for (a, of_a) in &words {
            for (b, of_b) in words.range(*a..).skip(1) {
                let both = of_a.intersection(of_b).count();
                let similarity = both as f64 / of_a.union(of_b).count() as f64;
                if both >= 3 && similarity >= 0.2 {
                    expected.insert((*a, *b), (both as u64, similarity));
                }
            }
        }
        assert!(expected.len() > 100, "{}", expected.len());

        let folder = tempfile::tempdir().expect("a temporary folder");
        let file = folder.path().join("mark.txt");
        let joined: String = verses
            .lines()
            .map(|line| line.replace(|c: char| !c.is_alphanumeric(), " "))
            .map(|line| {
                line.split(' ').filter(|word| word.len() > 2).collect::<Vec<_>>().join(",") + "\n"
            })
            .collect();
        std::fs::write(&file, joined).expect("written");
        let settings = RulesSettings { file: Some(file), top: 3, ..RulesSettings::default() };
        let report = run(&settings, &StudyContext::unwatched(1)).expect("well-formed");
        assert!(report.findings.iter().all(|finding| finding.holds));
        assert_eq!(report.table.rows.len(), 3);
        for row in &report.data.rows {
            let (a, b) = (text(&row[0]), text(&row[1]));
            let (both, similarity) = expected[&(a.min(b), a.max(b))];
            assert_eq!((&row[2], &row[3]), (&Cell::Share(similarity), &Cell::Count(both)));
            let confidence = both as f64 / words[a].len() as f64;
            assert_eq!(row[5], Cell::Share(confidence), "{a} -> {b}");
        }
        // The recall is 0.99 at the threshold and higher above it.
        let least = 0.97 * expected.len() as f64;
        assert!(
            report.data.rows.len() as f64 >= least,
            "{} of {}",
            report.data.rows.len(),
            expected.len()
        );
    }

    #[test]
    fn pairs_are_ranked_by_similarity_with_all_their_values() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let file = folder.path().join("baskets.txt");
        std::fs::write(&file, "beer chips\nbeer chips\nbeer\ntea cake\ntea cake\nmilk\n")
            .expect("written");
        let settings = RulesSettings { file: Some(file), support: 2, ..RulesSettings::default() };
        let report = run(&settings, &StudyContext::unwatched(0)).expect("well-formed");
        let (tea, beer) = (&report.table.rows[0], &report.table.rows[1]);
        assert_eq!((text(&tea[0]), text(&tea[1]), &tea[2]), ("tea", "cake", &Cell::Share(1.0)));
        let expected = [
            Cell::from("beer"),
            Cell::from("chips"),
            Cell::Share(2.0 / 3.0),
            Cell::Count(2),
            Cell::Share(2.0 / 6.0),
            Cell::Share(2.0 / 3.0),
            Cell::Share(1.0),
            Cell::Number(2.0 * 6.0 / (3.0 * 2.0)),
        ];
        assert_eq!(beer[..], expected);
        assert_eq!(report.data.rows.len(), 2);
    }

    #[test]
    fn findings_detect_a_lost_pair_and_a_wrong_one() {
        let pair = |a, b| ColumnPair { a, b, both: 2 };
        let transactions = Transactions {
            items: ["a", "b", "c", "d"].map(str::to_owned).into(),
            columns: vec![vec![0, 1], vec![0, 1], vec![0, 1], vec![2]],
            count: 3,
        };
        let wanted = PairCriteria { threshold: 0.8, recall: 0.99, support: 1 };
        let mut rules =
            FoundRules::of(transactions, wanted, &StudyContext::unwatched(0)).expect("done");
        assert_eq!(rules.found.pairs, [pair(0, 1), pair(0, 2), pair(1, 2)]);
        let holds =
            |rules: &FoundRules| rules.findings().iter().map(|f| f.holds).collect::<Vec<_>>();
        assert_eq!(holds(&rules), [true, true]);
        rules.found.pairs = vec![pair(0, 1)];
        assert_eq!(holds(&rules), [false, true]);
        rules.found.pairs = vec![pair(0, 1), pair(0, 2), pair(1, 2), pair(1, 3)];
        assert_eq!(holds(&rules), [true, false]);
    }

    #[test]
    fn a_sample_has_distinct_columns() {
        for (columns, most) in [(10, 3), (10, 10), (10, 99), (1000, 400)] {
            let chosen = sample(columns, most, 4);
            assert_eq!(chosen.len() as u64, most.min(columns as u64));
            assert!(chosen.windows(2).all(|two| two[0] < two[1]));
        }
        assert_ne!(sample(1000, 5, 1), sample(1000, 5, 2));
    }
}
