//! How a query finds documents that contain a part of it: by classes of set sizes, each with its own probe.
//!
//! A share t of a query of q shingles, in a document of x, is a similarity of t / (1 + x/q - t): the larger
//! the document, the less similar. So documents are classed by size, and each class is searched as deep as the
//! least similarity in it allows (the idea of Zhu, Nargesian, Pu, Miller 2016, "LSH Ensemble: Internet-Scale
//! Domain Search", sections 5.2 and 5.3, whose classes hold equally many documents; here they are fixed, as
//! answers must not depend on what else is in an index). What a class gets depends on the settings of the
//! index, threshold, recall and the size of the query alone.

use super::bands::BandPlan;
use super::probe::Probe;
use crate::estimate::Containment;
use crate::params::{Recall, Threshold};

/// Classes in a doubling of sizes. A class of a whole doubling would be searched for documents of twice
/// the size of its least, at little more than half their similarity.
const IN_A_DOUBLING: u32 = 4;

/// The number of classes: of all sizes below 2^32, more than linear counting tells apart.
const CLASSES: usize = 32 * IN_A_DOUBLING as usize;

/// By how much the quotient of two estimated sizes may be off: three and a half standard errors, where
/// each size has one of at most 0.4 %.
const QUOTIENT_ERROR: f64 = 1.02;

/// The class of documents whose sets have about so many elements: the binary logarithm and the next two
/// binary digits, so that the largest of a class is at most 5/4 of its least.
pub(crate) fn size_class(size: f64) -> usize {
    let size = (size as u64).clamp(1, u64::from(u32::MAX));
    let log = size.ilog2();
    (IN_A_DOUBLING * log) as usize + ((size << 2 >> log) & 3) as usize
}

/// The largest size of a class, or somewhat more.
fn largest(class: usize) -> f64 {
    let (log, quarter) = (class / IN_A_DOUBLING as usize, class % IN_A_DOUBLING as usize);
    ((5 + quarter) as u64 * (1 << log)) as f64 / 4.0
}

/// How the documents of a class are searched.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum ClassSearch {
    /// Not at all: they are too small to contain the share.
    Skip,
    /// In the buckets of a probe.
    Probe(Probe),
    /// By comparing with each, as no band of the index finds them with the recall.
    Scan,
}

/// What is done about a class.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct ClassPlan {
    pub(crate) search: ClassSearch,
    /// The least similarity of a document of the class that contains the share.
    pub(crate) similarity: f64,
}

/// How the documents of each class are searched for those that contain a share of a query.
#[derive(Clone, Debug)]
pub(crate) struct ContainmentPlan {
    classes: Vec<ClassPlan>,
}

impl ContainmentPlan {
    /// The plan for a query of so many shingles, above 0.
    pub(crate) fn new(plan: BandPlan, share: Threshold, recall: Recall, size: f64) -> Self {
        let class = |class| {
            let largest = largest(class) * QUOTIENT_ERROR;
            if largest < share.get() * size {
                return ClassPlan { search: ClassSearch::Skip, similarity: 1.0 };
            }
            let similarity = Containment::to_similarity(share.get(), size, largest);
            let probe = Threshold::new(similarity).map(|least| Probe::of(plan, least, recall));
            let search = match probe {
                Ok(probe) if probe.recall() >= recall.get() => ClassSearch::Probe(probe),
                _ => ClassSearch::Scan,
            };
            ClassPlan { search, similarity }
        };
        Self { classes: (0..CLASSES).map(class).collect() }
    }

    /// The plan that compares the query with every document.
    pub(crate) fn scan(mut self) -> Self {
        self.classes.iter_mut().for_each(|class| class.search = ClassSearch::Scan);
        self
    }

    /// What is done about each class, in the order of [`size_class`].
    pub(crate) fn classes(&self) -> &[ClassPlan] {
        &self.classes
    }

