//! Wakes: 20 s after the first request, and how they end (`engine.md` 4.4, `decisions.md` 10).

use std::fs;

use tidings::engine::feed::FeedItem;
use tidings::engine::live::Request;
use tidings::engine::snapshot::{NoticeRow, Snapshot, WakeState};
use tidings::journal::ledger::Step;
use tidings::session_key::SessionKey;

use crate::support::{NOW, Running, Stage, record};

fn watcher() -> SessionKey {
    SessionKey::new("agent:main:main")
}

fn target() -> SessionKey {
    SessionKey::new("agent:main:worker")
}

/// The wake of the watcher.
fn wake_in(snapshot: &Snapshot) -> Option<&WakeState> {
    snapshot.watches.iter().find(|row| row.cursor.watcher == watcher()).map(|row| &row.wake)
}

/// A running engine in which a notice for the watcher has just opened.
fn with_notice(stage: &Stage) -> Running {
    let running = stage.start();
    let mut other = stage.other();
    other.watch(&watcher(), &target(), None).unwrap();
    record(&mut other, &target());
    running.wait_for("a wake that waits", |snapshot| {
        snapshot.watches.iter().any(|row| row.wake == WakeState::Coalescing(NOW + 20_000))
    });
    running
}

#[test]
fn without_a_command_a_wake_is_skipped_20_seconds_after_its_first_request() {
    let stage = Stage::new();
    let mut running = with_notice(&stage);
    stage.at(10_000);
    record(&mut stage.other(), &target());
    stage.poke(&mut running);
    stage.at(19_999);
    stage.poke(&mut running);
    assert_eq!(running.wake(&watcher()), WakeState::Coalescing(NOW + 20_000));
    stage.at(20_000);
    assert_eq!(running.hear_step(Step::WakeSkipped, &watcher()), "no-handler");
    let skipped = WakeState::Skipped(NOW + 20_000, "no-handler".into());
    running.wait_for("the skipped wake", |snapshot| wake_in(snapshot) == Some(&skipped));
    let snapshot = running.snapshot();
    let watching = |row: &NoticeRow| snapshot.watches[row.watch].cursor.watcher == watcher();
    assert!(snapshot.notices.iter().any(watching), "the notice waits on");
}

#[test]
fn with_a_command_a_wake_fires_and_tells_whom_and_why() {
    let mut stage = Stage::new();
    let told = stage.folder.path().join("told");
    let script = format!(
        "printf '%s %s\\n' \"$TIDINGS_WATCHER\" \"$TIDINGS_REASON\" >> '{}'",
        told.display()
    );
    stage.wake_command = vec!["sh".into(), "-c".into(), script];
    let mut running = with_notice(&stage);
    stage.poke(&mut running);
    assert!(!told.exists(), "not before its time");
    stage.at(20_000);
    running.hear_step(Step::WakeFired, &watcher());
    let words = String::from_utf8(fs::read(&told).unwrap()).unwrap();
    let wanted = "agent:main:main session-state:agent:main:worker";
    assert_eq!(words.lines().filter(|line| *line == wanted).count(), 1, "{words}");
    running.wait_for("the fired wake", |snapshot| {
        wake_in(snapshot) == Some(&WakeState::Fired(NOW + 20_000))
    });
}

#[test]
fn a_busy_watcher_is_tried_again_after_a_second() {
    let mut stage = Stage::new();
    let tried = stage.folder.path().join("tried");
    let script = format!("test -e '{0}' && exit 0; touch '{0}'; exit 75", tried.display());
    stage.wake_command = vec!["sh".into(), "-c".into(), script];
    let mut running = with_notice(&stage);
    stage.at(20_000);
    assert!(running.hear_step(Step::WakeSkipped, &watcher()).starts_with("busy"));
    running.wait_for("the second try", |snapshot| {
        wake_in(snapshot) == Some(&WakeState::Coalescing(NOW + 21_000))
    });
    stage.at(20_999);
    stage.poke(&mut running);
    assert_eq!(running.wake(&watcher()), WakeState::Coalescing(NOW + 21_000));
    stage.at(21_000);
    running.hear_step(Step::WakeFired, &watcher());
}

#[test]
fn a_notice_that_was_taken_before_wakes_nobody() {
    let mut stage = Stage::new();
    let told = stage.folder.path().join("told");
    stage.wake_command = vec!["touch".into(), told.to_str().unwrap().into()];
    let mut running = with_notice(&stage);
    let mut other = stage.other();
    let address = other.address(watcher().as_str(), None).unwrap();
    assert_eq!(other.turn(&address).unwrap().acknowledged, [target()]);
    running.wait_for("no notice", |snapshot| snapshot.notices.is_empty());
    stage.at(20_000);
    assert_eq!(running.hear_step(Step::WakeSkipped, &watcher()), "taken");
    assert!(!told.exists());
}

#[test]
fn the_operators_wake_is_the_notice_on_the_screen() {
    for screen in [true, false] {
        let mut stage = Stage::new();
        stage.screen = screen;
        let mut running = stage.start();
        running.ask(Request::Watch(target())).unwrap();
        record(&mut stage.other(), &target());
        running.wait_for("the notice", |snapshot| {
            snapshot.watches.iter().any(|row| matches!(row.wake, WakeState::Coalescing(_)))
        });
        stage.at(20_000);
        if screen {
            running.hear_step(Step::WakeFired, &SessionKey::operator());
        } else {
            let why = running.hear_step(Step::WakeSkipped, &SessionKey::operator());
            assert_eq!(why, "no-handler");
        }
    }
}

#[test]
fn a_sub_agent_is_never_woken() {
    let stage = Stage::new();
    let mut running = stage.start();
    let quiet = SessionKey::new("agent:main:subagent:claude:1");
    let mut other = stage.other();
    other.watch(&quiet, &target(), None).unwrap();
    record(&mut other, &target());
    running.wait_for("the notice", |snapshot| snapshot.notices.len() == 1);
    stage.at(30_000);
    stage.poke(&mut running);
    assert_eq!(running.wake(&quiet), WakeState::Never);
    let steps = [Step::WakeAsked, Step::WakeFired, Step::WakeSkipped];
    let woken = running.told().any(|(_, item)| {
        matches!(item, FeedItem::Step(written)
            if steps.contains(&written.entry.step) && written.entry.watcher.as_ref() == Some(&quiet))
    });
    assert!(!woken);
}
