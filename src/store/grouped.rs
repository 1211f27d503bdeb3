//! Values in groups, in two blocks of memory.

/// Some values for each of many groups, which are numbered from 0.
#[derive(Debug)]
pub(crate) struct Grouped<T> {
    /// The values of one group after the other.
    values: Vec<T>,
    /// Where the values of each group end.
    ends: Vec<u32>,
}

impl<T> Grouped<T> {
    /// Sorts values by the numbers of their groups. The values of a group keep their order.
    pub(crate) fn new(mut values: Vec<(u32, T)>, groups: usize) -> Self {
        values.sort_by_key(|(group, _)| *group);
        let mut ends = Vec::with_capacity(groups);
        let mut end = 0;
        for group in 0..groups as u32 {
            end += values.iter().skip(end).take_while(|(of, _)| *of == group).count();
            ends.push(end as u32);
        }
        Self { values: values.into_iter().map(|(_, value)| value).collect(), ends }
    }

    /// The values of a group.
    pub(crate) fn of(&self, group: u32) -> &[T] {
        let end = |group: u32| self.ends.get(group as usize).map_or(0, |end| *end as usize);
        let start = group.checked_sub(1).map_or(0, end);
        self.values.get(start..end(group)).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_group_has_its_values_in_order() {
        let grouped = Grouped::new(vec![(4, 'a'), (1, 'b'), (4, 'c'), (0, 'd'), (4, 'a')], 6);
        let all: Vec<String> = (0..7).map(|group| grouped.of(group).iter().collect()).collect();
        assert_eq!(all, ["d", "b", "", "", "aca", "", ""]);
        assert!(Grouped::<u8>::new(Vec::new(), 0).of(0).is_empty());
    }
}
