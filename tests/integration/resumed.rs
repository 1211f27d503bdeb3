//! Deduplications that are interrupted anywhere end like those that are not, whatever they look
//! for and however their input is divided; and a second one changes nothing.

use crate::support::{Place, Random, assert_clean, for_each_seed, tiny};
use twindex::{
    DedupOutcome, DedupRun, Document, Index, Inserted, Insertion, Outcome, Result, Shingle,
};

/// What a run looks for.
#[derive(Clone, Copy, Debug)]
enum Rule {
    Similar,
    Passages,
    Covered,
    CoveredPassages,
}

impl Rule {
    fn of(self, insertion: Insertion<'_>) -> Insertion<'_> {
        match self {
            Self::Similar => insertion.unless_similar(0.7),
            Self::Passages => insertion.without_passages(),
            Self::Covered => insertion.unless_covered(0.4),
            Self::CoveredPassages => insertion.without_passages().unless_covered(0.6),
        }
    }
}

type Records = Vec<(Option<String>, String)>;

/// Texts that share stretches of words. Some records come twice, some have no id.
fn records(random: &mut Random, count: u64) -> Records {
    let mut records = Records::new();
    for number in 0..count {
        let mut words: Vec<String> = Vec::new();
        for _ in 0..random.below(4) {
            let (start, length) = (random.below(40), random.below(14));
            words.extend((start..start + length).map(|word| format!("w{}", word % 30)));
            words.extend((0..random.below(3)).map(|_| format!("own{}", random.below(1000))));
        }
        let id = (random.below(5) > 0).then(|| format!("d{number}"));
        records.push((id, words.join(" ")));
        if random.below(6) == 0 {
            let again = records[random.below(records.len() as u64) as usize].clone();
            records.push(again);
        }
    }
    records
}

fn create(place: &Place, name: &str) -> Result<Index> {
    let options = tiny().lanes(64).shingle(Shingle::Words(1)).passages(5).store_text(true);
    options.create(place.path(name))
}

/// What others write while a run goes on, which concerns no record of it.
fn write_others(index: &Index, random: &mut Random) -> Result<()> {
    let mut txn = index.begin_write()?;
    for number in 0..random.below(3) {
        let words: Vec<String> = (0..8).map(|_| format!("other{}", random.next())).collect();
        txn.insert(&format!("other {number}"), &words.join(" "))?;
    }
    txn.commit()
}

fn prepared(index: &Index, records: &[(Option<String>, String)]) -> Result<Vec<Document>> {
    let prepare = |(id, text): &(Option<String>, String)| -> Result<Document> {
        let document = index.prepare(id.as_deref().unwrap_or("?"), text)?;
        Ok(if id.is_none() { document.without_id() } else { document })
    };
    records.iter().map(prepare).collect()
}

/// Judges all records in one transaction.
fn run_at_once(index: &Index, records: &Records, rule: Rule) -> Result<Vec<DedupOutcome>> {
    let mut txn = index.begin_write()?;
    let documents = prepared(index, records)?;
    let outcomes = DedupRun::begin("at once").insert(rule.of(txn.insertion()), documents)?;
    txn.commit()?;
    Ok(outcomes.into_iter().flatten().collect())
}

/// Judges all records in parts. With `others`, transactions are dropped, and others write.
fn run(
    index: &Index,
    records: &Records,
    rule: Rule,
    random: &mut Random,
    others: bool,
) -> Result<Vec<DedupOutcome>> {
    const KEY: &str = "in parts";
    let mut outcomes: Vec<DedupOutcome> = Vec::new();
    'resumed: loop {
        let mut run = {
            let txn = index.begin_write()?;
            DedupRun::resume(&txn, KEY)?.unwrap_or_else(|| DedupRun::begin(KEY))
        };
        let mut rest = &records[..];
        while !rest.is_empty() {
            let (part, later) = rest.split_at(rest.len().min(1 + random.below(12) as usize));
            rest = later;
            let mut txn = index.begin_write()?;
            let judged = run.insert(rule.of(txn.insertion()), prepared(index, part)?)?;
            run.save(&mut txn, [0; 10])?;
            if others && random.below(4) == 0 {
                drop(txn);
                write_others(index, random)?;
                continue 'resumed;
            }
            txn.commit()?;
            outcomes.extend(judged.into_iter().flatten());
            if others {
                write_others(index, random)?;
            }
        }
        let mut txn = index.begin_write()?;
        run.save_judged(&mut txn, [0; 10])?;
        run.remember(&mut txn, "")?;
        txn.commit()?;
        return Ok(outcomes);
    }
}

/// The documents of the records with their texts.
fn content(index: &Index) -> Result<Vec<(String, String)>> {
    let snapshot = index.snapshot()?;
    assert_clean(&snapshot.check().run()?);
    let mut content = Vec::new();
    for id in snapshot.ids() {
        let id = id?;
        if !id.starts_with("other") {
            let text = snapshot.text(&id)?.expect("a text");
            content.push((id, text));
        }
    }
    Ok(content)
}

/// Whether a second run has left what the first one has made of a record.
fn is_unchanged(second: &Outcome, first: &Outcome) -> bool {
    match (second, first) {
        (Outcome::Cut { text, .. }, Outcome::Cut { text: before, .. }) if text != before => false,
        (Outcome::Cut { inserted, .. }, Outcome::Cut { .. }) => *inserted == Inserted::Unchanged,
        // A record that came twice was a duplicate of itself.
        (Outcome::Inserted(inserted), Outcome::Inserted(_) | Outcome::Duplicate { .. })
        | (Outcome::Cut { inserted, .. }, Outcome::Duplicate { .. }) => {
            *inserted == Inserted::Unchanged
        }
        // A document that came later may be more similar.
        (Outcome::Duplicate { .. }, Outcome::Duplicate { .. })
        | (Outcome::Covered(_), Outcome::Covered(_)) => true,
        _ => false,
    }
}

fn history(seed: u64) -> Result<()> {
    let mut random = Random(seed);
    let records = records(&mut random, 40);
    for rule in [Rule::Similar, Rule::Passages, Rule::Covered, Rule::CoveredPassages] {
        let place = Place::new();
        let index = create(&place, "at once.twx")?;
        let expected = run_at_once(&index, &records, rule)?;
        let expected_content = content(&index)?;
        for others in [false, true] {
            let index = create(&place, &format!("{others}.twx"))?;
            let first = run(&index, &records, rule, &mut random, others)?;
            assert_eq!(first, expected, "{rule:?} {others}: {records:?}");
            assert_eq!(content(&index)?, expected_content);

            // The same records under the same ids again.
            let with_id = |((_, text), first): (&(_, String), &DedupOutcome)| {
                (Some(first.id.clone()), text.clone())
            };
            let records: Records = records.iter().zip(&first).map(with_id).collect();
            let second = run(&index, &records, rule, &mut random, others)?;
            assert_eq!(second.len(), first.len());
            for (second, first) in second.iter().zip(&first) {
                let same = is_unchanged(&second.outcome, &first.outcome);
                assert!(same, "{rule:?} {others}: {second:?} after {first:?} of {records:?}");
            }
            assert_eq!(content(&index)?, expected_content);
        }
    }
    Ok(())
}

#[test]
fn interrupted_runs_of_any_rule_end_like_whole_ones_and_a_second_run_changes_nothing() {
    for_each_seed(0..2, history);
}
