//! Keys: which action they mean where the keyboard is, and what the actions of every view do.

use crossterm::event::{Event, KeyEvent, KeyEventKind};
use tui_input::InputRequest;
use tui_input::backend::crossterm::to_input_request;

use super::{adopt, copy, delta, main_view, snapshot};
use crate::ui::keymap::{Action, Context};
use crate::ui::message::Effect;
use crate::ui::model::{Model, Over, Page, PageKind};
use crate::ui::panes;
use crate::ui::rows;

/// A step within a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Step {
    Rows(isize),
    HalfPages(isize),
    Pages(isize),
    First,
    Last,
}

impl Step {
    fn of(action: Action) -> Option<Self> {
        Some(match action {
            Action::Up => Self::Rows(-1),
            Action::Down => Self::Rows(1),
            Action::HalfUp => Self::HalfPages(-1),
            Action::HalfDown => Self::HalfPages(1),
            Action::PageUp => Self::Pages(-1),
            Action::PageDown => Self::Pages(1),
            Action::Top => Self::First,
            Action::Bottom => Self::Last,
            _ => return None,
        })
    }

    /// Where the step leads from `index` in a list of `len` rows of which `height` can be seen.
    pub(super) fn from(self, index: usize, len: usize, height: usize) -> usize {
        let last = len.saturating_sub(1);
        let height = isize::try_from(height.max(1)).unwrap_or(isize::MAX);
        let by = match self {
            Self::First => return 0,
            Self::Last => return last,
            Self::Rows(n) => n,
            Self::HalfPages(n) => n.saturating_mul((height / 2).max(1)),
            Self::Pages(n) => n.saturating_mul((height - 1).max(1)),
        };
        index.saturating_add_signed(by).min(last)
    }
}

/// A key was pressed. Returns whether anything came of it.
pub(super) fn press(model: &mut Model, event: KeyEvent, effects: &mut Vec<Effect>) -> bool {
    if event.kind == KeyEventKind::Release {
        return false;
    }
    let context = model.context();
    let Some(action) = model.setup.keymap.action(context, event) else {
        return match context {
            Context::Field => {
                to_input_request(&Event::Key(event)).is_some_and(|request| type_in(model, request))
            }
            Context::Delta => delta::start_typing(model, event),
            _ => false,
        };
    };
    match action {
        Action::Quit => effects.push(Effect::Quit),
        Action::Suspend => effects.push(Effect::Suspend),
        Action::Redraw => effects.push(Effect::Redraw),
        Action::Help => toggle_page(model, PageKind::Help),
        Action::Problems => toggle_page(model, PageKind::Problems),
        Action::Back => back(model, effects),
        Action::Copy => copy::copy(model, effects),
        _ => match context {
            Context::Page => scroll_page(model, action),
            Context::Field => in_field(model, action, effects),
            Context::Main => main_view::act(model, action, effects),
            Context::Delta => delta::act(model, action, effects),
            Context::Adopt => adopt::act(model, action, effects),
        },
    }
    true
}

/// Text was pasted: into a field it goes, anywhere else it is dropped, so that it never acts as keys.
pub(super) fn paste(model: &mut Model, text: &str) -> bool {
    if model.context() != Context::Field {
        return false;
    }
    // A field is one short line.
    for c in text.chars().filter(|c| !c.is_control()).take(200) {
        type_in(model, InputRequest::InsertChar(c));
    }
    true
}

fn type_in(model: &mut Model, request: InputRequest) -> bool {
    match &mut model.over {
        Some(Over::Delta(delta)) => delta::type_in(delta, request),
        Some(Over::Adopt(adopt)) => {
            adopt.filter.input.handle(request);
            adopt.filter.reparse();
            adopt::rebuild(adopt);
        }
        None => {
            let filter = model.main.filter_mut(model.main.focus);
            filter.input.handle(request);
            filter.reparse();
            rows::rebuild(&mut model.main, &model.picture);
            main_view::select_best(model);
        }
    }
    true
}

fn in_field(model: &mut Model, action: Action, effects: &mut Vec<Effect>) {
    match (action, &model.over) {
        (Action::Accept, Some(Over::Delta(_))) => {
            model.typing = false;
            delta::accept_version(model, effects);
        }
        (Action::Accept, _) => model.typing = false,
        (_, Some(Over::Adopt(_))) => adopt::act(model, action, effects),
        (_, None) => main_view::act(model, action, effects),
        (_, Some(Over::Delta(_))) => {}
    }
}

/// Esc: closes what was opened last, then clears what narrows the list.
fn back(model: &mut Model, effects: &mut Vec<Effect>) {
    if model.page.take().is_some() {
        return;
    }
    let was_typing = std::mem::take(&mut model.typing);
    match &mut model.over {
        Some(Over::Delta(delta)) => {
            delta.input.reset();
            if !was_typing {
                model.over = None;
            }
        }
        Some(Over::Adopt(adopt)) => {
            if was_typing || adopt.filter.is_active() {
                adopt.filter.clear();
                adopt::rebuild(adopt);
            } else {
                model.over = None;
            }
        }
        None => {
            let filter = model.main.filter_mut(model.main.focus);
            if was_typing || filter.is_active() {
                filter.clear();
                rows::rebuild(&mut model.main, &model.picture);
            } else if model.main.out_of_step {
                model.main.out_of_step = false;
                rows::rebuild(&mut model.main, &model.picture);
            } else if model.paused_at.take().is_some() {
                snapshot::show(model, effects);
            } else {
                model.toast = None;
            }
        }
    }
}

fn toggle_page(model: &mut Model, kind: PageKind) {
    model.page = match model.page {
        Some(page) if page.kind == kind => None,
        _ => Some(Page { kind, top: 0 }),
    };
}

fn scroll_page(model: &mut Model, action: Action) {
    let (Some(step), Some(page)) = (Step::of(action), model.page) else { return };
    let (lines, height) = panes::page_extent(model, page.kind);
    let furthest = lines.saturating_sub(height);
    // The page moves, not a cursor on it: a step counts from its first line.
    let top = step.from(page.top, furthest + 1, height);
    model.page = Some(Page { top, ..page });
}

/// The step that `action` means, for the lists.
pub(super) fn step_of(action: Action) -> Option<Step> {
    Step::of(action)
}
