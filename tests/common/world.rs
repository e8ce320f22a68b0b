//! A builder of snapshots for the tests of the screen. All times are fixed.

use std::collections::BTreeSet;
use std::sync::Arc;

use serde_json::json;
use tidings::clock::{DAY, HOUR, MINUTE, Millis, SECOND};
use tidings::engine::explain::{Explanation, Moment, Question, Verdict};
use tidings::engine::live::{Reply, Request};
use tidings::engine::past::Past;
use tidings::engine::reason::Reason;
use tidings::engine::snapshot::{
    EventRow, JournalRow, LinkRow, NoticeRow, Problem, Pulse, QueueRow, Role, SessionRow, Snapshot,
    WakeRow, WakeState, WatchRow,
};
use tidings::engine::storage::Storage;
use tidings::event::{ActorType, Changes, Event, EventKind, Sequence};
use tidings::journal::storage::Counts;
use tidings::session_key::{AgentId, SessionKey};
use tidings::upstream::{CatalogEntry, Listing};
use tidings::watch::{Condition, Cursor, PairState, Provenance};

/// 2026-07-16 12:03:44 UTC.
pub(crate) const NOW: Millis = 1_784_203_424_000;

/// A snapshot under construction.
#[derive(Debug, Clone)]
pub(crate) struct World {
    pub(crate) snapshot: Snapshot,
}

impl World {
    pub(crate) fn empty() -> Self {
        let snapshot = Snapshot {
            revision: 1,
            at: NOW,
            role: Role::Owner,
            pulse: Pulse {
                last_tick_at: Some(NOW - 23 * SECOND),
                took: Some(12),
                next_tick_at: Some(NOW + 37 * SECOND),
                links: 0,
                overdue: false,
                overdue_from: None,
            },
            ..Snapshot::default()
        };
        Self { snapshot }.session("agent:operator:main", |_| {})
    }

    pub(crate) fn session(mut self, key: &str, adjust: impl FnOnce(&mut SessionRow)) -> Self {
        let key = SessionKey::from(key);
        let mut row = SessionRow {
            agent: key.agent().unwrap_or_else(AgentId::main),
            key,
            parent: None,
            title: None,
            harness: None,
            version: None,
            pruned: Sequence(0),
            last_event: None,
            activity: [0; 12],
            watchers: 0,
            watching: 0,
            pending_notices: 0,
            messages: 0,
            has_goal: false,
            last_turn_at: None,
            ended_at: None,
            upstream: None,
        };
        adjust(&mut row);
        Arc::make_mut(&mut self.snapshot.sessions).push(row);
        self
    }

    pub(crate) fn watch(
        mut self,
        watcher: &str,
        target: &str,
        marks: [i64; 4],
        condition: Condition,
        adjust: impl FnOnce(&mut WatchRow),
    ) -> Self {
        let [seen, notified, material, head] = marks.map(Sequence);
        let cursor = Cursor {
            watcher: watcher.into(),
            target: target.into(),
            seen,
            notified,
            material,
            provenance: Provenance::Explicit,
            updated_at: NOW - 41 * SECOND,
        };
        let state = cursor.state();
        let mut row = WatchRow {
            cursor,
            head,
            state,
            condition,
            reason: Reason::Told(
                format!("the reason for {condition} stands here in one sentence").into(),
            ),
            pending_since: (state != PairState::Synced).then_some(NOW - 41 * SECOND),
            wake: WakeState::NotDue,
            expires_at: NOW + 29 * DAY,
        };
        adjust(&mut row);
        Arc::make_mut(&mut self.snapshot.watches).push(row);
        self
    }

    pub(crate) fn event(mut self, event: Event, outcome: [u32; 3]) -> Self {
        let [notified, coalesced, suppressed] = outcome;
        let last = event.clone();
        if let Some(session) = Arc::make_mut(&mut self.snapshot.sessions)
            .iter_mut()
            .find(|row| row.key == last.session)
        {
            session.version = Some(last.sequence);
            session.last_event = Some(last);
        }
        self.snapshot.events.push(EventRow { event, notified, coalesced, suppressed });
        self
    }

