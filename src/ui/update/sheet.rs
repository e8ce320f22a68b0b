//! The sheets: opening them, asking the engine for what the picture does not hold, acting on the selected row.

use super::keys::step_of;
use super::main_view::{self, toggle_watch};
use super::{adopt, ask, delta, graph, toast};
use crate::engine::explain::Question;
use crate::engine::live::{Reply, Request};
use crate::engine::snapshot::Source;
use crate::ui::index::PairId;
use crate::ui::keymap::Action;
use crate::ui::layout;
use crate::ui::message::{Effect, Ticket};
use crate::ui::model::{Asked, Model, Over, Selected, Tone};
use crate::ui::sheet::{Kind, RowId, Sheet};
use crate::ui::{sheets, words};

/// Opens a sheet; the one that is on the screen already is left by the same key.
pub(super) fn open(model: &mut Model, kind: Kind, effects: &mut Vec<Effect>) {
    if matches!(&model.over, Some(Over::Sheet(sheet)) if sheet.kind == kind) {
        return model.close();
    }
    model.open(Over::Sheet(Box::new(Sheet::new(kind))));
    load(model, effects);
    rebuild(model);
}

/// Opens the story of the selected watch.
pub(super) fn explain(model: &mut Model, pair: Option<PairId>, effects: &mut Vec<Effect>) {
    match pair {
        Some(pair) => open(model, Kind::Explain(pair), effects),
        None => toast(model, effects, Tone::Note, "select a watch or a notice to explain it"),
    }
}

/// Carries out `action`.
pub(super) fn act(model: &mut Model, action: Action, effects: &mut Vec<Effect>) {
    let area = model.area();
    let Some(Over::Sheet(sheet)) = &mut model.over else { return };
    if action != Action::Forget {
        sheet.doomed = None;
    }
    if let Some(step) = step_of(action) {
        let height = usize::from(layout::sheet_parts(layout::over(area).body).1.list.height);
        let index = step.from(sheet.selection.index(), sheet.shown.len(), height);
        return sheet.go(index);
    }
    match action {
        Action::Filter => model.typing = true,
        Action::Sort => {
            sheet.sort = sheet.sort.next(sheets::columns(&sheet.kind).len());
            sheet.arrange();
        }
        Action::SortReverse => {
            sheet.sort.is_reversed = !sheet.sort.is_reversed;
            sheet.arrange();
        }
        Action::Reload => load(model, effects),
        Action::Tick => main_view::tick(model, effects),
        Action::Adopt => adopt::open(model, effects),
        Action::Delta => open_delta(model, effects),
        Action::Watch => {
            let target = selected(model).map(|selected| selected.session);
            toggle_watch(model, target, effects);
        }
        Action::Explain => {
            let pair = selected(model).and_then(|selected| {
                // What waits for a session waits because of what it watches.
                let watching = model.picture.watching(&selected.session);
                selected.pair.or_else(|| graph::most_urgent(&model.picture, watching.iter()))
            });
            explain(model, pair, effects);
        }
        Action::Forget => forget(model, effects),
        _ => {}
    }
}

/// What the selected row is about.
pub(super) fn selected(model: &Model) -> Option<Selected> {
    let Some(Over::Sheet(sheet)) = &model.over else { return None };
    let of = |session: &crate::session_key::SessionKey, pair| Selected {
        session: session.clone(),
        agent: model.picture.agent(session),
        pair,
        event: None,
    };
    match &sheet.selected()?.id {
        RowId::Link(session, agent) => Some(Selected { agent: agent.clone(), ..of(session, None) }),
        RowId::Queue(session) => Some(of(session, None)),
        RowId::Pair(pair) => Some(of(&pair.target, Some(pair.clone()))),
        RowId::Step(_) => match &sheet.kind {
            Kind::Explain(pair) => Some(of(&pair.target, Some(pair.clone()))),
            _ => None,
        },
        RowId::Fact(_) | RowId::Finding(..) => None,
    }
}

fn open_delta(model: &mut Model, effects: &mut Vec<Effect>) {
    let Some(selected) = selected(model) else { return };
    let (since, origin) = main_view::since(model, &selected);
    delta::open(model, &selected, since, origin, effects);
}

/// The first press asks, the second does it.
fn forget(model: &mut Model, effects: &mut Vec<Effect>) {
    let Some(Over::Sheet(sheet)) = &mut model.over else { return };
    let Some(row) = sheet.selected() else { return };
    let RowId::Link(session, agent) = row.id.clone() else { return };
    if sheet.doomed.as_ref() == Some(&row.id) {
        sheet.doomed = None;
        ask(model, effects, Asked::Other, Request::Forget { session, agent });
    } else {
        sheet.doomed = Some(row.id.clone());
        let key = model.setup.keymap.key(Action::Forget).unwrap_or_default();
        let name = words::short_key(&session);
        let text = format!("press {key} again to forget the source of {name}; its session stays");
        toast(model, effects, Tone::Note, &text);
    }
}

/// What the sheet needs beyond the picture.
fn request(kind: &Kind) -> Option<Request> {
    match kind {
        Kind::Upstream => Some(Request::Sizes),
        Kind::Queue => Some(Request::Wakes),
        Kind::Storage => Some(Request::Storage),
        Kind::Explain(pair) => Some(Request::Explain(Question {
            watcher: pair.watcher.clone(),
            target: pair.target.clone(),
            event: None,
        })),
        Kind::Findings => None,
    }
}

fn load(model: &mut Model, effects: &mut Vec<Effect>) {
    let revision = model.live.as_ref().map_or(0, |live| live.revision);
    let is_foreign =
        model.live.as_ref().is_some_and(|live| matches!(live.source, Source::Attached { .. }));
    let Some(Over::Sheet(sheet)) = &mut model.over else { return };
    sheet.asked_at = revision;
    let Some(request) = request(&sheet.kind) else { return };
    // Another system's wakes and files are nobody's business here.
    if is_foreign && !matches!(request, Request::Storage | Request::Explain(_)) {
        return;
    }
    let ticket = ask(model, effects, Asked::Sheet, request);
    if let Some(Over::Sheet(sheet)) = &mut model.over {
        sheet.ticket = Some(ticket);
    }
}

/// After a new picture: asks again, unless an answer is still to come.
pub(super) fn refresh(model: &mut Model, effects: &mut Vec<Effect>) {
    let revision = model.live.as_ref().map_or(0, |live| live.revision);
    if let Some(Over::Sheet(sheet)) = &model.over
        && sheet.ticket.is_none()
        && sheet.asked_at != revision
    {
        load(model, effects);
    }
}

/// The engine answered.
pub(super) fn answered(model: &mut Model, ticket: Ticket, result: Result<Reply, String>) {
    let Some(Over::Sheet(sheet)) = model.asker(ticket) else { return };
    sheet.error = None;
    match result {
        Ok(Reply::Sizes(sizes)) => sheet.answers.sizes = sizes,
        Ok(Reply::Wakes(wakes)) => sheet.answers.wakes = Some(wakes),
        Ok(Reply::Storage(storage)) => sheet.answers.storage = Some(storage),
        Ok(Reply::Explained(answer)) => sheet.answers.explanation = Some(answer),
        Ok(_) => {}
        Err(error) => sheet.error = Some(error),
    }
}

/// Makes the rows of the sheet on the screen anew.
pub(super) fn rebuild(model: &mut Model) {
    let Some(Over::Sheet(sheet)) = &model.over else { return };
    let rows = sheets::rows(model, sheet);
    if let Some(Over::Sheet(sheet)) = &mut model.over {
        sheet.take(rows);
    }
}