    /// What is done about a class, as [`size_class`] numbers it.
    pub(crate) fn class(&self, class: usize) -> ClassPlan {
        self.classes[class]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Result;
    use crate::params::Lanes;

    fn index(threshold: f64) -> Result<BandPlan> {
        BandPlan::of(Threshold::new(threshold)?, Recall::DEFAULT, Lanes::DEFAULT)
    }

    #[test]
    fn classes_follow_each_other_and_are_narrow() {
        let mut last = 0;
        for size in 1..100_000_u32 {
            let class = size_class(f64::from(size));
            assert!(class >= last && class < CLASSES, "{size}");
            assert!(f64::from(size) <= largest(class), "{size}");
            assert!(largest(class) <= 1.25 * f64::from(size) + 1.0, "{size}: {}", largest(class));
            last = class;
        }
        assert_eq!(size_class(f64::MAX), CLASSES - 1);
        assert_eq!(size_class(0.0), 0);
    }

    /// Every size from far too small to far too large, against the closed form.
    #[test]
    fn a_probe_reaches_the_recall_for_every_size_of_its_class() -> Result<()> {
        for (threshold, share, recall) in [(0.5, 0.8, 0.9), (0.8, 0.9, 0.99), (0.3, 0.5, 0.8)] {
            let bands =
                BandPlan::of(Threshold::new(threshold)?, Recall::new(0.8)?, Lanes::DEFAULT)?;
            for size in [20.0, 1000.0, 37_000.0] {
                let plan =
                    ContainmentPlan::new(bands, Threshold::new(share)?, Recall::new(recall)?, size);
                let mut probed = 0;
                for other in (1..400).map(|step| (size * f64::from(step) / 100.0).ceil()) {
                    let class = plan.class(size_class(other));
                    // The similarity of the document at hand, with the sizes as they are.
                    let similarity = share / (1.0 + other / size - share);
                    match class.search {
                        ClassSearch::Skip => assert!(other < share * size),
                        ClassSearch::Scan => assert!(class.similarity <= similarity),
                        ClassSearch::Probe(probe) if other >= share * size => {
                            let meet = similarity.powi(probe.depth() as i32);
                            let met = 1.0 - (1.0 - meet).powi(probe.bands() as i32);
                            assert!(met >= recall - 1e-12, "{other} of {size}: {met}");
                            probed += 1;
                        }
                        ClassSearch::Probe(_) => {}
                    }
                }
                assert!(probed > 5, "{size} at {share} in an index of {threshold}");
            }
        }
        Ok(())
    }

    #[test]
    fn only_what_no_depth_can_serve_is_scanned() -> Result<()> {
        let (bands, share) = (index(0.8)?, Threshold::new(0.9)?);
        let plan = ContainmentPlan::new(bands, share, Recall::DEFAULT, 5000.0);
        let least = 2..=bands.depth();
        // The least similarity that 16 bands reach with 0.99 at depth 2: 1 - (1 - J²)^16 = 0.99.
        let served = (1.0 - 0.01_f64.powf(1.0 / bands.bands() as f64)).sqrt();
        for class in (0..CLASSES).map(|class| plan.class(class)) {
            match class.search {
                ClassSearch::Scan => assert!(class.similarity < served, "{class:?}"),
                ClassSearch::Probe(probe) => {
                    assert!(class.similarity >= served && least.contains(&probe.depth()));
                }
                ClassSearch::Skip => {}
            }
        }
        assert_eq!(plan.class(size_class(4000.0)).search, ClassSearch::Skip);
        assert!(matches!(plan.class(size_class(4500.0)).search, ClassSearch::Probe(_)));
        assert!(matches!(plan.class(size_class(8000.0)).search, ClassSearch::Probe(_)));
        assert_eq!(plan.class(size_class(9000.0)).search, ClassSearch::Scan);
        Ok(())
    }

    #[test]
    fn larger_documents_are_searched_shallower() -> Result<()> {
        let share = Threshold::new(0.9)?;
        let plan = ContainmentPlan::new(index(0.5)?, share, Recall::DEFAULT, 1000.0);
        let depths: Vec<u32> = (0..CLASSES)
            .filter_map(|class| match plan.class(class).search {
                ClassSearch::Probe(probe) => Some(probe.depth()),
                _ => None,
            })
            .collect();
        assert!(depths.len() > 3 && depths.is_sorted_by(|a, b| a >= b), "{depths:?}");
        Ok(())
    }
}
