//! What a frame and an update cost with 2,000 sessions, 20,000 watches and 500 events at hand.

#![allow(missing_docs, clippy::unwrap_used, reason = "a bench: what fails has to stop it")]

use std::sync::Arc;

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use divan::{Bencher, black_box};
use jiff::tz::TimeZone;
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use tidings::engine::reason::Reason;
use tidings::engine::snapshot::{
    EventRow, JournalRow, NoticeRow, Role, SessionRow, Snapshot, WakeState, WatchRow,
};
use tidings::event::{ActorType, Event, EventKind, Sequence};
use tidings::session_key::{AgentId, SessionKey};
use tidings::ui::keymap::{Keymap, Overrides};
use tidings::ui::message::Message;
use tidings::ui::model::{Model, Setup};
use tidings::ui::theme::Theme;
use tidings::ui::update::update;
use tidings::ui::view::view;
use tidings::watch::{Condition, Cursor, PairState, Provenance};

const NOW: i64 = 1_784_203_424_000;
const SESSIONS: usize = 2_000;
const OF_EACH: usize = 10;

fn main() {
    divan::main();
}

fn key(n: usize) -> SessionKey {
    SessionKey::new(format!("agent:main:session:{n:05}"))
}

fn session(n: usize) -> SessionRow {
    SessionRow {
        key: key(n),
        agent: AgentId::main(),
        parent: (!n.is_multiple_of(4)).then(|| key(n - n % 4)),
        title: Some(format!("title of {n}")),
        harness: None,
        version: Some(Sequence(i64::try_from(n).unwrap())),
        pruned: Sequence(0),
        last_event: Some(event(n)),
        activity: [1; 12],
        watchers: OF_EACH,
        watching: OF_EACH,
        pending_notices: 1,
        messages: 0,
        has_goal: false,
        last_turn_at: Some(NOW),
        ended_at: None,
        upstream: None,
    }
}

fn event(n: usize) -> Event {
    Event {
        sequence: Sequence(i64::try_from(n).unwrap()),
        session: key(n % SESSIONS),
        session_id: None,
        agent: AgentId::main(),
        kind: EventKind::GoalChanged,
        actor_type: ActorType::Human,
        actor: None,
        run: None,
        occurred_at: NOW,
        summary: "goal updated".into(),
        payload: None,
    }
}

fn watch(n: usize, step: usize) -> WatchRow {
    let is_pending = (n + step).is_multiple_of(10);
    let seen = Sequence(if is_pending { 1 } else { 9 });
    WatchRow {
        cursor: Cursor {
            watcher: key(n),
            target: key((n + step * step * 7) % SESSIONS),
            seen,
            notified: Sequence(9),
            material: Sequence(9),
            provenance: Provenance::Explicit,
            updated_at: NOW,
        },
        head: Sequence(9),
        state: if is_pending { PairState::Pending } else { PairState::Synced },
        condition: if is_pending { Condition::Pending } else { Condition::InStep },
        reason: Reason::Open(Some(0)),
        pending_since: is_pending.then_some(NOW),
        wake: WakeState::NotDue,
        expires_at: NOW,
    }
}

fn snapshot() -> Arc<Snapshot> {
    let watches: Vec<WatchRow> =
        (0..SESSIONS).flat_map(|n| (1..=OF_EACH).map(move |step| watch(n, step))).collect();
    let notices = (0..watches.len())
        .filter(|at| watches[*at].cursor.is_pending())
        .map(|watch| NoticeRow { watch, queued: Some(true) })
        .collect();
    let events = (0..500)
        .map(|n| EventRow { event: event(n), notified: 1, coalesced: 0, suppressed: 0 })
        .collect();
    Arc::new(Snapshot {
        revision: 1,
        at: NOW,
        role: Role::Owner,
        journal: JournalRow {
            rows: 50_000,
            min: Some(Sequence(1)),
            max: Some(Sequence(50_000)),
            append_failures: 0,
        },
        sessions: Arc::new((0..SESSIONS).map(session).collect()),
        watches: Arc::new(watches),
        notices,
        events,
        ..Snapshot::default()
    })
}

/// The model after `keys` were pressed.
fn model(keys: &str) -> Model {
    let mut model = Model::new(Setup {
        theme: Theme::dark(),
        keymap: Keymap::new(&Overrides::new()).unwrap(),
        title: None,
        bell: false,
        desktop: false,
        ascii: false,
        zone: TimeZone::UTC,
        now: NOW,
    });
    update(&mut model, Message::Resize(200, 60));
    update(&mut model, Message::Snapshot(snapshot()));
    for c in keys.chars() {
        press(&mut model, c);
    }
    model
}

fn press(model: &mut Model, c: char) {
    update(model, Message::Key(KeyEvent::new(KeyCode::Char(c), KeyModifiers::NONE)));
}

/// A whole frame of 200 columns and 60 rows.
#[divan::bench(args = ["", "G", "/session", "g", "gz", "u", "Q", "F", "?", ":"])]
fn frame(bencher: Bencher, keys: &str) {
    let model = model(keys);
    let mut terminal = Terminal::new(TestBackend::new(200, 60)).unwrap();
    bencher.bench_local(|| {
        terminal.draw(|frame| view(&model, frame)).unwrap();
    });
}

/// Taking in a new picture.
#[divan::bench(args = ["", "/session", "g"])]
fn new_picture(bencher: Bencher, keys: &str) {
    let mut model = model(keys);
    // Taken in turns: a picture that shares its lists with the one before costs next to nothing.
    let mut pictures = [snapshot(), snapshot()].into_iter().cycle();
    bencher
        .bench_local(|| update(&mut model, Message::Snapshot(black_box(pictures.next().unwrap()))));
}

/// A key that moves the selection.
#[divan::bench(args = ["", "g"])]
fn step(bencher: Bencher, keys: &str) {
    let mut model = model(keys);
    bencher.bench_local(|| {
        press(&mut model, 'j');
        press(&mut model, 'k');
    });
}

/// The second that passes.
#[divan::bench(args = ["", "Q"])]
fn tick(bencher: Bencher, keys: &str) {
    let mut model = model(keys);
    let mut now = NOW;
    bencher.bench_local(|| {
        now += 1_000;
        update(&mut model, Message::Tick(now))
    });
}
