//! Copying: the key, notice or call that the keyboard is on.

use super::{main_view, toast};
use crate::session_key::SessionKey;
use crate::ui::message::Effect;
use crate::ui::model::{Model, Over, Pane, Tone};
use crate::ui::words;
use crate::visible;

/// Copies what is selected, and says what that was.
pub(super) fn copy(model: &mut Model, effects: &mut Vec<Effect>) {
    let Some((text, what)) = selected_text(model) else {
        return toast(model, effects, Tone::Note, "nothing is selected to copy");
    };
    // Pasted into a shell, a control character would act: only text that shows itself is copied.
    let safe = visible::clean(&text);
    let note = if safe == text { "" } else { "; hidden characters are spelled out" };
    let said = format!("copied {what}{note}");
    effects.push(Effect::Copy(safe.into_owned()));
    toast(model, effects, Tone::Done, &said);
}

fn selected_text(model: &Model) -> Option<(String, &'static str)> {
    match &model.over {
        Some(Over::Delta(delta)) => {
            Some((words::status_call(&delta.session, delta.after), "the session_status call"))
        }
        Some(Over::Adopt(adopt)) => Some((adopt.selected()?.thread.clone(), "the thread id")),
        None => in_main_view(model),
    }
}

fn in_main_view(model: &Model) -> Option<(String, &'static str)> {
    let selected = main_view::selected(model)?;
    let main = &model.main;
    match main.focus {
        Pane::Notices => {
            let notice = main.rows.notices.get(main.notices.index())?;
            Some((model.shown().notices[*notice].text.clone(), "the notice"))
        }
        Pane::Watches => {
            let line = main.rows.watches.get(main.watches.index())?;
            let pair = selected.pair?;
            let other: SessionKey = if line.is_incoming { pair.watcher } else { pair.target };
            Some((other.as_str().to_owned(), "the key"))
        }
        Pane::Sessions | Pane::Events => Some((selected.session.as_str().to_owned(), "the key")),
    }
}
