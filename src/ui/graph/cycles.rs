//! Which edges have to be turned round so that a directed graph has no cycle: few, and the same ones each time.

/// Says of each edge whether it goes back in an order of the nodes in which few do (after Eades, Lin and Smyth: what only
/// receives goes last, what only sends goes first, and of the rest whoever sends most beyond what it receives is next).
pub(super) fn feedback(nodes: usize, edges: &[(usize, usize)]) -> Vec<bool> {
    let mut out: Vec<Vec<usize>> = vec![Vec::new(); nodes];
    let mut into: Vec<Vec<usize>> = vec![Vec::new(); nodes];
    for (from, to) in edges.iter().filter(|(from, to)| from != to) {
        out[*from].push(*to);
        into[*to].push(*from);
    }
    let mut out_degree: Vec<usize> = out.iter().map(Vec::len).collect();
    let mut in_degree: Vec<usize> = into.iter().map(Vec::len).collect();
    let mut left: Vec<usize> = (0..nodes).collect();
    let (mut first, mut last) = (Vec::new(), Vec::new());
    while !left.is_empty() {
        let sink = left.iter().position(|node| out_degree[*node] == 0);
        let source = left.iter().position(|node| in_degree[*node] == 0);
        let at = source.or(sink).unwrap_or_else(|| {
            let surplus = |node: usize| {
                i64::try_from(out_degree[node]).unwrap_or(0)
                    - i64::try_from(in_degree[node]).unwrap_or(0)
            };
            // The first of several alike: the order of the nodes decides.
            let best = left.iter().enumerate().rev().max_by_key(|(_, node)| surplus(**node));
            best.map_or(0, |(at, _)| at)
        });
        let node = left.remove(at);
        for other in &out[node] {
            in_degree[*other] = in_degree[*other].saturating_sub(1);
        }
        for other in &into[node] {
            out_degree[*other] = out_degree[*other].saturating_sub(1);
        }
        if source.is_none() && sink.is_some() {
            last.push(node);
        } else {
            first.push(node);
        }
    }
    let mut place = vec![0; nodes];
    for (at, node) in first.iter().chain(last.iter().rev()).enumerate() {
        place[*node] = at;
    }
    edges.iter().map(|(from, to)| place[*from] > place[*to]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_chain_needs_no_turn_and_a_circle_one() {
        assert_eq!(feedback(3, &[(0, 1), (1, 2)]), [false, false]);
        let circle = feedback(3, &[(0, 1), (1, 2), (2, 0)]);
        assert_eq!(circle.iter().filter(|back| **back).count(), 1);
        let both = feedback(2, &[(0, 1), (1, 0)]);
        assert_eq!(both, [false, true]);
    }
}
