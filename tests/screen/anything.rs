//! Generators of whatever may reach the screen, hostile and absurd things included.

use std::sync::Arc;

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::json;
use tidings::engine::explain::{Explanation, Moment, Question, Verdict};
use tidings::engine::live::Reply;
use tidings::engine::notices::Language;
use tidings::engine::past::Past;
use tidings::engine::reason::Reason;
use tidings::engine::snapshot::{
    EventRow, JournalRow, LinkRow, NoticeRow, Problem, Pulse, QueueRow, Role, SessionRow, Snapshot,
    Source, WakeRow, WakeState, WatchRow,
};
use tidings::engine::storage::Storage;
use tidings::event::{ActorType, Changes, Event, EventKind, Sequence};
use tidings::journal::storage::Counts;
use tidings::session_key::AgentId;
use tidings::ui::keymap::{ACTIONS, Key};
use tidings::ui::message::{Gesture, Message, Pointed, Ticket, Timer};
use tidings::upstream::{CatalogEntry, Listing};
use tidings::watch::{Condition, Cursor, Provenance};

use crate::world::NOW;

/// One thing that happens to the screen.
#[derive(Debug, Clone)]
pub(crate) enum Step {
    Send(Box<Message>),
    /// An answer to what was asked last.
    Answer(Box<Result<Reply, String>>),
    /// The terminal is drawn at this size from now on.
    Size(u16, u16),
}

pub(crate) fn step() -> impl Strategy<Value = Step> {
    let send = |message| Step::Send(Box::new(message));
    prop_oneof![
        8 => key().prop_map(move |event| send(Message::Key(event))),
        3 => snapshot().prop_map(move |all| send(Message::Snapshot(Arc::new(all)))),
        3 => reply().prop_map(|result| Step::Answer(Box::new(result))),
        2 => (1_u16..=250, 1_u16..=80).prop_map(|(width, height)| Step::Size(width, height)),
        2 => (0_u16..=250, 0_u16..=80).prop_map(move |(w, h)| send(Message::Resize(w, h))),
        2 => pointed().prop_map(move |pointed| send(Message::Mouse(pointed))),
        1 => time().prop_map(move |now| send(Message::Tick(now))),
        1 => text().prop_map(move |text| send(Message::Paste(text))),
        1 => text().prop_map(move |text| send(Message::Done(text))),
        1 => text().prop_map(move |text| send(Message::Trouble(text))),
        1 => (0_u64..20).prop_map(move |n| send(Message::Timer(Timer::Toast(n)))),
        1 => (0_u64..20).prop_map(move |n| send(Message::Timer(Timer::Flash(n)))),
        1 => (0_u64..20).prop_map(move |n| send(Message::Answer(Ticket(n), Err("late".into())))),
        1 => Just(send(Message::EngineGone)),
    ]
}

fn pointed() -> impl Strategy<Value = Pointed> {
    let gesture = select(vec![Gesture::Click, Gesture::ScrollUp, Gesture::ScrollDown]);
    (gesture, 0_u16..=250, 0_u16..=80).prop_map(|(gesture, column, row)| Pointed {
        gesture,
        column,
        row,
    })
}

fn key() -> impl Strategy<Value = KeyEvent> {
    let named = select(vec![
        KeyCode::Enter,
        KeyCode::Esc,
        KeyCode::Tab,
        KeyCode::BackTab,
        KeyCode::Backspace,
        KeyCode::Delete,
        KeyCode::Up,
        KeyCode::Down,
        KeyCode::Left,
        KeyCode::Right,
        KeyCode::PageUp,
        KeyCode::PageDown,
        KeyCode::Home,
        KeyCode::End,
    ]);
    let bound = ACTIONS
        .iter()
        .flat_map(|info| info.keys)
        .flat_map(|keys| keys.split(' '))
        .map(|key| Key::parse(key).unwrap().event());
    let plain = prop_oneof![
        4 => named,
        1 => select("019".chars().collect::<Vec<_>>()).prop_map(KeyCode::Char),
        1 => any::<char>().prop_map(KeyCode::Char),
    ];
    let modifiers = prop_oneof![
        8 => Just(KeyModifiers::NONE),
        1 => Just(KeyModifiers::CONTROL),
        1 => Just(KeyModifiers::ALT),
    ];
    prop_oneof![
        select(bound.collect::<Vec<_>>()),
        (plain, modifiers).prop_map(|(code, modifiers)| KeyEvent::new(code, modifiers)),
    ]
}