    /// Sorts, counts and derives what follows from the rest.
    pub(crate) fn build(mut self) -> Arc<Snapshot> {
        let all = &mut self.snapshot;
        Arc::make_mut(&mut all.sessions).sort_by(|a, b| a.key.cmp(&b.key));
        Arc::make_mut(&mut all.watches).sort_by(|a, b| {
            (&a.cursor.watcher, &a.cursor.target).cmp(&(&b.cursor.watcher, &b.cursor.target))
        });
        all.notices = (0..all.watches.len())
            .filter(|at| all.watches[*at].cursor.is_pending())
            .map(|watch| NoticeRow { watch, queued: Some(true) })
            .collect();
        all.queues = all
            .watches
            .iter()
            .filter(|row| row.cursor.is_pending())
            .map(|row| row.cursor.watcher.clone())
            .collect::<BTreeSet<_>>()
            .into_iter()
            .map(|session| {
                let notices =
                    all.watches.iter().filter(|row| row.cursor.watcher == session).count();
                QueueRow { others: (notices * 7).min(20), evicted: 0, session, notices }
            })
            .collect();
        for session in Arc::make_mut(&mut all.sessions) {
            let holds = |row: &&WatchRow| row.cursor.watcher == session.key;
            session.watching = all.watches.iter().filter(holds).count();
            session.watchers =
                all.watches.iter().filter(|row| row.cursor.target == session.key).count();
            session.pending_notices =
                all.watches.iter().filter(holds).filter(|row| row.cursor.is_pending()).count();
        }
        let numbers = all.events.iter().map(|row| row.event.sequence);
        all.journal = JournalRow {
            rows: all.events.len() as u64,
            min: numbers.clone().min(),
            max: numbers.max(),
            append_failures: 0,
        };
        all.pulse.links = all.sessions.iter().filter(|row| row.upstream.is_some()).count();
        Arc::new(self.snapshot)
    }

