//! Keys: which action they mean where the keyboard is, and what the actions of every view do.

use crossterm::event::{Event, KeyEvent, KeyEventKind};
use tui_input::InputRequest;
use tui_input::backend::crossterm::to_input_request;

use super::{adopt, copy, delta, graph, main_view, palette, past, save, sheet};
use crate::ui::keymap::{Action, Context, Meaning};
use crate::ui::message::Effect;
use crate::ui::model::{Model, Over, Page, PageKind};
use crate::ui::panes;
use crate::ui::rows;
use crate::ui::sheet::Kind;

/// How many events a far step through the past takes.
const FAR: i64 = 25;

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
            Action::Top | Action::TopToo => Self::First,
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
    let before = std::mem::take(&mut model.pressed);
    let action = match model.setup.keymap.meaning(context, &before, event) {
        Meaning::Action(action) => action,
        Meaning::Begun => {
            model.pressed = before;
            model.pressed.push(event.into());
            return true;
        }
        // The keys before may have begun nothing, but this one may mean something by itself.
        Meaning::Nothing if !before.is_empty() => {
            press(model, event, effects);
            return true;
        }
        Meaning::Nothing => {
            return match context {
                Context::Field => to_input_request(&Event::Key(event))
                    .is_some_and(|request| type_in(model, request)),
                Context::Delta => delta::start_typing(model, event),
                _ => false,
            };
        }
    };
    carry_out(model, action, event, effects);
    true
}

/// Carries out `action` where the keyboard is; `event` is the key that asked for it.
pub(super) fn carry_out(
    model: &mut Model,
    action: Action,
    event: KeyEvent,
    effects: &mut Vec<Effect>,
) {
    let context = model.context();
    match action {
        Action::Quit => effects.push(Effect::Quit),
        Action::Suspend => effects.push(Effect::Suspend),
        Action::Redraw => effects.push(Effect::Redraw),
        Action::Help => toggle_page(model, PageKind::Help),
        Action::Problems => toggle_page(model, PageKind::Problems),
        Action::Back => back(model, effects),
        _ if model.saving.is_some() => {
            if action == Action::Accept {
                save::accept(model, effects);
            }
        }
        _ if model.palette.is_some() => palette::act(model, action, event, effects),
        Action::Copy => copy::copy(model, effects),
        Action::CopyJson => copy::copy_json(model, effects),
        Action::Save => save::open(model, effects),
        Action::Palette => palette::open(model),
        Action::Graph => graph::open(model),
        Action::Upstream => sheet::open(model, Kind::Upstream, effects),
        Action::Queue => sheet::open(model, Kind::Queue, effects),
        Action::Storage => sheet::open(model, Kind::Storage, effects),
        Action::Findings => sheet::open(model, Kind::Findings, effects),
        Action::RewindBack => past::step(model, -1, effects),
        Action::RewindForward => past::step(model, 1, effects),
        Action::RewindFarBack => past::step(model, -FAR, effects),
        Action::RewindFarForward => past::step(model, FAR, effects),
        _ => match context {
            Context::Page => scroll_page(model, action),
            Context::Field => in_field(model, action, effects),
            Context::Main => main_view::act(model, action, effects),
            Context::Delta => delta::act(model, action, effects),
            Context::Adopt => adopt::act(model, action, effects),
            Context::Graph => graph::act(model, action, effects),
            Context::Upstream
            | Context::Queue
            | Context::Storage
            | Context::Findings
            | Context::Explain => sheet::act(model, action, effects),
        },
    }
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
    if model.saving.is_some() {
        save::type_in(model, request);
        return true;
    }
    if model.palette.is_some() {
        palette::type_in(model, request);
        return true;
    }
    match &mut model.over {
        Some(Over::Sheet(sheet)) => {
            sheet.filter.input.handle(request);
            sheet.filter.reparse();
            sheet.arrange();
        }
        Some(Over::Graph(_)) => graph::type_in(model, request),
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
        (_, Some(Over::Sheet(_))) => sheet::act(model, action, effects),
        (_, Some(Over::Graph(_))) => graph::act(model, action, effects),
        (_, Some(Over::Delta(_))) => {}
    }
}

/// Esc: closes what was opened last, then clears what narrows the list.
fn back(model: &mut Model, effects: &mut Vec<Effect>) {
    if model.page.take().is_some()
        || model.palette.take().is_some()
        || model.saving.take().is_some()
    {
        return;
    }
    let was_typing = std::mem::take(&mut model.typing);
    match &mut model.over {
        Some(Over::Delta(delta)) => {
            delta.input.reset();
            if !was_typing {
                model.close();
            }
        }
        Some(Over::Adopt(adopt)) => {
            if was_typing || adopt.filter.is_active() {
                adopt.filter.clear();
                adopt::rebuild(adopt);
            } else {
                model.close();
            }
        }
        Some(Over::Sheet(sheet)) => {
            if was_typing || sheet.filter.is_active() {
                sheet.filter.clear();
                sheet.arrange();
            } else {
                model.close();
            }
        }
        Some(Over::Graph(graph)) => {
            if !graph.clear(was_typing) {
                model.close();
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
            } else if model.main.is_zoomed {
                model.main.is_zoomed = false;
            } else if !model.is_live() {
                past::live(model, effects);
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