fn text() -> impl Strategy<Value = String> {
    let evil = select(vec![
        "\u{1b}[2J",
        "\n\r\t",
        "\u{202e}\u{200b}",
        "日本語👩\u{200d}👩",
        "e\u{301}\u{301}\u{301}\u{301}\u{301}\u{301}",
        "\u{301}",
        "ｶﾞﾊﾟ",
        "❤\u{fe0f}",
        "",
    ]);
    prop_oneof![
        3 => "[a-z:]{0,60}",
        2 => vec(any::<char>(), 0..80).prop_map(String::from_iter),
        2 => vec(evil, 0..12).prop_map(|parts| parts.concat()),
    ]
}

/// Few keys, so that parents, watches and events meet sessions that exist; one is a circle waiting to happen.
fn name() -> impl Strategy<Value = String> {
    prop_oneof![
        8 => (0_u8..8).prop_map(|n| format!("agent:main:s{n}")),
        1 => Just("agent:operator:main".to_owned()),
        1 => Just("agent:main:claude:7f3a1c2e-5b0d-4e1f-9a77-0c2d4e6f8a10".to_owned()),
        1 => text(),
    ]
}

fn time() -> impl Strategy<Value = i64> {
    prop_oneof![
        6 => (-100_000_000_000_i64..100_000_000_000).prop_map(|off| NOW + off),
        1 => any::<i64>(),
    ]
}

fn number() -> impl Strategy<Value = Sequence> {
    prop_oneof![6 => 0_i64..3000, 1 => any::<i64>()].prop_map(Sequence)
}

fn event() -> impl Strategy<Value = Event> {
    let kind = prop_oneof![
        8 => select(EventKind::KNOWN.to_vec()),
        1 => text().prop_map(EventKind::Other),
    ];
    let actor = prop_oneof![
        4 => select(vec![ActorType::Human, ActorType::Agent, ActorType::System]),
        1 => text().prop_map(ActorType::Other),
    ];
    let payload = text().prop_map(|text| json!({"a": [text, null, 1], "b": {}}));
    (
        (number(), name(), kind, actor),
        (text(), proptest::option::of(text()), time(), proptest::option::of(payload)),
    )
        .prop_map(
            |((sequence, session, kind, actor_type), (summary, actor, occurred_at, payload))| {
                Event {
                    sequence,
                    session: session.as_str().into(),
                    session_id: actor.clone(),
                    agent: AgentId::main(),
                    kind,
                    actor_type,
                    run: actor.clone(),
                    actor,
                    occurred_at,
                    summary,
                    payload,
                }
            },
        )
}

fn link() -> impl Strategy<Value = LinkRow> {
    let outcome = prop_oneof![
        select(vec!["quiet", "activity", "missing", "blocked", "unknown"]).prop_map(str::to_owned),
        text(),
    ];
    (outcome, text(), any::<u8>(), any::<Option<u64>>(), time()).prop_map(
        |(outcome, detail, missing_streak, offset, at)| LinkRow {
            catalog: detail.clone(),
            host: String::new(),
            thread: String::new(),
            kind: String::new(),
            path: None,
            offset,
            outcome,
            detail: Some(detail),
            outcome_at: Some(at),
            missing_streak,
            scanned_at: None,
            created_at: at,
        },
    )
}

fn session() -> impl Strategy<Value = SessionRow> {
    (
        (name(), proptest::option::of(name()), proptest::option::of(text())),
        (proptest::option::of(number()), proptest::option::of(event()), any::<[u16; 12]>()),
        (0_usize..5, any::<usize>(), any::<bool>()),
        (proptest::option::of(time()), proptest::option::of(link()), select(vec!["main", "ops"])),
    )
        .prop_map(|(who, what, counts, more)| SessionRow {
            key: who.0.as_str().into(),
            agent: AgentId::verbatim(more.2),
            parent: who.1.map(|key| key.as_str().into()),
            harness: who.2.clone(),
            title: who.2,
            version: what.0,
            pruned: what.0.unwrap_or_default(),
            last_event: what.1,
            activity: what.2,
            watchers: counts.0,
            watching: counts.0,
            pending_notices: counts.1,
            messages: counts.0,
            has_goal: counts.2,
            last_turn_at: more.0,
            ended_at: more.0.filter(|_| counts.2),
            upstream: more.1,
        })
}

