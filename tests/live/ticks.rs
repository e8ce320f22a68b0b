//! When the monitor ticks: cases 1, 2 and 29 of `upstream.md` 10.1.

use serde_json::json;
use tidings::engine::live::{Reply, Request};
use tidings::engine::lock::OwnerLock;
use tidings::upstream::{Finding, RecordId, Turn, Window};

use crate::support::{HANGING, Hanging, NOW, Stage};

const SECOND: i64 = 1_000;

#[test]
fn case_01_ticks_come_at_15_60_and_120_seconds_and_none_between() {
    let stage = Stage::new();
    let mut running = stage.start();
    for (after, is_due) in [
        (14_999, false),
        (15_000, true),
        (16_000, false),
        (59_999, false),
        (60_000, true),
        (75_000, false),
        (119_999, false),
        (120_000, true),
    ] {
        stage.at(after);
        stage.poke(&mut running);
        if is_due {
            running.hear_tick();
        }
    }
    stage.poke(&mut running);
    assert_eq!(running.ticks(), [15 * SECOND, 60 * SECOND, 120 * SECOND]);
    let pulse = running.snapshot().pulse.clone();
    assert_eq!(pulse.last_tick_at, Some(NOW + 120 * SECOND));
    assert_eq!(pulse.next_tick_at, Some(NOW + 180 * SECOND));
}

#[test]
fn a_quiet_tick_moves_the_picture_on_and_shares_its_lists() {
    let mut stage = Stage::new();
    let (provider, gate) = Hanging::new();
    stage.providers.push(provider);
    let mut running = stage.start();
    running.ask(Request::Adopt { catalog: HANGING.into(), wanted: "a".into() }).unwrap();
    let mut tick_at = |after: i64, finding: Finding| {
        stage.at(after * SECOND);
        gate.wait();
        gate.release(finding);
        running.hear_tick();
        running.wait_for("the tick", |shown| {
            shown.pulse.last_tick_at == Some(NOW + after * SECOND)
                && shown
                    .sessions
                    .iter()
                    .filter_map(|row| row.upstream.as_ref())
                    .all(|link| link.outcome_at == Some(NOW + after * SECOND))
        })
    };
    let first = tick_at(15, Finding::Quiet);
    let second = tick_at(60, Finding::Quiet);
    assert!(second.moved_on_from(&first));
    assert_eq!(second.at, NOW + 60 * SECOND);
    let made_anew = stage.other().snapshot(0, second.role.clone(), true, &[]).unwrap();
    assert_eq!((&second.sessions, &second.watches), (&made_anew.sessions, &made_anew.watches));
    assert_eq!(second.pulse, made_anew.pulse);
    let third = tick_at(120, Finding::Unreadable("no".into()));
    assert!(!third.moved_on_from(&second));
    let fourth = tick_at(180, Finding::Quiet);
    assert!(!fourth.moved_on_from(&third), "a link that was unreadable is quiet again");
}

#[test]
fn many_periods_at_once_are_one_tick() {
    let stage = Stage::new();
    let mut running = stage.start();
    stage.at(3_600 * SECOND);
    running.hear_tick();
    stage.poke(&mut running);
    stage.at(3_659 * SECOND);
    stage.poke(&mut running);
    stage.at(3_660 * SECOND);
    running.hear_tick();
    assert_eq!(running.ticks(), [3_600 * SECOND, 3_660 * SECOND]);
}

#[test]
fn a_clock_that_is_put_back_does_not_stop_the_monitor() {
    let stage = Stage::new();
    let mut running = stage.start();
    stage.at(15 * SECOND);
    running.hear_tick();
    stage.at(-3_600 * SECOND);
    stage.poke(&mut running);
    stage.at(-3_585 * SECOND);
    running.hear_tick();
    assert_eq!(running.ticks(), [15 * SECOND, -3_585 * SECOND]);
}

#[test]
fn case_02_a_tick_that_is_due_while_one_runs_is_dropped() {
    let mut stage = Stage::new();
    let (provider, gate) = Hanging::new();
    stage.providers.push(provider);
    let mut running = stage.start();
    running.ask(Request::Adopt { catalog: HANGING.into(), wanted: "a".into() }).unwrap();
    stage.at(15 * SECOND);
    gate.wait();
    for after in [60, 120] {
        stage.at(after * SECOND);
        stage.poke(&mut running);
    }
    gate.release(Finding::Quiet);
    running.hear_tick();
    stage.at(179 * SECOND);
    stage.poke(&mut running);
    stage.at(180 * SECOND);
    gate.wait();
    gate.release(Finding::Quiet);
    running.hear_tick();
    assert_eq!(running.ticks(), [120 * SECOND, 180 * SECOND]);
}

#[test]
fn a_tick_that_is_asked_for_joins_the_one_that_runs() {
    let mut stage = Stage::new();
    let (provider, gate) = Hanging::new();
    stage.providers.push(provider);
    let mut running = stage.start();
    running.ask(Request::Adopt { catalog: HANGING.into(), wanted: "a".into() }).unwrap();
    let handles = [running.handle.clone(), running.handle.clone()];
    let asked: Vec<_> = handles
        .into_iter()
        .map(|handle| {
            std::thread::spawn(move || {
                let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
                runtime.block_on(handle.ask(Request::Tick))
            })
        })
        .collect();
    gate.wait();
    // Both wait by now, or the second one gets a tick of its own: either way both are answered.
    gate.release(Finding::Quiet);
    gate.release(Finding::Quiet);
    for thread in asked {
        assert!(
            matches!(thread.join().unwrap(), Ok(Reply::Done(said)) if said.starts_with("ticked"))
        );
    }
    running.hear_tick();
    assert!((1..=2).contains(&running.ticks().len()));
}

#[test]
fn case_29_stopping_while_a_probe_hangs_frees_the_lock_and_writes_nothing_later() {
    let mut stage = Stage::new();
    let (provider, gate) = Hanging::new();
    let kept = provider.clone();
    stage.providers.push(provider);
    let running = stage.start();
    assert!(OwnerLock::take(&stage.db()).unwrap().is_none(), "the owner holds it");
    running.ask(Request::Adopt { catalog: HANGING.into(), wanted: "a".into() }).unwrap();
    let before = stage.other().journal().links().unwrap();
    stage.at(15 * SECOND);
    gate.wait();
    running.stop();
    assert!(OwnerLock::take(&stage.db()).unwrap().is_some());
    assert_eq!(stage.other().journal().owner().unwrap(), None);

    gate.release(Finding::Read(Window {
        turns: vec![Turn { id: Some(RecordId::of("1")), at: NOW }],
        echoes: 0,
        malformed: 0,
        next_marker: json!({"offset": 9}),
        dedupe_id: "9".into(),
        replaced: None,
        more: false,
        ..Window::default()
    }));
    stage.providers.clear();
    let deadline = std::time::Instant::now() + std::time::Duration::from_secs(30);
    while std::sync::Arc::strong_count(&kept) > 1 {
        assert!(std::time::Instant::now() < deadline, "the probe's threads never ended");
        std::thread::sleep(std::time::Duration::from_millis(2));
    }
    let other = stage.other();
    assert_eq!(other.journal().links().unwrap(), before);
    assert_eq!(other.journal().extent().unwrap().0, 1, "the adoption alone");
}
