//! The order within the layers: items stand near those they are joined to, so that few edges cross.

use super::layout::Net;

/// How often the layers are gone through, to the right and back.
const SWEEPS: usize = 12;

/// Orders the layers of `net`, and the ends of stretches at each item.
pub(super) fn arrange(net: &mut Net) {
    group(net);
    let mut best = net.layers.clone();
    let mut fewest = crossings(net);
    for sweep in 0..SWEEPS {
        if fewest == 0 {
            break;
        }
        let is_right = sweep % 2 == 0;
        let layers: Vec<usize> = if is_right {
            (1..net.layers.len()).collect()
        } else {
            (0..net.layers.len().saturating_sub(1)).rev().collect()
        };
        for layer in layers {
            by_barycentre(net, layer, is_right);
        }
        let now = crossings(net);
        if now < fewest {
            fewest = now;
            best.clone_from(&net.layers);
        }
    }
    net.layers = best;
    sort_ends(net);
}

/// Puts what is joined together side by side at the start: each group of joined items is one block in every layer.
fn group(net: &mut Net) {
    let mut root: Vec<usize> = (0..net.items.len()).collect();
    for stretch in &net.stretches {
        let (a, b) = (find(&mut root, stretch.from), find(&mut root, stretch.to));
        root[a.max(b)] = a.min(b);
    }
    let group: Vec<usize> = (0..net.items.len()).map(|at| find(&mut root, at)).collect();
    for layer in &mut net.layers {
        layer.sort_by_key(|item| (group[*item], *item));
    }
}

/// The first of the group that an item was found to be in.
fn find(root: &mut [usize], mut at: usize) -> usize {
    while root[at] != at {
        root[at] = root[root[at]];
        at = root[at];
    }
    at
}

/// The place of each item in its layer.
fn places(net: &Net) -> Vec<usize> {
    let mut places = vec![0; net.items.len()];
    for layer in &net.layers {
        for (at, item) in layer.iter().enumerate() {
            places[*item] = at;
        }
    }
    places
}

/// Orders a layer by the mean place of what each item is joined to in the layer before or after it. Items that are joined to
/// nothing there keep their place.
fn by_barycentre(net: &mut Net, layer: usize, is_right: bool) {
    let places = places(net);
    let mean = |item: usize| -> f64 {
        let item_ref = &net.items[item];
        let ends: Vec<usize> = if is_right {
            item_ref.before.iter().map(|s| places[net.stretches[*s].from]).collect()
        } else {
            item_ref.after.iter().map(|s| places[net.stretches[*s].to]).collect()
        };
        if ends.is_empty() {
            return as_f64(places[item]);
        }
        ends.iter().map(|place| as_f64(*place)).sum::<f64>() / as_f64(ends.len())
    };
    let mut keyed: Vec<(f64, usize)> =
        net.layers[layer].iter().map(|item| (mean(*item), *item)).collect();
    keyed.sort_by(|a, b| a.0.total_cmp(&b.0));
    net.layers[layer] = keyed.into_iter().map(|(_, item)| item).collect();
}

fn as_f64(n: usize) -> f64 {
    f64::from(u32::try_from(n).unwrap_or(u32::MAX))
}

/// How often stretches cross.
pub(super) fn crossings(net: &Net) -> usize {
    let places = places(net);
    net.layers
        .iter()
        .map(|layer| {
            let mut ends: Vec<(usize, usize)> = layer
                .iter()
                .flat_map(|item| net.items[*item].after.iter())
                .map(|s| (places[net.stretches[*s].from], places[net.stretches[*s].to]))
                .collect();
            ends.sort_unstable();
            inversions(&ends.into_iter().map(|(_, to)| to).collect::<Vec<_>>())
        })
        .sum()
}

/// How many pairs stand in the wrong order, counted with a tree of sums.
fn inversions(of: &[usize]) -> usize {
    let size = of.iter().max().map_or(0, |most| most + 2);
    let mut sums = vec![0_usize; size + 1];
    let mut total = 0;
    for (seen, place) in of.iter().enumerate() {
        let mut at = place + 1;
        let mut not_after = 0;
        while at > 0 {
            not_after += sums[at];
            at &= at - 1;
        }
        total += seen - not_after;
        let mut at = place + 1;
        while at <= size {
            sums[at] += 1;
            at += at & at.wrapping_neg();
        }
    }
    total
}

/// Orders the ends of stretches at each item by where they come from and go to.
fn sort_ends(net: &mut Net) {
    let places = places(net);
    let stretches = net.stretches.clone();
    for item in &mut net.items {
        item.before.sort_by_key(|s| (places[stretches[*s].from], stretches[*s].edge));
        item.after.sort_by_key(|s| (places[stretches[*s].to], stretches[*s].edge));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inversions_are_counted() {
        assert_eq!(inversions(&[0, 1, 2]), 0);
        assert_eq!(inversions(&[2, 1, 0]), 3);
        assert_eq!(inversions(&[1, 1, 0]), 2);
        assert_eq!(inversions(&[]), 0);
    }
}