fn watch() -> impl Strategy<Value = WatchRow> {
    let wake = prop_oneof![
        Just(WakeState::NotDue),
        Just(WakeState::Never),
        time().prop_map(WakeState::Coalescing),
        time().prop_map(WakeState::Fired),
        (time(), text()).prop_map(|(at, why)| WakeState::Skipped(at, why)),
        Just(WakeState::Unknown),
    ];
    (
        (name(), name(), any::<bool>()),
        (number(), number(), number(), number()),
        (select(Condition::ALL.to_vec()), text(), proptest::option::of(time()), wake, time()),
    )
        .prop_map(
            |((watcher, target, is_ambient), marks, (condition, because, since, wake, at))| {
                let cursor = Cursor {
                    watcher: watcher.as_str().into(),
                    target: target.as_str().into(),
                    seen: marks.0,
                    notified: marks.1,
                    material: marks.2,
                    provenance: if is_ambient {
                        Provenance::AmbientGroup
                    } else {
                        Provenance::Explicit
                    },
                    updated_at: at,
                };
                WatchRow {
                    state: cursor.state(),
                    cursor,
                    head: marks.3,
                    condition,
                    reason: Reason::Told(because.into()),
                    pending_since: since,
                    wake,
                    expires_at: at,
                }
            },
        )
}

fn snapshot() -> impl Strategy<Value = Snapshot> {
    let events = vec((event(), any::<[u16; 3]>()), 0..12).prop_map(|rows| {
        rows.into_iter()
            .map(|(event, [notified, coalesced, suppressed])| EventRow {
                event,
                notified: notified.into(),
                coalesced: coalesced.into(),
                suppressed: suppressed.into(),
            })
            .collect::<Vec<_>>()
    });
    // A notice may name a watch that is not there.
    let notices = vec((0_usize..14, any::<Option<bool>>()), 0..8).prop_map(|rows| {
        rows.into_iter().map(|(watch, queued)| NoticeRow { watch, queued }).collect::<Vec<_>>()
    });
    let role = select(vec![
        Role::Visitor,
        Role::Owner,
        Role::Viewer { owner: None },
        Role::Viewer { owner: Some(u32::MAX) },
    ]);
    let source = prop_oneof![
        4 => Just(Source::Own),
        1 => text().prop_map(|path| Source::Attached { path: path.into() }),
    ];
    let language = select(vec![Language::English, Language::Russian]);
    let queue = (name(), any::<usize>(), 0_usize..30, any::<u64>()).prop_map(
        |(session, notices, others, evicted)| QueueRow {
            session: session.as_str().into(),
            notices,
            others,
            evicted,
        },
    );
    let pulse = (proptest::option::of(time()), proptest::option::of(time()), any::<bool>())
        .prop_map(|(last_tick_at, next_tick_at, overdue)| Pulse {
            last_tick_at,
            took: None,
            next_tick_at,
            links: 3,
            overdue,
            overdue_from: None,
        });
    let problems = vec((time(), text()), 0..3).prop_map(|rows| {
        rows.into_iter().map(|(at, message)| Problem { at, message }).collect::<Vec<_>>()
    });
    let journal = (any::<u64>(), proptest::option::of(number()), 0_u64..3).prop_map(
        |(rows, max, append_failures)| JournalRow { rows, min: max, max, append_failures },
    );
    (
        (
            any::<u64>(),
            time(),
            role,
            (source, any::<bool>(), any::<bool>(), language),
            journal,
            pulse,
            problems,
        ),
        (vec(session(), 0..10), vec(watch(), 0..12), notices, events, vec(queue, 0..4)),
    )
        .prop_map(|((revision, at, role, whose, journal, pulse, problems), rows)| Snapshot {
            revision,
            at,
            role,
            source: whose.0,
            language: whose.3,
            is_owned: whose.1,
            is_past: whose.2,
            journal,
            sessions: Arc::new(rows.0),
            watches: Arc::new(rows.1),
            notices: rows.2,
            events: rows.3,
            queues: rows.4,
            pulse,
            problems,
            holds_until: None,
        })
}

fn listing() -> impl Strategy<Value = Listing> {
    let entry =
        (text(), text(), time(), any::<u64>()).prop_map(|(thread, title, modified_at, size)| {
            CatalogEntry {
                catalog: "claude".into(),
                path: thread.clone().into(),
                thread,
                project: Some(title.clone()),
                title: Some(title),
                version: None,
                entry_point: None,
                modified_at,
                size,
            }
        });
    let skipped = vec((text(), text()), 0..5).prop_map(|rows| {
        rows.into_iter().map(|(path, why)| (path.into(), why)).collect::<Vec<_>>()
    });
    (vec(entry, 0..10), skipped).prop_map(|(entries, skipped)| Listing { entries, skipped })
}

