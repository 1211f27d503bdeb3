//! Groups of lanes, in one of which two similar documents agree.
//!
//! Two documents that differ in fewer lanes than there are groups agree in all lanes of at least
//! one group, by the pigeonhole principle.

/// The most lanes of a group: they fill a number of 64 bits.
const MOST_LANES: usize = 8;

/// Lanes that are divided into groups.
pub(crate) struct LaneGroups {
    groups: Vec<Vec<usize>>,
    /// How likely two documents agree in all lanes of each.
    agreement: Vec<f64>,
}

impl LaneGroups {
    /// Divides lanes so that two documents with at least `least` equal lanes agree in a group, and
    /// others as rarely as possible. `lanes` are those of documents like the ones to be compared.
    /// Returns `None` if there are not that many lanes.
    pub(crate) fn of(lanes: &[&[u8]], least: usize) -> Option<Self> {
        let width = lanes.first().map_or(0, |lanes| lanes.len());
        let count = width.checked_sub(least)? + 1;
        Self::divide(count, &agreement(lanes))
    }

    /// Divides lanes into this many groups. Returns `None` if there are not that many lanes.
    fn divide(count: usize, agreement: &[f64]) -> Option<Self> {
        let mut order: Vec<usize> = (0..agreement.len()).collect();
        order.sort_by(|a, b| agreement[*a].total_cmp(&agreement[*b]));
        let (first, others) = order.split_at_checked(count)?;
        let mut divided = Self {
            groups: first.iter().map(|lane| vec![*lane]).collect(),
            agreement: first.iter().map(|lane| agreement[*lane]).collect(),
        };
        for lane in others {
            let has_room = |group: &usize| divided.groups[*group].len() < MOST_LANES;
            let by_agreement =
                |a: &usize, b: &usize| divided.agreement[*a].total_cmp(&divided.agreement[*b]);
            let Some(worst) = (0..count).filter(has_room).max_by(by_agreement) else { break };
            divided.groups[worst].push(*lane);
            divided.agreement[worst] *= agreement[*lane];
        }
        Some(divided)
    }

    /// In how many groups two documents are expected to agree.
    pub(crate) fn agreement(&self) -> f64 {
        self.agreement.iter().sum()
    }

    /// The lanes of each group.
    pub(crate) fn into_groups(self) -> Vec<Vec<usize>> {
        self.groups
    }
}

/// The lanes of a group as one number.
pub(crate) fn group_key(lanes: &[u8], group: &[usize]) -> u64 {
    group.iter().fold(0, |key, at| key << 8 | u64::from(lanes[*at]))
}

/// For each lane, how likely two of a sample of the documents agree in it.
fn agreement(lanes: &[&[u8]]) -> Vec<f64> {
    const SAMPLE: usize = 512;
    let sample: Vec<&[u8]> =
        lanes.iter().step_by(lanes.len().div_ceil(SAMPLE).max(1)).copied().collect();
    let width = sample.first().map_or(0, |lanes| lanes.len());
    let share = |lane: usize| {
        let mut counts = [0_u32; 256];
        sample.iter().for_each(|lanes| counts[usize::from(lanes[lane])] += 1);
        let same: f64 = counts.iter().map(|count| f64::from(*count).powi(2)).sum();
        // A document agrees with itself. No sample tells that two never agree.
        let others = sample.len() as f64;
        ((same - others) / (others * (others - 1.0)).max(1.0)).max(1.0 / 256.0)
    };
    (0..width).map(share).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn documents_with_enough_equal_lanes_agree_in_a_group() {
        let mut random = fastrand::Rng::with_seed(7);
        let mut lanes = || -> Vec<u8> { (0..64).map(|_| random.u8(..4)).collect() };
        let sample: Vec<Vec<u8>> = (0..100).map(|_| lanes()).collect();
        let sample: Vec<&[u8]> = sample.iter().map(|lanes| &lanes[..]).collect();
        let (least, one) = (50, lanes());
        let groups = LaneGroups::of(&sample, least).expect("groups");
        assert!(groups.agreement() < 0.1, "{}", groups.agreement());
        let groups = groups.into_groups();
        assert_eq!((groups.len(), groups.concat().len()), (15, 64));
        for _ in 0..1_000 {
            let mut other = one.clone();
            for _ in 0..64 - least {
                other[random.usize(..64)] ^= 1;
            }
            let agree = |group: &&Vec<usize>| group_key(&one, group) == group_key(&other, group);
            assert!(groups.iter().any(|group| agree(&group)), "{other:?}");
        }
    }

    #[test]
    fn there_are_no_groups_for_documents_that_need_no_equal_lane() {
        assert!(LaneGroups::of(&[&[1, 2, 3], &[4, 5, 6]], 0).is_none());
        assert!(LaneGroups::of(&[&[1, 2, 3], &[4, 5, 6]], 4).is_none());
        assert!(LaneGroups::of(&[], 1).is_none());
    }
}