    /// A team at work: every condition, every way of delivery, every outcome of a link.
    pub(crate) fn team() -> Self {
        let main = "agent:main:main";
        let a = "agent:main:subagent:child-a";
        let b = "agent:main:subagent:child-b";
        let api = "agent:main:claude:7f3a1c2e-5b0d-4e1f-9a77-0c2d4e6f8a10";
        let docs = "agent:main:claude:0b9d8c7a-1111-4222-8333-444455556666";
        let migrations = "agent:main:codex:01j9zq4m-aaaa-4bbb-8ccc-dddd00001111";
        let review = "agent:ops:main";
        let quiet = WakeState::Never;
        Self::empty()
            .session(main, |row| {
                row.messages = 2;
                row.has_goal = true;
                row.last_turn_at = Some(NOW - 3 * MINUTE);
            })
            .session(a, |row| {
                row.parent = Some(main.into());
                row.activity = [0, 0, 1, 0, 2, 5, 1, 0, 0, 3, 1, 7];
            })
            .session("agent:main:subagent:child-a:subagent:probe", |row| {
                row.parent = Some(a.into());
                row.ended_at = Some(NOW - 9 * MINUTE);
            })
            .session(b, |row| {
                row.parent = Some(main.into());
                row.activity = [0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 2, 0];
            })
            .session(api, |row| {
                row.title = Some("api-refactor".into());
                row.harness = Some("claude".into());
                row.activity = [1, 1, 0, 2, 0, 0, 4, 1, 2, 0, 1, 6];
                row.last_turn_at = Some(NOW - 12 * SECOND);
                row.upstream = Some(link("claude", "activity", 0));
            })
            .session(docs, |row| {
                row.title = Some("docs".into());
                row.harness = Some("claude".into());
                row.upstream = Some(LinkRow {
                    detail: Some("row of 70,123,456 bytes at offset 812".into()),
                    ..link("claude", "blocked", 0)
                });
            })
            .session(migrations, |row| {
                row.title = Some("migrations".into());
                row.harness = Some("codex".into());
                row.pruned = Sequence(5);
                row.upstream = Some(link("codex", "missing", 2));
            })
            .session(review, |row| {
                row.title = Some("on-call review".into());
                row.last_turn_at = Some(NOW - 2 * HOUR);
                row.upstream = Some(link("claude", "quiet", 0));
            })
            .session("global", |row| row.agent = AgentId::from_name("ops"))
            .event(event(1911, main, EventKind::GoalChanged, 9 * MINUTE), [0, 0, 1])
            .event(event(1917, b, EventKind::RunCompleted, 3 * MINUTE), [0, 0, 0])
            .event(event(1921, migrations, EventKind::UpstreamMissing, 2 * MINUTE), [1, 0, 0])
            .event(event(1926, docs, EventKind::Compacted, 100 * SECOND), [0, 0, 0])
            .event(event(1930, a, EventKind::RunFailed, 80 * SECOND), [0, 0, 0])
            .event(event(1941, a, EventKind::GoalChanged, 41 * SECOND), [0, 1, 0])
            .event(event(1942, api, EventKind::HumanDirectMessage, 12 * SECOND), [2, 1, 1])
            .watch(main, a, [1912, 1914, 1941, 1941], Condition::Interleaved, |row| {
                row.wake = WakeState::Fired(NOW - 39 * SECOND);
            })
            .watch(main, b, [1917, 1917, 1917, 1917], Condition::InStep, |_| {})
            .watch(main, api, [1918, 1942, 1942, 1942], Condition::Pending, |row| {
                row.wake = WakeState::Coalescing(NOW + 8 * SECOND);
                row.pending_since = Some(NOW - 12 * SECOND);
            })
            .watch(main, docs, [1800, 1800, 1800, 1926], Condition::Expiring, |row| {
                row.expires_at = NOW + 4 * DAY;
            })
            .watch(a, b, [1900, 1917, 1917, 1917], Condition::PendingQuiet, |row| {
                row.wake = quiet;
            })
            .watch(review, main, [1890, 1911, 1911, 1911], Condition::Stalled, |row| {
                row.wake = WakeState::Skipped(NOW - MINUTE, "no-handler".into());
                row.pending_since = Some(NOW - 9 * MINUTE);
            })
            .watch(review, api, [1700, 1942, 1942, 1942], Condition::Stopped, |row| {
                row.wake = WakeState::Fired(NOW - 2 * HOUR);
                row.pending_since = Some(NOW - 2 * HOUR);
            })
            .watch(review, migrations, [3, 1921, 1921, 1921], Condition::Gap, |_| {})
            .watch(review, a, [1900, 1900, 1900, 1941], Condition::Rewound, |_| {})
            .watch("global", main, [0, 0, 0, 1911], Condition::Unnotifiable, |row| {
                row.cursor.provenance = Provenance::AmbientGroup;
            })
            .watch(review, docs, [1926, 1926, 1926, 1926], Condition::Unknown, |_| {})
            .watch("agent:operator:main", main, [1911, 1911, 1911, 1911], Condition::InStep, |_| {})
    }

    /// The team, and a notice for the operator.
    pub(crate) fn team_with_a_notice_for_the_operator() -> Self {
        let api = "agent:main:claude:7f3a1c2e-5b0d-4e1f-9a77-0c2d4e6f8a10";
        Self::team().watch(
            "agent:operator:main",
            api,
            [1918, 1942, 1942, 1942],
            Condition::Pending,
            |_| {},
        )
    }

    /// Text that tries everything.
    pub(crate) fn hostile() -> Self {
        let evil = "agent:main:x\u{1b}]52;c;AAAA\u{7}\n\u{202e}live\u{200b}";
        Self::empty()
            .session(evil, |row| {
                row.title =
                    Some("\u{1b}[2J\u{9b}31m日本語\u{301}👩\u{200d}👩 \u{2066}title\t".into());
                row.upstream = Some(LinkRow {
                    outcome: "blo\ncked".into(),
                    detail: Some("a\u{1b}[1mdetail\r".into()),
                    ..link("cla\u{7f}ude", "", 0)
                });
            })
            .event(
                Event {
                    kind: EventKind::Other("kind\u{1b}c".into()),
                    actor_type: ActorType::Other("act\u{85}or".into()),
                    summary: "sum\u{1b}[31mmary\nforged line".into(),
                    ..event(7, evil, EventKind::Created, SECOND)
                },
                [0, 0, 0],
            )
            .watch("agent:main:y\u{1b}[8m", evil, [0, 7, 7, 7], Condition::Pending, |row| {
                row.reason = Reason::Told("why\u{1b}[5m\nnot".into());
                row.wake = WakeState::Skipped(NOW, "no\u{1b}handler".into());
            })
    }

