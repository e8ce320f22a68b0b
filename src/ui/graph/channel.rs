//! The channel between two layers: which upright track each edge takes, so that no two are drawn over each other.

/// The track of each edge with these rows at its left and right end, from 0, and how many tracks there are.
///
/// Edges on one track don't overlap. Where one edge leaves at the row at which another arrives, the one that leaves turns off
/// first; a circle of such edges can't be drawn so, and then the first of them goes before its time.
pub(super) fn tracks(ends: &[(i32, i32)]) -> (Vec<i32>, i32) {
    let mut of = vec![0; ends.len()];
    let mut waiting: Vec<usize> = (0..ends.len()).filter(|at| ends[*at].0 != ends[*at].1).collect();
    // Short ones first: they leave more room on a track.
    waiting.sort_by_key(|at| (ends[*at].0.min(ends[*at].1), *at));
    let mut track = 0;
    while !waiting.is_empty() {
        let mut taken: Vec<(i32, i32)> = Vec::new();
        let mut later = Vec::new();
        let blockers: Vec<i32> = waiting.iter().map(|at| ends[*at].0).collect();
        for at in &waiting {
            let (left, right) = ends[*at];
            let span = (left.min(right), left.max(right));
            let is_free = taken.iter().all(|other| span.1 < other.0 || other.1 < span.0);
            // Whoever leaves at the row where this one arrives has to have turned off before.
            let is_blocked = blockers.contains(&right);
            if is_free && !is_blocked {
                of[*at] = track;
                taken.push(span);
            } else {
                later.push(*at);
            }
        }
        if taken.is_empty() {
            let first = later.remove(0);
            of[first] = track;
        }
        waiting = later;
        track += 1;
    }
    (of, track)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn edges_share_a_track_only_where_they_do_not_meet() {
        assert_eq!(tracks(&[(0, 0), (1, 1)]), (vec![0, 0], 0));
        let (of, count) = tracks(&[(0, 2), (1, 3), (5, 7)]);
        assert_ne!(of[0], of[1]);
        assert_eq!(count, 2);
        assert!(of[2] < 2);
    }

    #[test]
    fn who_leaves_a_row_turns_off_before_another_arrives_there() {
        let (of, _) = tracks(&[(0, 4), (4, 8)]);
        assert!(of[1] < of[0]);
        let (of, count) = tracks(&[(0, 4), (4, 0)]);
        assert_ne!(of[0], of[1]);
        assert_eq!(count, 2);
    }
}
