//! Clips lines and areas to a panel, in shares of its width and height.

/// A point; the panel is from 0 to 1 in both directions.
pub(super) type PanelPoint = (f64, f64);

pub(super) fn is_inside((x, y): PanelPoint) -> bool {
    (0.0..=1.0).contains(&x) && (0.0..=1.0).contains(&y)
}

/// The parts inside the panel of a line through these points. A part ends where the line crosses
/// the edge.
pub(super) fn line(places: &[PanelPoint]) -> Vec<Vec<PanelPoint>> {
    let mut parts: Vec<Vec<PanelPoint>> = Vec::new();
    for ends in places.windows(2) {
        let Some((from, to)) = segment(ends[0], ends[1]) else { continue };
        match parts.last_mut() {
            Some(part) if part.last() == Some(&from) => part.push(to),
            _ => parts.push(vec![from, to]),
        }
    }
    parts
}

/// The part of a segment inside the panel (Liang, Barsky 1984).
fn segment(from: PanelPoint, to: PanelPoint) -> Option<(PanelPoint, PanelPoint)> {
    let (dx, dy) = (to.0 - from.0, to.1 - from.1);
    let (mut begin, mut end) = (0.0_f64, 1.0_f64);
    for (change, room) in [(-dx, from.0), (dx, 1.0 - from.0), (-dy, from.1), (dy, 1.0 - from.1)] {
        if change == 0.0 && room < 0.0 {
            return None;
        }
        match change {
            ..0.0 => begin = begin.max(room / change),
            0.0 => {}
            _ => end = end.min(room / change),
        }
    }
    let at = |share: f64| match share {
        0.0 => from,
        1.0 => to,
        _ => (from.0 + share * dx, from.1 + share * dy),
    };
    (begin <= end).then(|| (at(begin), at(end)))
}

/// The part of an area inside the panel, clipped edge by edge (Sutherland, Hodgman 1974).
pub(super) fn area(mut corners: Vec<PanelPoint>) -> Vec<PanelPoint> {
    // The distance of a point from each of the four edges, positive inside.
    let edges: [fn(PanelPoint) -> f64; 4] = [|p| p.0, |p| 1.0 - p.0, |p| p.1, |p| 1.0 - p.1];
    for depth in edges {
        let mut kept = Vec::with_capacity(corners.len() + 4);
        let before = corners.iter().cycle().skip(corners.len().saturating_sub(1));
        for (before, corner) in before.zip(&corners) {
            let (of_before, of_corner) = (depth(*before), depth(*corner));
            if (of_before < 0.0) != (of_corner < 0.0) {
                let share = of_before / (of_before - of_corner);
                let between = |from: f64, to: f64| from + share * (to - from);
                kept.push((between(before.0, corner.0), between(before.1, corner.1)));
            }
            if of_corner >= 0.0 {
                kept.push(*corner);
            }
        }
        corners = kept;
    }
    corners
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_ends_where_it_crosses_the_edge_and_begins_again() {
        let places = [(0.0, 0.5), (0.25, 0.5), (0.5, 1.5), (0.75, 0.5), (1.0, 0.5)];
        let parts = line(&places);
        assert_eq!(parts[0], [(0.0, 0.5), (0.25, 0.5), (0.375, 1.0)]);
        assert_eq!(parts[1], [(0.625, 1.0), (0.75, 0.5), (1.0, 0.5)]);
        assert_eq!(parts.len(), 2);
    }

    #[test]
    fn nothing_is_left_of_a_line_outside() {
        assert!(line(&[(0.0, 1.2), (0.5, 7.0), (1.0, 1.1)]).is_empty());
        assert!(line(&[(-0.5, 0.5), (-0.1, 0.5)]).is_empty());
        assert!(line(&[(0.5, 0.5)]).is_empty() && line(&[]).is_empty());
    }

    #[test]
    fn a_line_across_the_whole_panel_is_cut_at_both_edges() {
        assert_eq!(line(&[(0.5, -1.0), (0.5, 2.0)]), [vec![(0.5, 0.0), (0.5, 1.0)]]);
    }

    #[test]
    fn an_area_is_cut_at_the_edges() {
        let inside = vec![(0.2, 0.2), (0.8, 0.2), (0.8, 0.8)];
        assert_eq!(area(inside.clone()), inside);
        let around = vec![(-1.0, -1.0), (2.0, -1.0), (2.0, 2.0), (-1.0, 2.0)];
        let mut corners = area(around);
        corners.sort_by(|a, b| a.partial_cmp(b).expect("numbers"));
        assert_eq!(corners, [(0.0, 0.0), (0.0, 1.0), (1.0, 0.0), (1.0, 1.0)]);
        assert!(area(vec![(0.0, 1.1), (1.0, 1.1), (1.0, 1.2)]).is_empty());
        assert!(area(Vec::new()).is_empty());
    }
}