    pub(crate) fn with_problem(mut self) -> Self {
        self.snapshot.problems.push(Problem {
            at: NOW - 5 * SECOND,
            message: "appending to agent:main:main failed: the disk is full; free some space"
                .into(),
        });
        self
    }
}

/// An agent id by its name.
pub(crate) trait FromName {
    fn from_name(name: &str) -> Self;
}

impl FromName for AgentId {
    fn from_name(name: &str) -> Self {
        Self::verbatim(name)
    }
}

pub(crate) fn event(sequence: i64, session: &str, kind: EventKind, ago: Millis) -> Event {
    let key = SessionKey::from(session);
    Event {
        sequence: Sequence(sequence),
        agent: key.agent().unwrap_or_else(AgentId::main),
        session: key,
        session_id: None,
        actor_type: match kind {
            EventKind::HumanDirectMessage | EventKind::GoalChanged => ActorType::Human,
            _ => ActorType::System,
        },
        summary: kind.standard_summary(),
        payload: (kind == EventKind::GoalChanged)
            .then(|| json!({"status": "active", "turn": sequence, "previous": null})),
        kind,
        actor: None,
        run: None,
        occurred_at: NOW - ago,
    }
}

fn link(catalog: &str, outcome: &str, missing_streak: u8) -> LinkRow {
    LinkRow {
        catalog: catalog.into(),
        host: "gateway:local".into(),
        thread: "7f3a1c2e".into(),
        kind: "claude-cli".into(),
        path: Some("/home/someone/project/x.jsonl".into()),
        offset: Some(123_456),
        outcome: outcome.into(),
        detail: None,
        outcome_at: Some(NOW - 23 * SECOND),
        missing_streak,
        scanned_at: Some(NOW - MINUTE),
        created_at: NOW - 2 * DAY,
    }
}

/// A catalog with something to adopt and something passed over.
pub(crate) fn listing() -> Listing {
    let entry = |thread: &str, title: Option<&str>, project: &str, ago, size| CatalogEntry {
        catalog: "claude".into(),
        thread: thread.into(),
        path: format!("/home/someone/.claude/projects/{thread}.jsonl").into(),
        title: title.map(Into::into),
        project: Some(project.into()),
        version: Some("2.1.0".into()),
        entry_point: Some("cli".into()),
        modified_at: NOW - ago,
        size,
    };
    Listing {
        entries: vec![
            entry(
                "3d2c1b0a-0000-4000-8000-000000000001",
                Some("Fix the flaky login test"),
                "/home/someone/web",
                40 * SECOND,
                3_355_443,
            ),
            entry("3d2c1b0a-0000-4000-8000-000000000002", None, "/home/someone/api", 3 * HOUR, 812),
            entry(
                "3d2c1b0a-0000-4000-8000-000000000003",
                Some("日本語のタイトル"),
                "/home/someone/docs",
                4 * DAY,
                48_000,
            ),
        ],
        skipped: vec![
            ("/home/someone/.claude/projects/a/agent-1.jsonl".into(), "a sub-agent's file".into()),
            ("/home/someone/.claude/projects/b/broken.jsonl".into(), "no readable row".into()),
        ],
    }
}

