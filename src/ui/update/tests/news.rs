use super::*;

#[test]
fn pause_holds_the_picture_and_goes_on_with_the_newest() {
    let mut bench = Bench::new();
    bench.keys(" ");
    let sessions = vec![session("agent:main:new", None, 20)];
    bench.send(Message::Snapshot(snapshot(sessions, vec![], vec![event(20, "agent:main:new")])));
    bench.send(Message::Tick(NOW + 60_000));
    assert_eq!(bench.model.shown().journal.max, Some(Sequence(9)));
    assert_eq!(bench.model.live.as_ref().unwrap().journal.max, Some(Sequence(20)));
    assert_eq!(bench.model.reckoned_now(), NOW, "ages stand still, too");
    bench.keys(" ");
    assert_eq!(bench.model.shown().journal.max, Some(Sequence(20)));
    assert_eq!(bench.model.reckoned_now(), NOW + 60_000);
}

#[test]
fn events_are_followed_until_somebody_reads() {
    let mut bench = Bench::new();
    let last = |bench: &Bench| bench.model.main.events.key().copied();
    assert_eq!(last(&bench), Some(Sequence(9)));
    let grow = |n: i64| {
        let world = world();
        let mut events = world.events.clone();
        events.extend((10..=n).map(|n| event(n, "agent:main:b")));
        Message::Snapshot(snapshot(world.sessions.to_vec(), vec![], events))
    };
    bench.send(grow(10));
    assert_eq!(last(&bench), Some(Sequence(10)));
    bench.keys("\t\t\tk").send(grow(12));
    assert_eq!(last(&bench), Some(Sequence(9)), "nothing jumps while someone reads");
    bench.keys("f");
    assert_eq!(last(&bench), Some(Sequence(12)));
    bench.keys("kG").send(grow(14));
    assert_eq!(last(&bench), Some(Sequence(14)), "the last row follows again");
}

#[test]
fn a_notice_for_the_operator_is_said_and_rung() {
    let mut bench = Bench::new();
    let open = |material| {
        let sessions = world().sessions.to_vec();
        let watches = vec![watch(YOU, "agent:main:c", 7, material)];
        Message::Snapshot(snapshot(sessions, watches, vec![]))
    };
    bench.send(open(11));
    assert!(bench.effects.contains(&Effect::Bell));
    assert_eq!(bench.toast(), (Tone::Note, "notice for you: c changed"));
    bench.send(open(12));
    assert!(!bench.effects.contains(&Effect::Bell), "it was open already");
    bench.model.setup.bell = false;
    bench.send(open(7)).send(open(13));
    assert!(!bench.effects.contains(&Effect::Bell));
}

#[test]
fn a_new_problem_is_said_once() {
    let mut bench = Bench::new();
    let mut failed = (*world()).clone();
    failed.problems.push(Problem { at: NOW, message: "the disk is full; free some space".into() });
    let failed = Arc::new(failed);
    bench.send(Message::Snapshot(Arc::clone(&failed)));
    assert_eq!(bench.toast(), (Tone::Error, "the disk is full; free some space"));
    bench.keys("\u{1b}").send(Message::Snapshot(failed));
    assert_eq!(bench.toast().1, "");
}

#[test]
fn toasts_and_flashes_end_with_their_own_timer() {
    let mut bench = Bench::new();
    bench.keys("o");
    let timer = bench.effects.iter().find_map(|effect| match effect {
        Effect::After(time, timer) => Some((*time, *timer)),
        _ => None,
    });
    assert_eq!(timer, Some((Duration::from_secs(6), Timer::Toast(1))));
    bench.keys("o").send(Message::Timer(Timer::Toast(1)));
    assert_ne!(bench.toast().1, "", "a newer one is shown");
    bench.send(Message::Timer(Timer::Toast(2)));
    assert_eq!(bench.toast().1, "");

    let mut sessions = world().sessions.to_vec();
    sessions[0].version = Some(Sequence(6));
    bench.send(Message::Snapshot(snapshot(sessions, world().watches.to_vec(), vec![])));
    let flash = &bench.model.main.flash;
    assert_eq!((flash.sessions.len(), flash.pairs.len()), (1, 0));
    let generation = flash.generation;
    bench.send(Message::Timer(Timer::Flash(generation)));
    assert!(bench.model.main.flash.sessions.is_empty());
}

#[test]
fn the_first_snapshot_does_not_flash() {
    let bench = Bench::new();
    assert!(bench.model.main.flash.sessions.is_empty());
}

#[test]
fn only_news_is_drawn() {
    let mut bench = Bench::new();
    let before = bench.model.revision();
    bench.send(Message::Tick(NOW)).send(Message::Tick(NOW + 999 - NOW % 1000));
    bench.send(Message::Timer(Timer::Toast(77)));
    bench.send(Message::Answer(Ticket(99), Err("late".into())));
    bench.key(KeyCode::F(9));
    let mut release = KeyEvent::new(KeyCode::Char('j'), KeyModifiers::NONE);
    release.kind = KeyEventKind::Release;
    bench.send(Message::Key(release));
    assert_eq!(bench.model.revision(), before);
    bench.send(Message::Tick(NOW + 1000));
    assert_eq!(bench.model.revision(), before + 1);
    bench.send(Message::Resize(30, 8));
    let small = bench.model.revision();
    bench.send(Message::Tick(NOW + 5000));
    assert_eq!(bench.model.revision(), small, "no age is on the screen");
    assert!(!bench.model.shows_ages());
}

#[test]
fn an_engine_that_stopped_is_said() {
    let mut bench = Bench::new();
    bench.send(Message::EngineGone);
    assert!(bench.model.engine_gone);
    assert_eq!(bench.toast().0, Tone::Error);
    bench.send(Message::Trouble("copying failed\n".into()));
    assert_eq!(bench.toast().1, "copying failed␊");
}
