//! Where things stand on a screen of a given size. It depends on the size and the focus alone, never on how many rows
//! there are: nothing moves because something happened.

use ratatui::layout::Rect;

use super::model::Pane;

/// From this width on, the watches stand beside the sessions.
const WIDE: u16 = 150;

/// The places of the main view.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct MainLayout {
    pub(crate) header: Rect,
    /// With borders; panes that touch share one. `None` for a pane that had to give way.
    pub(crate) panes: [Option<Rect>; 4],
    pub(crate) footer: Rect,
}

/// The places of a view that has one big box.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct OverLayout {
    pub(crate) header: Rect,
    /// With borders.
    pub(crate) body: Rect,
    pub(crate) footer: Rect,
}

/// Panes that stand side by side.
struct Band {
    panes: &'static [Pane],
    /// Lines it needs at least, without borders.
    least: u16,
    /// Its share of what is left over.
    share: u16,
}

const STACKED: [Band; 4] = [
    Band { panes: &[Pane::Sessions], least: 4, share: 5 },
    Band { panes: &[Pane::Watches], least: 4, share: 3 },
    Band { panes: &[Pane::Notices], least: 3, share: 2 },
    Band { panes: &[Pane::Events], least: 2, share: 3 },
];
const SIDE_BY_SIDE: [Band; 3] = [
    Band { panes: &[Pane::Sessions, Pane::Watches], least: 5, share: 5 },
    Band { panes: &[Pane::Notices], least: 3, share: 2 },
    Band { panes: &[Pane::Events], least: 3, share: 4 },
];
/// Who stays when not all fit.
const IMPORTANCE: [Pane; 4] = [Pane::Sessions, Pane::Notices, Pane::Watches, Pane::Events];

/// The main view. The pane with the keyboard always shows; zoomed, it has all the room.
pub(crate) fn main(area: Rect, focus: Pane, is_zoomed: bool) -> MainLayout {
    let OverLayout { header, body, footer } = over(area);
    if is_zoomed {
        let mut panes = [None; 4];
        panes[focus as usize] = Some(body);
        return MainLayout { header, panes, footer };
    }
    let bands: &[Band] = if area.width >= WIDE { &SIDE_BY_SIDE } else { &STACKED };
    let chosen = choose(bands, body.height, focus);
    let left_over = body.height.saturating_sub(needed(bands, &chosen));
    let shares: u16 = chosen.iter().map(|at| bands[*at].share).sum();

    let mut panes = [None; 4];
    let mut top = body.y;
    let mut rest = left_over;
    for (n, at) in chosen.iter().enumerate() {
        let band = &bands[*at];
        let extra = if n + 1 == chosen.len() {
            rest
        } else {
            (left_over * band.share).div_ceil(shares.max(1)).min(rest)
        };
        rest -= extra;
        let height = (band.least + extra + 2).min(body.bottom().saturating_sub(top));
        split(Rect { y: top, height, ..body }, band.panes, &mut panes);
        top += height.saturating_sub(1);
    }
    MainLayout { header, panes, footer }
}

/// A view with one box.
pub(crate) fn over(area: Rect) -> OverLayout {
    let header_height = if area.height >= 16 { 2 } else { 1 }.min(area.height);
    let footer_height = area.height.saturating_sub(header_height).min(1);
    let header = Rect { height: header_height, ..area };
    let footer = Rect { y: area.bottom() - footer_height, height: footer_height, ..area };
    let body =
        Rect { y: header.bottom(), height: area.height - header_height - footer_height, ..area };
    OverLayout { header, body, footer }
}

/// As many bands as fit, by importance, in the order of the screen.
fn choose(bands: &[Band], height: u16, focus: Pane) -> Vec<usize> {
    let mut chosen: Vec<usize> = Vec::new();
    for pane in IMPORTANCE {
        let Some(band) = bands.iter().position(|band| band.panes.contains(&pane)) else { continue };
        if chosen.contains(&band) {
            continue;
        }
        chosen.push(band);
        if chosen.len() > 1 && needed(bands, &chosen) > height {
            chosen.pop();
            break;
        }
    }
    if let Some(band) = bands.iter().position(|band| band.panes.contains(&focus))
        && !chosen.contains(&band)
    {
        chosen.pop();
        chosen.push(band);
    }
    chosen.sort_unstable();
    chosen
}

/// Lines for these bands with their shared borders.
fn needed(bands: &[Band], chosen: &[usize]) -> u16 {
    chosen.iter().map(|at| bands[*at].least + 1).sum::<u16>() + 1
}

fn split(area: Rect, band: &[Pane], panes: &mut [Option<Rect>; 4]) {
    if let [left, right] = band {
        let width = area.width * 11 / 20;
        panes[*left as usize] = Some(Rect { width, ..area });
        panes[*right as usize] =
            Some(Rect { x: area.x + width - 1, width: area.width - width + 1, ..area });
    } else {
        for pane in band {
            panes[*pane as usize] = Some(area);
        }
    }
}

/// What lies within the borders.
pub(crate) fn inner(area: Rect) -> Rect {
    Rect {
        x: area.x.saturating_add(1),
        y: area.y.saturating_add(1),
        width: area.width.saturating_sub(2),
        height: area.height.saturating_sub(2),
    }
}

/// The parts of a pane of the main view.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct PaneParts {
    /// The headings of the columns; no height when there are none.
    pub(crate) heading: Rect,
    /// The rows.
    pub(crate) list: Rect,
    /// More about the selected row; no height when there is no room.
    pub(crate) detail: Rect,
}