/// What an engine over the team answers.
pub(crate) fn reply(request: &Request) -> Reply {
    let api = "agent:main:claude:7f3a1c2e-5b0d-4e1f-9a77-0c2d4e6f8a10";
    match request {
        Request::Catalog => Reply::Catalog(listing()),
        Request::Sizes => Reply::Sizes(vec![
            (api.into(), AgentId::main(), 130_001),
            (
                "agent:main:claude:0b9d8c7a-1111-4222-8333-444455556666".into(),
                AgentId::main(),
                123_456,
            ),
        ]),
        Request::Wakes => {
            let wake = |watcher: &str, reason: &str| WakeRow {
                watcher: watcher.into(),
                reason: format!("session-state:{reason}"),
                due_at: None,
                ended_at: None,
                outcome: None,
                outcome_reason: None,
            };
            Reply::Wakes(vec![
                WakeRow { due_at: Some(NOW + 8 * SECOND), ..wake("agent:main:main", api) },
                WakeRow {
                    ended_at: Some(NOW - MINUTE),
                    outcome: Some("skipped".into()),
                    outcome_reason: Some("no-handler".into()),
                    ..wake("agent:ops:main", "agent:main:main")
                },
            ])
        }
        Request::Storage => Reply::Storage(Box::new(Storage {
            path: "/home/someone/.local/state/tidings/state.sqlite".into(),
            counts: Counts {
                oldest_at: Some(NOW - 12 * DAY),
                heads: 9,
                heads_without_rows: 2,
                cursors: 12,
                ledger: 4_711,
                messages: 2,
                used: 9_000_000,
                free: 81_920,
            },
            rows: 41_200,
            max_rows: 50_000,
            kept_for: 30 * DAY,
            last_prune_at: Some(NOW - 20 * MINUTE),
            append_failures: 0,
            lock_wait: Some(1_230),
            file: Some(9_081_920),
            log: Some(4_152),
        })),
        Request::Explain(question) => Reply::Explained(Box::new(explanation(question))),
        Request::Past { .. } => Reply::Past(Some(Arc::new(past()))),
        Request::Changes { .. } => Reply::Changes(Changes {
            events: Vec::new(),
            truncated: false,
            earliest: Sequence(1),
            history_gap: false,
            version: Sequence(1_941),
        }),
        Request::Adopt { .. } | Request::AdoptOnly { .. } => Reply::Adopted(api.into()),
        _ => Reply::Done("done".into()),
    }
}

fn explanation(question: &Question) -> Explanation {
    let moment = |ago: Millis, what, sequence: i64, marks: [i64; 3]| Moment {
        at: NOW - ago,
        what,
        sequence: Some(Sequence(sequence)),
        kind: None,
        marks: Some(marks.map(Sequence)),
        note: None,
    };
    let evidence = json!({ "lastSeen": 1912, "notified": 1914, "material": 1941, "sent": false });
    Explanation {
        question: question.clone(),
        event: Some(Sequence(1941)),
        verdict: Verdict::Coalesced,
        because: "a notice was open already, from 1914 on, and covers it".into(),
        evidence: evidence.as_object().cloned().unwrap_or_default(),
        timeline: vec![
            moment(900 * SECOND, "registered", 1912, [1912, 1912, 1912]),
            moment(400 * SECOND, "queued", 1914, [1912, 1914, 1914]),
            Moment {
                note: Some("session-state".into()),
                ..moment(399 * SECOND, "wake-asked", 1914, [1912, 1914, 1914])
            },
            moment(379 * SECOND, "wake-fired", 1914, [1912, 1914, 1914]),
            Moment {
                kind: Some("goal_changed".into()),
                ..moment(41 * SECOND, "coalesced", 1941, [1912, 1914, 1941])
            },
        ],
    }
}

/// The team as it was five minutes ago.
fn past() -> Past {
    let team = World::team();
    let mut snapshot = Snapshot::clone(&team.build());
    snapshot.at = NOW - 5 * MINUTE;
    snapshot.revision = 0;
    snapshot.events.truncate(2);
    snapshot.journal.max = snapshot.events.last().map(|row| row.event.sequence);
    let sequence = snapshot.journal.max.unwrap_or_default();
    for session in Arc::make_mut(&mut snapshot.sessions) {
        let is_a = session.key.as_str() == "agent:main:subagent:child-a";
        session.version = match session.version {
            Some(_) if is_a => Some(Sequence(1_914)),
            version => version.filter(|version| version.0 <= 1_917),
        };
    }
    // The engine marks what it does not know.
    Arc::make_mut(&mut snapshot.watches)[0].condition = Condition::Unknown;
    let pair = &snapshot.watches[0].cursor;
    let not_kept = [(pair.watcher.clone(), pair.target.clone())].into();
    Past { sequence, snapshot, not_kept }
}
