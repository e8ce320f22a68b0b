//! The rows: every item at the height of those it is joined to, as far as the order and the gaps allow.

use super::layout::{Net, Shape};

/// How often the layers are gone through.
const ROUNDS: usize = 8;

/// Gives each item its row.
pub(super) fn stack(net: &mut Net, shape: &Shape) {
    for layer in 0..net.layers.len() {
        settle(net, shape, layer, &|net, item| f64::from(net.items[item].y));
    }
    for round in 0..ROUNDS {
        let is_right = round % 2 == 0;
        let layers: Vec<usize> = if is_right {
            (0..net.layers.len()).collect()
        } else {
            (0..net.layers.len()).rev().collect()
        };
        for layer in layers {
            settle(net, shape, layer, &|net, item| wish(net, item, is_right));
        }
    }
    let top = net.items.iter().map(|item| item.y).min().unwrap_or(0) - shape.frame;
    for item in &mut net.items {
        item.y -= top;
    }
}

/// The row at which an item's edges would run level, on the mean.
fn wish(net: &Net, item: usize, is_right: bool) -> f64 {
    let here = &net.items[item];
    let offsets: Vec<i32> = if is_right {
        here.before.iter().map(|s| net.row_out(*s) - (net.row_in(*s) - here.y)).collect()
    } else {
        here.after.iter().map(|s| net.row_in(*s) - (net.row_out(*s) - here.y)).collect()
    };
    if offsets.is_empty() {
        return f64::from(here.y);
    }
    let count = f64::from(u32::try_from(offsets.len()).unwrap_or(1));
    offsets.into_iter().map(f64::from).sum::<f64>() / count
}

/// Places the items of a layer as near to what they wish as possible without changing their order: neighbours that would
/// overlap move as one block to the mean of their wishes.
fn settle(net: &mut Net, shape: &Shape, layer: usize, wish: &dyn Fn(&Net, usize) -> f64) {
    struct Block {
        sum: f64,
        count: f64,
        first: usize,
    }
    let items = net.layers[layer].clone();
    // The offset of each item when all stand as close as they may.
    let mut offsets = Vec::with_capacity(items.len());
    let mut offset = 0;
    for (at, item) in items.iter().enumerate() {
        if at > 0 {
            offset += distance(net, shape, items[at - 1], *item);
        }
        offsets.push(offset);
    }
    let mut blocks: Vec<Block> = Vec::new();
    for (at, item) in items.iter().enumerate() {
        let mut block =
            Block { sum: wish(net, *item) - f64::from(offsets[at]), count: 1.0, first: at };
        while let Some(before) = blocks.pop() {
            if before.sum / before.count <= block.sum / block.count {
                blocks.push(before);
                break;
            }
            block = Block {
                sum: before.sum + block.sum,
                count: before.count + block.count,
                first: before.first,
            };
        }
        blocks.push(block);
    }
    let ends = blocks.iter().skip(1).map(|block| block.first).chain([items.len()]);
    let placed: Vec<(usize, usize, i32)> = blocks
        .iter()
        .zip(ends)
        .map(|(block, end)| (block.first, end, rounded(block.sum / block.count)))
        .collect();
    for (first, end, base) in placed {
        for at in first..end {
            net.items[items[at]].y = base + offsets[at];
        }
    }
}

fn rounded(value: f64) -> i32 {
    #[expect(
        clippy::cast_possible_truncation,
        reason = "rows of a graph that fits into memory are far below the limits of i32, and the cast saturates"
    )]
    let row = value.round() as i32;
    row
}

/// From the first row of one item to the first row of the next below it.
fn distance(net: &Net, shape: &Shape, above: usize, below: usize) -> i32 {
    let (above, below) = (&net.items[above], &net.items[below]);
    let frame = |is_node: bool| if is_node { shape.frame } else { 0 };
    let gap = if above.node.is_some() && below.node.is_some() { shape.gap } else { 0 };
    above.rows() + frame(above.node.is_some()) + frame(below.node.is_some()) + gap
}
