//! Containment search: finds documents that contain a share of a query, by classes of set sizes
//! with a probe each.
//!
//! If a document of x shingles contains a share t of a query of q shingles, their similarity is t /
//! (1 + x/q - t): the larger the document, the less similar. So documents are divided into classes
//! by size, and each class is searched as deep as the least similarity in it allows. This is the
//! idea of Zhu, Nargesian, Pu, Miller 2016, "LSH Ensemble: Internet-Scale Domain Search", sections
//! 5.2 and 5.3. Their classes hold equally many documents. Here the classes are fixed, as answers
//! must not depend on what else is in the index.
//!
//! How a class is searched depends only on the settings of the index, the threshold, the recall and
//! the size of the query.

use super::bands::BandPlan;
use super::probe::Probe;
use crate::estimate::Containment;
use crate::params::{Recall, Threshold};

/// The number of classes in a doubling of sizes. With one class a doubling, the largest documents
/// of a class would have twice the size of the smallest and little more than half their similarity,
/// and the whole class would be searched for that.
const IN_A_DOUBLING: u32 = 4;

/// The number of classes. They cover all sizes below 2^32, more than linear counting can
/// distinguish.
const CLASSES: usize = 32 * IN_A_DOUBLING as usize;

/// The factor by which the quotient of two estimated sizes may be wrong: three and a half standard
/// errors, if each size has a standard error of at most 0.4 %.
const QUOTIENT_ERROR: f64 = 1.02;

/// The class of a document whose set has about `size` elements: the binary logarithm of the size
/// and its next two binary digits. The largest size of a class is at most 5/4 of the least.
pub(crate) fn size_class(size: f64) -> usize {
    let size = (size as u64).clamp(1, u64::from(u32::MAX));
    let log = size.ilog2();
    (IN_A_DOUBLING * log) as usize + ((size << 2 >> log) & 3) as usize
}

/// An upper bound of the sizes in a class.
fn largest(class: usize) -> f64 {
    let (log, quarter) = (class / IN_A_DOUBLING as usize, class % IN_A_DOUBLING as usize);
    ((5 + quarter) as u64 * (1 << log)) as f64 / 4.0
}

/// How the documents of a class are searched.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum ClassSearch {
    /// They are not searched, as they are too small to contain the share.
    Skip,
    /// The buckets of a probe are searched.
    Probe(Probe),
    /// Every document of the class is compared, as no probe reaches the recall.
    Scan,
}

/// The plan for a class.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct ClassPlan {
    pub(crate) search: ClassSearch,
    /// The least similarity that a document of the class has if it contains the share.
    pub(crate) similarity: f64,
}

/// How the documents of each class are searched for those that contain a share of a query.
#[derive(Clone, Debug)]
pub(crate) struct ContainmentPlan {
    classes: Vec<ClassPlan>,
}

impl ContainmentPlan {
    /// The plan for a query of `size` shingles, which must be above 0.
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

    /// The plans of all classes, in the order of [`size_class`].
    pub(crate) fn classes(&self) -> &[ClassPlan] {
        &self.classes
    }

    /// The plan of a class, as numbered by [`size_class`].
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
    fn classes_rise_with_the_size_and_are_narrow() {
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

    /// Compares sizes from far too small to far too large with the closed form.
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
                    // The similarity of a document of this exact size.
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
    fn only_classes_that_no_depth_serves_are_scanned() -> Result<()> {
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
    fn classes_of_larger_documents_have_shallower_probes() -> Result<()> {
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