fn wake() -> impl Strategy<Value = WakeRow> {
    let word = || proptest::option::of(text());
    (name(), text(), proptest::option::of(time()), proptest::option::of(time()), word(), word())
        .prop_map(|(watcher, reason, due_at, ended_at, outcome, outcome_reason)| WakeRow {
            watcher: watcher.as_str().into(),
            reason,
            due_at,
            ended_at,
            outcome,
            outcome_reason,
        })
}

fn storage() -> impl Strategy<Value = Storage> {
    let times = (proptest::option::of(time()), proptest::option::of(time()), any::<i64>());
    (text(), any::<[u64; 10]>(), times, any::<[Option<u64>; 2]>(), any::<Option<i64>>()).prop_map(
        |(path, n, (oldest_at, last_prune_at, kept_for), [file, log], lock_wait)| Storage {
            path: path.into(),
            counts: Counts {
                oldest_at,
                heads: n[0],
                heads_without_rows: n[1],
                cursors: n[2],
                ledger: n[3],
                messages: n[4],
                used: n[5],
                free: n[6],
            },
            rows: n[7],
            max_rows: n[8],
            kept_for,
            last_prune_at,
            append_failures: n[9],
            lock_wait,
            file,
            log,
        },
    )
}

fn explanation() -> impl Strategy<Value = Explanation> {
    let what = select(vec!["registered", "queued", "coalesced", "wake-fired", "a new word"]);
    let marks = proptest::option::of([number(), number(), number()]);
    let words = (proptest::option::of(text()), proptest::option::of(text()));
    let moment = (time(), what, proptest::option::of(number()), marks, words).prop_map(
        |(at, what, sequence, marks, (kind, note))| Moment {
            at,
            what,
            sequence,
            kind,
            marks,
            note,
        },
    );
    let verdict = select(Verdict::ALL.to_vec());
    (name(), name(), verdict, (text(), text()), vec(moment, 0..12)).prop_map(
        |(watcher, target, verdict, (because, evidence), timeline)| Explanation {
            question: Question {
                watcher: watcher.as_str().into(),
                target: target.as_str().into(),
                event: None,
            },
            event: None,
            verdict,
            because,
            evidence: std::iter::once((evidence.clone(), json!([evidence]))).collect(),
            timeline,
        },
    )
}

/// A picture of the past, which may not go with the present one at all.
fn past() -> impl Strategy<Value = Past> {
    (number(), snapshot(), vec((name(), name()), 0..4)).prop_map(|(sequence, snapshot, pairs)| {
        let not_kept = pairs
            .into_iter()
            .map(|(watcher, target)| (watcher.as_str().into(), target.as_str().into()))
            .collect();
        Past { sequence, snapshot, not_kept }
    })
}

fn reply() -> impl Strategy<Value = Result<Reply, String>> {
    let changes = (vec(event(), 0..20), any::<bool>(), any::<bool>(), number(), number()).prop_map(
        |(events, truncated, history_gap, earliest, version)| Changes {
            events,
            truncated,
            earliest,
            history_gap,
            version,
        },
    );
    prop_oneof![
        3 => changes.prop_map(|changes| Ok(Reply::Changes(changes))),
        2 => listing().prop_map(|listing| Ok(Reply::Catalog(listing))),
        1 => name().prop_map(|key| Ok(Reply::Adopted(key.as_str().into()))),
        1 => vec((name(), any::<u64>()), 0..6).prop_map(|rows| {
            let size = |(key, size): (String, u64)| (key.as_str().into(), AgentId::main(), size);
            Ok(Reply::Sizes(rows.into_iter().map(size).collect()))
        }),
        1 => vec(wake(), 0..8).prop_map(|wakes| Ok(Reply::Wakes(wakes))),
        1 => storage().prop_map(|storage| Ok(Reply::Storage(Box::new(storage)))),
        1 => explanation().prop_map(|answer| Ok(Reply::Explained(Box::new(answer)))),
        1 => proptest::option::of(past()).prop_map(|past| Ok(Reply::Past(past.map(Arc::new)))),
        1 => text().prop_map(|text| Ok(Reply::Done(text))),
        1 => text().prop_map(Err),
    ]
}
