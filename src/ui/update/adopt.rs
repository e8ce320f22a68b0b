//! The foreign sessions of this machine, and adopting one.

use super::keys::step_of;
use super::{ask, snapshot, toast};
use crate::engine::live::{Reply, Request};
use crate::ui::keymap::Action;
use crate::ui::layout;
use crate::ui::message::{Effect, Ticket};
use crate::ui::model::{Adopt, Asked, Model, Over, Tone};
use crate::ui::words;
use crate::upstream::CatalogEntry;
use crate::visible;

/// Opens the view and asks for the list.
pub(super) fn open(model: &mut Model, effects: &mut Vec<Effect>) {
    if matches!(model.over, Some(Over::Adopt(_))) {
        return model.close();
    }
    model.open(Over::Adopt(Box::default()));
    load(model, effects);
}

/// Carries out `action`.
pub(super) fn act(model: &mut Model, action: Action, effects: &mut Vec<Effect>) {
    let area = model.area();
    let Some(Over::Adopt(adopt)) = &mut model.over else { return };
    if let Some(step) = step_of(action) {
        let skipped = adopt.listing.as_ref().map_or(0, |listing| listing.skipped.len());
        let height = layout::adopt_parts(layout::over(area).body, skipped).list.height;
        let index = step.from(adopt.entries.index(), adopt.rows.len(), usize::from(height));
        let (rows, listing) = (&adopt.rows, &adopt.listing);
        return adopt.entries.go(index, rows.len(), |at| {
            Some(name(listing.as_ref()?.entries.get(*rows.get(at)?)?))
        });
    }
    match action {
        Action::Filter => model.typing = true,
        Action::Reload => load(model, effects),
        Action::AdoptThis => adopt_selected(model, true, effects),
        Action::AdoptOnly => adopt_selected(model, false, effects),
        _ => {}
    }
}

fn load(model: &mut Model, effects: &mut Vec<Effect>) {
    let ticket = ask(model, effects, Asked::Catalog, Request::Catalog);
    if let Some(Over::Adopt(adopt)) = &mut model.over {
        adopt.ticket = Some(ticket);
    }
}

/// The list is there, for the view that asked, even if another lies over it.
pub(super) fn listed(model: &mut Model, ticket: Ticket, result: Result<Reply, String>) {
    let Some(Over::Adopt(adopt)) = model.asker(ticket) else { return };
    match result {
        Ok(Reply::Catalog(listing)) => {
            adopt.error = None;
            adopt.listing = Some(listing);
        }
        Ok(_) => {}
        Err(error) => {
            adopt.listing = None;
            adopt.error = Some(error);
        }
    }
    rebuild(adopt);
}

/// Finds the rows that pass the filter.
pub(super) fn rebuild(adopt: &mut Adopt) {
    let entries = adopt.listing.as_ref().map_or(&[][..], |listing| &listing.entries);
    adopt.rows = (0..entries.len())
        .filter(|at| !adopt.filter.is_active() || adopt.filter.matches(&text(&entries[*at])))
        .collect();
    let rows = &adopt.rows;
    adopt.entries.rejoin(rows.len(), |at| Some(name(entries.get(*rows.get(at)?)?)));
}

fn adopt_selected(model: &mut Model, is_watched: bool, effects: &mut Vec<Effect>) {
    let Some(Over::Adopt(adopt)) = &model.over else { return };
    let Some(entry) = adopt.selected() else { return };
    let (catalog, thread) = name(entry);
    if adopt.adopted.contains(&(catalog.clone(), thread.clone())) {
        return toast(model, effects, Tone::Note, "this one is adopted already");
    }
    if is_asked(model, &catalog, &thread) {
        return;
    }
    let asked = Asked::Adopt { catalog: catalog.clone(), thread: thread.clone(), is_watched };
    let request = if is_watched {
        Request::Adopt { catalog, wanted: thread }
    } else {
        Request::AdoptOnly { catalog, wanted: thread }
    };
    ask(model, effects, asked, request);
}

/// Whether the engine is adopting this entry already.
pub(in crate::ui) fn is_asked(model: &Model, catalog: &str, thread: &str) -> bool {
    model.asked.values().any(|asked| {
        matches!(asked, Asked::Adopt { catalog: c, thread: t, .. } if c == catalog && t == thread)
    })
}

/// The engine has adopted it, or says why not.
pub(super) fn adopted(
    model: &mut Model,
    entry: &(String, String),
    is_watched: bool,
    result: Result<Reply, String>,
    effects: &mut Vec<Effect>,
) {
    match result {
        Ok(Reply::Adopted(key)) => {
            let name = words::short_key(&key);
            let text = if is_watched {
                format!("adopted {name}; you watch it now")
            } else {
                format!("adopted {name}; it is looked at once somebody watches it")
            };
            toast(model, effects, Tone::Done, &text);
            for over in model.over.iter_mut().chain(&mut model.under) {
                if let Over::Adopt(adopt) = over {
                    adopt.adopted.insert(entry.clone());
                }
            }
            model.main.awaited = Some(key);
            if model.paused_at.is_none() {
                snapshot::arrange(model);
            }
        }
        Ok(_) => {}
        Err(error) => toast(model, effects, Tone::Error, &error),
    }
}

/// What an entry is called in the catalog.
pub(super) fn name(entry: &CatalogEntry) -> (String, String) {
    (entry.catalog.clone(), entry.thread.clone())
}

/// What the filter looks at.
fn text(entry: &CatalogEntry) -> String {
    let title = words::title(entry.title.as_deref()).unwrap_or_default();
    let project = entry.project.as_deref().unwrap_or_default();
    format!("{title} {} {}", visible::clean(project), visible::clean(&entry.thread))
}
