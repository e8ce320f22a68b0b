//! Each rule finds what it is for, and nothing in a state that is well.

use serde_json::json;
use tidings::clock::{DAY, MINUTE};
use tidings::engine::findings::{Finding, Rule, findings};
use tidings::engine::snapshot::{Role, Snapshot};
use tidings::event::{EventKind, Sequence};
use tidings::session_key::AgentId;
use tidings::upstream_link::NewLink;

use crate::common::{NW, START, T, W, World, address, event, human_turn, key};
use crate::foreign::Foreign;

pub(crate) fn picture(world: &mut World) -> Snapshot {
    world.engine().snapshot(1, Role::Visitor, false, &[]).unwrap()
}

fn found(snapshot: &Snapshot, rule: Rule) -> Finding {
    findings(snapshot).into_iter().find(|finding| finding.rule == rule).unwrap()
}

/// What a rule finds where it can judge everything.
fn subjects(snapshot: &Snapshot, rule: Rule) -> Vec<String> {
    let finding = found(snapshot, rule);
    assert_eq!(finding.not_judged, None, "{rule:?}");
    finding.subjects
}

/// Asserts that a rule finds nothing because it can't judge, and that it says so.
fn not_judged(snapshot: &Snapshot, rule: Rule, why: &str) {
    let finding = found(snapshot, rule);
    assert_eq!(finding.matches(), None, "{rule:?}");
    let said = finding.not_judged.unwrap();
    assert!(said.contains(why), "{rule:?}: {said:?} does not say {why:?}");
}

fn pair(watcher: &str, target: &str) -> String {
    format!("{watcher} → {target}")
}

/// Links a session to a source, as adopting does.
pub(crate) fn link(world: &mut World, session: &str, agent: &str) {
    let now = world.engine().now();
    let link = NewLink {
        session: key(session),
        agent: AgentId::verbatim(agent),
        catalog: "claude".into(),
        host: "local".into(),
        thread: "t".into(),
        kind: "claude-cli".into(),
        reference: Some(json!({ "filePath": "/x/t.jsonl" })),
        marker: Some(json!({ "offset": 0 })),
    };
    world.engine().journal_mut().put_link(&link, now).unwrap();
}

#[test]
fn a_state_that_is_well_has_no_findings() {
    let mut world = World::in_step();
    world.watch(W, T);
    world.record(&human_turn(W));
    world.record(&human_turn(T));
    for finding in findings(&picture(&mut world)) {
        assert_eq!(finding.matches(), Some(0), "{finding:?}");
        assert!(!finding.rule.sentence().is_empty());
    }
    assert_eq!(findings(&picture(&mut world)).len(), Rule::ALL.len());
}

#[test]
fn stalled_and_stopped_watchers() {
    let mut world = World::in_step();
    world.watch(W, T);
    world.watch("agent:ops:main", T);
    world.record(&human_turn(T));
    for _ in 0..3 {
        world.record(&human_turn(W));
    }
    world.clock.advance(30 * MINUTE);
    world.record(&human_turn(W));
    let snapshot = picture(&mut world);
    assert_eq!(subjects(&snapshot, Rule::Stalled), [pair(W, T)]);
    assert_eq!(subjects(&snapshot, Rule::Stopped), [pair("agent:ops:main", T)]);
}

#[test]
fn a_gap_a_head_without_rows_and_a_watch_that_expires() {
    let mut world = World::in_step();
    world.watch(W, T);
    world.record(&human_turn(T));
    world.clock.advance(26 * DAY);
    world.watch(NW, W);
    world.clock.advance(4 * DAY + 1);
    world.watch("agent:ops:main", T);
    // Another turn keeps the watch of W; the first event goes.
    world.record(&human_turn(T));
    world.engine().prune().unwrap();
    let snapshot = picture(&mut world);
    assert_eq!(subjects(&snapshot, Rule::Gap), [pair(W, T)]);
    world.clock.advance(26 * DAY);
    let snapshot = picture(&mut world);
    assert!(subjects(&snapshot, Rule::Expiring).contains(&pair(NW, W)));
    world.clock.advance(5 * DAY);
    world.engine().prune().unwrap();
    assert_eq!(subjects(&picture(&mut world), Rule::HeadsWithoutRows), [T]);
}

#[test]
fn a_cursor_that_was_put_back_is_rewound() {
    let mut world = World::in_step();
    world.watch(W, T);
    world.record(&human_turn(T));
    world.engine().turn(&address(W)).unwrap();
    // The fault: somebody restores an older cursor.
    world.sql().execute_batch("UPDATE session_watch_cursors SET last_seen_sequence = 0").unwrap();
    assert_eq!(subjects(&picture(&mut world), Rule::Rewound), [pair(W, T)]);
}

#[test]
fn keys_that_differ_in_case_and_watches_that_announce_nothing() {
    let mut world = World::in_step();
    let capital = "agent:main:subagent:Child";
    world.watch(W, T);
    world.record(&human_turn(capital));
    link(&mut world, T, "main");
    link(&mut world, T, "ops");
    let snapshot = picture(&mut world);
    assert_eq!(subjects(&snapshot, Rule::CaseTwins), [format!("{capital} / {T}")]);
    assert_eq!(subjects(&snapshot, Rule::Unnotifiable), [pair(W, T)]);
}