/// Divides a pane.
pub(crate) fn parts(pane: Pane, area: Rect) -> PaneParts {
    let inner = inner(area);
    let heading_height = match pane {
        Pane::Sessions | Pane::Notices => 1,
        Pane::Watches => u16::from(inner.height >= 8),
        Pane::Events => 0,
    };
    let detail_height = match (pane, inner.height) {
        (Pane::Watches, 16..) => 5,
        (Pane::Watches, 10..) => 3,
        (Pane::Watches, 4..) => 1,
        _ => 0,
    };
    cut(inner, heading_height, detail_height)
}

/// Divides the box of the delta: four lines above the heading, details below.
pub(crate) fn delta_parts(body: Rect) -> (Rect, PaneParts) {
    let inner = inner(body);
    let head_height = 4.min(inner.height);
    let head = Rect { height: head_height, ..inner };
    let rest = Rect { y: head.bottom(), height: inner.height - head_height, ..inner };
    let detail_height = match rest.height {
        20.. => 6,
        10.. => 4,
        _ => 0,
    };
    (head, cut(rest, 1, detail_height))
}

/// Divides the box of the adoptable sessions: what was passed over stands below.
pub(crate) fn adopt_parts(body: Rect, skipped: usize) -> PaneParts {
    let inner = inner(body);
    let room = inner.height / 3;
    let wanted =
        if skipped == 0 { 0 } else { u16::try_from(skipped).unwrap_or(u16::MAX).saturating_add(1) };
    cut(inner, 1, wanted.min(room))
}

/// Divides the box of a sheet: a sentence above, details of the selected row below.
pub(crate) fn sheet_parts(body: Rect) -> (Rect, PaneParts) {
    let inner = inner(body);
    let head_height = match inner.height {
        8.. => 2,
        4.. => 1,
        _ => 0,
    };
    let head = Rect { height: head_height, ..inner };
    let rest = Rect { y: head.bottom(), height: inner.height - head_height, ..inner };
    let detail_height = match rest.height {
        16.. => 5,
        9.. => 3,
        _ => 0,
    };
    (head, cut(rest, 1, detail_height))
}

/// Divides the box of the graph: a line above, the window below.
pub(crate) fn graph_parts(body: Rect) -> (Rect, Rect) {
    let inner = inner(body);
    let head_height = u16::from(inner.height >= 4);
    let head = Rect { height: head_height, ..inner };
    (head, Rect { y: head.bottom(), height: inner.height - head_height, ..inner })
}

/// The place of the palette with its borders, and of the list in it.
pub(crate) fn palette(area: Rect) -> (Rect, Rect) {
    let width = 84.min(area.width);
    let height = 24.min(area.height.saturating_sub(2)).max(5).min(area.height);
    let place = Rect {
        x: area.x + (area.width - width) / 2,
        y: area.y + ((area.height - height) / 3).max(1).min(area.height - height),
        width,
        height,
    };
    let inner = inner(place);
    let list = Rect { y: inner.y + 1, height: inner.height.saturating_sub(1), ..inner };
    (place, list)
}

fn cut(area: Rect, heading: u16, detail: u16) -> PaneParts {
    let heading_height = heading.min(area.height);
    let detail_height = detail.min(area.height - heading_height);
    let heading = Rect { height: heading_height, ..area };
    let detail = Rect { y: area.bottom() - detail_height, height: detail_height, ..area };
    let list =
        Rect { y: heading.bottom(), height: area.height - heading_height - detail_height, ..area };
    PaneParts { heading, list, detail }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(width: u16, height: u16, focus: Pane) -> Vec<Pane> {
        let layout = main(Rect::new(0, 0, width, height), focus, false);
        Pane::ALL.into_iter().filter(|pane| layout.panes[*pane as usize].is_some()).collect()
    }

    #[test]
    fn panes_give_way_in_order_of_importance() {
        use Pane::{Events, Notices, Sessions, Watches};
        assert_eq!(shown(200, 60, Sessions), [Sessions, Watches, Notices, Events]);
        assert_eq!(shown(80, 24, Sessions), [Sessions, Watches, Notices, Events]);
        assert_eq!(shown(80, 19, Sessions), [Sessions, Watches, Notices]);
        assert_eq!(shown(80, 15, Sessions), [Sessions, Notices]);
        assert_eq!(shown(40, 10, Sessions), [Sessions]);
        assert_eq!(shown(40, 10, Events), [Events]);
        assert_eq!(shown(80, 15, Events), [Sessions, Events]);
    }

    #[test]
    fn panes_fill_the_body_and_share_borders() {
        for (width, height) in [(40, 10), (80, 24), (149, 31), (150, 30), (200, 60), (250, 80)] {
            for focus in Pane::ALL {
                let area = Rect::new(0, 0, width, height);
                let layout = main(area, focus, false);
                let body = over(area).body;
                let panes: Vec<Rect> = layout.panes.into_iter().flatten().collect();
                assert!(panes.iter().all(|pane| body.intersection(*pane) == *pane));
                assert_eq!(panes.iter().map(|pane| pane.bottom()).max(), Some(body.bottom()));
                for (n, pane) in panes.iter().enumerate() {
                    for other in &panes[n + 1..] {
                        let common = pane.intersection(*other);
                        assert!(common.width <= 1 || common.height <= 1, "{pane:?} {other:?}");
                    }
                }
            }
        }
    }

    #[test]
    fn the_layout_knows_any_size() {
        for width in 0..60 {
            for height in 0..30 {
                let area = Rect::new(0, 0, width, height);
                for pane in Pane::ALL {
                    for rect in main(area, pane, false).panes.into_iter().flatten() {
                        let _ = parts(pane, rect);
                    }
                }
                let _ = (delta_parts(area), adopt_parts(area, 3));
            }
        }
    }
}