#[test]
fn bare_watchers_and_a_full_queue_of_another_system() {
    let foreign = Foreign::newest();
    foreign.change(
        "INSERT INTO session_watch_cursors (watcher_session_key, target_session_key, updated_at) VALUES ('global', 'agent:main:x', 0);
         WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 16)
         INSERT INTO session_watch_cursors (watcher_session_key, target_session_key, notified_sequence, material_sequence, updated_at)
           SELECT 'agent:busy:main', 'agent:main:subagent:' || i, 8, 8, 1784160068000 FROM n;",
    );
    let mut attached = foreign.attach();
    let first = attached.snapshot(1, &[]).unwrap();
    assert_eq!(subjects(&first, Rule::BareWatchers), [pair("global", "agent:main:x")]);
    let queues = found(&first, Rule::QueueNearCap);
    assert_eq!(queues.subjects, ["agent:busy:main"]);
    assert!(queues.not_judged.unwrap().contains("imply"), "other lines may wait, too");
    not_judged(&first, Rule::Blocked, "its monitor");
    not_judged(&first, Rule::TickOverdue, "its monitor");
    not_judged(&first, Rule::Rewound, "two readings");
    let second = attached.snapshot(2, &[]).unwrap();
    assert_eq!(subjects(&second, Rule::Rewound), Vec::<String>::new());
}

#[test]
fn our_own_queue_near_its_cap() {
    let mut world = World::in_step();
    world.watch(W, T);
    for n in 0..16 {
        world.record(&event(T, EventKind::HumanDirectMessage));
        world.engine().enqueue_other(&key(W), &format!("line {n}"), None).unwrap();
    }
    assert_eq!(subjects(&picture(&mut world), Rule::QueueNearCap), [W]);
    for n in 0..5 {
        world.engine().enqueue_other(&key(W), &format!("more {n}"), None).unwrap();
    }
    assert_eq!(world.count("SELECT count(*) FROM tidings_ledger WHERE step = 'evicted'"), 1);
}

#[test]
fn a_source_that_is_blocked_and_a_tick_that_is_overdue() {
    let mut world = World::in_step();
    world.watch(W, T);
    link(&mut world, T, "main");
    let fresh = picture(&mut world);
    not_judged(&fresh, Rule::Blocked, "looked at 1 source yet");
    not_judged(&fresh, Rule::TickOverdue, "has not ticked yet");
    world.engine().tick(&[], None).unwrap();
    let ticked = picture(&mut world);
    assert_eq!(subjects(&ticked, Rule::Blocked), [T], "no provider can read it");
    assert_eq!(subjects(&ticked, Rule::TickOverdue), Vec::<String>::new());
    world.clock.set(START + 2 * MINUTE);
    let later = picture(&mut world);
    assert_eq!(subjects(&later, Rule::TickOverdue).len(), 1);
    let blocked = found(&later, Rule::Blocked);
    assert_eq!(blocked.subjects, [T]);
    assert!(blocked.not_judged.unwrap().contains("overdue"));
}

#[test]
fn what_is_unknown_of_a_pair_is_no_clean_zero() {
    let mut world = World::in_step();
    world.watch(W, T);
    link(&mut world, T, "main");
    world.clock.set(START + 2 * MINUTE);
    let unwatched = picture(&mut world);
    for rule in Rule::ALL.into_iter().filter(|rule| rule.condition().is_some()) {
        not_judged(&unwatched, rule, "1 watch can't be judged: the monitor never ticked");
    }
    not_judged(&unwatched, Rule::Blocked, "overdue");
    assert_eq!(found(&unwatched, Rule::TickOverdue).matches(), Some(1));
    assert_eq!(subjects(&unwatched, Rule::BareWatchers), Vec::<String>::new());
}

#[test]
fn whether_a_watcher_stalls_takes_a_turn_on_record() {
    let mut world = World::in_step();
    world.watch(W, T);
    world.record(&human_turn(T));
    not_judged(&picture(&mut world), Rule::Stalled, "of 1 watcher with an open notice");
    assert_eq!(subjects(&picture(&mut world), Rule::Stopped), Vec::<String>::new());
    world.record(&human_turn(W));
    assert_eq!(subjects(&picture(&mut world), Rule::Stalled), Vec::<String>::new());
}

#[test]
fn another_process_that_owns_the_queues_and_a_past_that_kept_none() {
    let mut world = World::in_step();
    world.record(&human_turn(T));
    world.record(&human_turn(T));
    let mut as_if = |role: Role, owned: bool| world.engine().snapshot(1, role, owned, &[]).unwrap();
    let viewer = as_if(Role::Viewer { owner: Some(7) }, true);
    not_judged(&viewer, Rule::QueueNearCap, "only the owner's process");
    not_judged(&as_if(Role::Visitor, true), Rule::QueueNearCap, "only the owner's process");
    for all_known in [as_if(Role::Owner, true), as_if(Role::Visitor, false)] {
        assert_eq!(subjects(&all_known, Rule::QueueNearCap), Vec::<String>::new());
    }
    let past = world.engine().past(Sequence(2), -1).unwrap().unwrap().snapshot;
    for rule in [Rule::Blocked, Rule::TickOverdue, Rule::QueueNearCap] {
        not_judged(&past, rule, "nobody keeps");
    }
}
