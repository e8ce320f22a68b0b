//! The screen as a person sees it: every view in each of its states at several sizes, with colours asserted where they
//! mean something.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "helpers of tests: a failure has to stop the test"
)]

#[path = "screen/anything.rs"]
mod anything;
#[path = "screen/colours.rs"]
mod colours;
#[path = "screen/drawn.rs"]
mod drawn;
#[path = "screen/harness.rs"]
mod harness;
#[path = "screen/levels.rs"]
mod levels;
#[path = "screen/states.rs"]
mod states;
#[path = "common/world.rs"]
mod world;

use std::sync::Arc;

use jiff::tz::TimeZone;
use tidings::clock::SECOND;
use tidings::engine::live::Reply;
use tidings::engine::snapshot::{Pulse, Role, Source};
use tidings::event::{Changes, EventKind, Sequence};
use tidings::ui::keymap::Keymap;
use tidings::ui::message::Message;
use tidings::ui::model::{Model, Setup};
use tidings::ui::theme::Theme;
use tidings::upstream::Listing;

use harness::{LARGE, MEDIUM, SMALL, Screen, TINY};
use world::{NOW, World, event, listing};

fn team(size: (u16, u16)) -> Screen {
    Screen::of(size, World::team().build())
}

/// Moves the selection to `agent:main:main`.
fn team_at_main(size: (u16, u16)) -> Screen {
    let mut screen = team(size);
    screen.press("/main:main<enter>");
    screen.press("<esc>");
    screen
}

/// Each size that a view is looked at in, and what its snapshots are called.
const SIZES: [((u16, u16), &str); 4] =
    [(LARGE, "large"), (MEDIUM, "medium"), (SMALL, "small"), (TINY, "tiny")];

/// One snapshot a size.
macro_rules! at_each_size {
    ($name:ident, $make:expr) => {
        #[test]
        fn $name() {
            for (size, suffix) in SIZES {
                let screen: Screen = $make(size);
                insta::assert_snapshot!(format!("{}_{suffix}", stringify!($name)), screen.text());
            }
        }
    };
}

at_each_size!(starting, |size| Screen::new(size, Theme::dark()));
at_each_size!(empty, |size| Screen::of(size, World::empty().build()));
at_each_size!(main_view, team_at_main);
at_each_size!(main_view_watches, |size| {
    let mut screen = team_at_main(size);
    screen.press("<tab>j");
    screen
});
at_each_size!(main_view_notices, |size| {
    let mut screen = team(size);
    screen.press("<tab><tab>jj");
    screen
});
at_each_size!(main_view_events, |size| {
    let mut screen = team(size);
    screen.press("<tab><tab><tab>k");
    screen
});
at_each_size!(every_condition_of_one_watcher, |size| {
    let mut screen = team(size);
    screen.press("G<tab>j");
    screen
});
at_each_size!(notice_for_you, |size| {
    let mut screen = team(size);
    screen.send(Message::Snapshot(World::team_with_a_notice_for_the_operator().build()));
    screen
});
at_each_size!(paused, |size| {
    let mut screen = team(size);
    screen.press(" ");
    let more =
        World::team().event(event(1967, "agent:main:main", EventKind::Created, 0), [0, 0, 0]);
    screen.send(Message::Snapshot(more.build()));
    screen
});
at_each_size!(filter_being_typed, |size| {
    let mut screen = team(size);
    screen.press("/child");
    screen
});
at_each_size!(filter_kept, |size| {
    let mut screen = team(size);
    screen.press("/refactor<enter>");
    screen
});
at_each_size!(filter_without_match, |size| {
    let mut screen = team(size);
    screen.press("/zzz");
    screen
});
at_each_size!(only_not_in_step, |size| {
    let mut screen = team(size);
    screen.press("!");
    screen
});
at_each_size!(branch_folded, |size| {
    let mut screen = team_at_main(size);
    screen.press("h");
    screen
});
at_each_size!(viewer_with_overdue_tick, |size| {
    let mut world = World::team();
    world.snapshot.role = Role::Viewer { owner: Some(4711) };
    world.snapshot.pulse.overdue = true;
    world.snapshot.pulse.last_tick_at = Some(NOW - 130 * SECOND);
    let mut snapshot = (*world.build()).clone();
    for notice in &mut snapshot.notices {
        notice.queued = None;
    }
    Screen::of(size, Arc::new(snapshot))
});
at_each_size!(engine_gone, |size| {
    let mut screen = team(size);
    screen.send(Message::EngineGone);
    screen
});
at_each_size!(problem, |size| {
    let mut screen = team(size);
    screen.send(Message::Snapshot(World::team().with_problem().build()));
    screen
});
at_each_size!(problems_page, |size| {
    let mut screen = Screen::of(size, World::team().with_problem().build());
    screen.press("p");
    screen
});
at_each_size!(hostile_text, |size| {
    let mut screen = Screen::of(size, World::hostile().build());
    screen.press("<home>");
    screen
});
/// A view that `key` opens over the team.
fn view(size: (u16, u16), key: &str) -> Screen {
    let mut screen = team_at_main(size);
    screen.press(key);
    screen.answer_all();
    screen
}

at_each_size!(upstream, |size| view(size, "u"));
at_each_size!(upstream_forget, |size| view(size, "uD"));
at_each_size!(upstream_empty, |size| {
    let mut screen = Screen::of(size, World::empty().build());
    screen.press("u");
    screen
});
at_each_size!(queue, |size| view(size, "Q"));
at_each_size!(queue_sorted, |size| view(size, "QooO"));
at_each_size!(queue_empty, |size| {
    let mut screen = Screen::of(size, World::empty().build());
    screen.press("Q");
    screen.answer(Ok(Reply::Wakes(Vec::new())));
    screen
});
at_each_size!(storage, |size| view(size, "s"));
at_each_size!(storage_loading, |size| {
    let mut screen = team(size);
    screen.press("s");
    screen
});
at_each_size!(storage_failed, |size| {
    let mut screen = team(size);
    screen.press("s");
    screen.answer(Err("counting failed: the database is locked; try again".into()));
    screen
});
at_each_size!(findings, |size| view(size, "F"));
at_each_size!(findings_filtered, |size| view(size, "F/ops"));
/// A view that `keys` open over the team as another system's database tells of it.
fn attached(size: (u16, u16), keys: &str) -> Screen {
    let mut snapshot = (*World::team().build()).clone();
    snapshot.source = Source::Attached { path: "/x/openclaw.sqlite".into() };
    snapshot.role = Role::Visitor;
    snapshot.pulse = Pulse { links: snapshot.pulse.links, ..Pulse::default() };
    snapshot.queues.clear();
    for notice in &mut snapshot.notices {
        notice.queued = None;
    }
    for session in Arc::make_mut(&mut snapshot.sessions) {
        session.messages = 0;
        if let Some(link) = &mut session.upstream {
            link.outcome = "unknown".into();
            link.detail = Some("only the system that owns this database knows".into());
            (link.outcome_at, link.missing_streak) = (None, 0);
        }
    }
    let mut screen = Screen::of(size, Arc::new(snapshot));
    screen.press(keys);
    screen.answer_all();
    screen
}

at_each_size!(attached_main, |size| attached(size, ""));
at_each_size!(attached_upstream, |size| attached(size, "u"));
at_each_size!(attached_queue, |size| attached(size, "Q"));
at_each_size!(attached_storage, |size| attached(size, "s"));
at_each_size!(attached_findings, |size| attached(size, "F"));
at_each_size!(explain, |size| view(size, "<tab>/child-a<enter>e"));
at_each_size!(graph, |size| view(size, "g"));
at_each_size!(graph_compact, |size| view(size, "gz"));
at_each_size!(graph_dots, |size| view(size, "gzz"));
at_each_size!(graph_ego, |size| view(size, "gi"));
at_each_size!(graph_not_in_step, |size| view(size, "g!"));
at_each_size!(graph_search, |size| view(size, "g/child"));
at_each_size!(graph_to_save, |size| view(size, "gS"));
at_each_size!(delta_to_save, |size| {
    let mut screen = delta(size, exact());
    screen.press("S");
    screen
});
at_each_size!(palette, |size| view(size, ":"));
at_each_size!(palette_typed, |size| view(size, ":rew"));
at_each_size!(zoomed, |size| view(size, "<tab>z"));
at_each_size!(sorted, |size| view(size, "ooO"));
at_each_size!(begun_sequence, |size| view(size, "ug"));
at_each_size!(explain_out_of_the_graph, |size| {
    let mut screen = view(size, "g/child-a<enter>");
    screen.press("e");
    screen.answer_all();
    screen
});
at_each_size!(changes_out_of_a_deep_trail, |size| {
    let mut screen = view(size, "gusQF");
    screen.press("<enter>");
    screen.answer_all();
    screen
});
at_each_size!(rewound, |size| view(size, "<lt>"));
at_each_size!(help_graph, |size| view(size, "g?"));
at_each_size!(help_upstream, |size| view(size, "u?"));
at_each_size!(help_queue, |size| view(size, "Q?"));
at_each_size!(help_storage, |size| view(size, "s?"));
at_each_size!(help_findings, |size| view(size, "F?"));
at_each_size!(help_explain, |size| view(size, "<tab>/child-a<enter>e?"));
at_each_size!(ascii, |size| {
    let mut screen = Screen::in_ascii(size);
    screen.send(Message::Snapshot(World::team().build()));
    screen
});

at_each_size!(help_main, |size| {
    let mut screen = team(size);
    screen.press("?");
    screen
});
at_each_size!(help_main_scrolled, |size| {
    let mut screen = team(size);
    screen.press("?G");
    screen
});
at_each_size!(help_delta, |size| {
    let mut screen = delta(size, exact());
    screen.press("?");
    screen
});
at_each_size!(help_adopt, |size| {
    let mut screen = adopt(size, Ok(listing()));
    screen.press("?");
    screen
});

/// The delta of `agent:main:subagent:child-a` as its watcher sees it.
fn delta(size: (u16, u16), changes: Changes) -> Screen {
    let mut screen = delta_asked(size);
    screen.answer(Ok(Reply::Changes(changes)));
    screen
}

fn delta_asked(size: (u16, u16)) -> Screen {
    let mut screen = team_at_main(size);
    screen.press("<tab>/child-a<enter><enter>");
    screen
}

fn exact() -> Changes {
    let a = "agent:main:subagent:child-a";
    let mut failed = event(1930, a, EventKind::RunFailed, 80 * SECOND);
    failed.run = Some("run-17".into());
    failed.actor = Some("agent:main:main".into());
    Changes {
        events: vec![
            event(1914, a, EventKind::GoalChanged, 400 * SECOND),
            failed,
            event(1941, a, EventKind::GoalChanged, 41 * SECOND),
        ],
        truncated: false,
        earliest: Sequence(1850),
        history_gap: false,
        version: Sequence(1941),
    }
}

at_each_size!(delta_waiting, delta_asked);
at_each_size!(delta_exact, |size| delta(size, exact()));
at_each_size!(delta_gap, |size| {
    delta(size, Changes { history_gap: true, earliest: Sequence(1914), ..exact() })
});
at_each_size!(delta_truncated, |size| delta(size, Changes { truncated: true, ..exact() }));
at_each_size!(delta_second_page, |size| {
    let mut screen = delta(size, Changes { truncated: true, ..exact() });
    screen.press("n");
    screen.answer(Ok(Reply::Changes(Changes {
        events: vec![event(1950, "agent:main:subagent:child-a", EventKind::Compacted, 0)],
        version: Sequence(1950),
        ..exact()
    })));
    screen
});
at_each_size!(delta_nothing, |size| delta(size, Changes { events: Vec::new(), ..exact() }));
at_each_size!(delta_ahead, |size| {
    let mut screen = delta(size, exact());
    screen.press("9999<enter>");
    screen.answer(Ok(Reply::Changes(Changes { events: Vec::new(), ..exact() })));
    screen
});
at_each_size!(delta_version_being_typed, |size| {
    let mut screen = delta(size, exact());
    screen.press("19");
    screen
});
at_each_size!(delta_failed, |size| {
    let mut screen = delta_asked(size);
    screen.answer(Err(
        "reading agent:main:subagent:child-a failed: the database is locked; try again".into(),
    ));
    screen
});
at_each_size!(delta_to_acknowledge, |size| {
    let mut screen = Screen::of(size, World::team_with_a_notice_for_the_operator().build());
    screen.press("/refactor<enter><enter>");
    let api = "agent:main:claude:7f3a1c2e-5b0d-4e1f-9a77-0c2d4e6f8a10";
    screen.answer(Ok(Reply::Changes(Changes {
        events: vec![event(1942, api, EventKind::HumanDirectMessage, 12 * SECOND)],
        version: Sequence(1942),
        ..exact()
    })));
    screen
});

/// The adopt view with this answer.
fn adopt(size: (u16, u16), result: Result<Listing, String>) -> Screen {
    let mut screen = team(size);
    screen.press("a");
    screen.answer(result.map(Reply::Catalog));
    screen
}

at_each_size!(adopt_loading, |size| {
    let mut screen = team(size);
    screen.press("a");
    screen
});
at_each_size!(adopt_empty, |size| adopt(size, Ok(Listing::default())));
at_each_size!(adopt_full, |size| adopt(size, Ok(listing())));
at_each_size!(adopt_failed, |size| {
    adopt(
        size,
        Err("listing /home/someone/.claude failed: permission denied; check its mode".into()),
    )
});
at_each_size!(adopt_filtered, |size| {
    let mut screen = adopt(size, Ok(listing()));
    screen.press("/flaky");
    screen
});
at_each_size!(adopted, |size| {
    let mut screen = adopt(size, Ok(listing()));
    screen.press("<enter>");
    screen.answer(Ok(Reply::Adopted(
        "agent:main:claude:3d2c1b0a-0000-4000-8000-000000000001".into(),
    )));
    screen
});

#[test]
fn too_small() {
    for (size, name) in [((30, 8), "too_small_30x8"), ((10, 2), "too_small_10x2")] {
        insta::assert_snapshot!(name, team(size).text());
    }
}

/// The trail names each view on the way, and Esc goes back along it.
#[test]
fn the_trail_says_where_esc_leads() {
    let mut screen = view(SMALL, "g");
    for (key, trail) in [
        ("u", "main › graph › upstream "),
        ("s", "main › graph › upstream › storage "),
        ("<esc>", "main › graph › upstream "),
        ("<esc>", "main › graph "),
    ] {
        screen.press(key);
        let text = screen.text();
        let lines: Vec<&str> = text.lines().collect();
        let border = lines[lines.len() - 2];
        assert!(border.contains(&format!("─ {trail}─")), "{trail}:\n{text}");
    }
    screen.press("<esc>");
    assert!(!screen.text().contains('›'));
}

#[test]
fn medium() {
    insta::assert_snapshot!("medium_120x35", team_at_main((120, 35)).text());
}

#[test]
fn help_tells_the_keys_that_are_in_force() {
    let keys = [("watch".to_owned(), vec!["ctrl-w".to_owned()])];
    let model = Model::new(Setup {
        theme: Theme::dark(),
        keymap: Keymap::new(&keys.into()).unwrap(),
        title: Some("demo".into()),
        bell: false,
        desktop: false,
        ascii: false,
        zone: TimeZone::UTC,
        now: NOW,
    });
    let mut screen = Screen { model, size: LARGE, asked: Vec::new() };
    screen.send(Message::Resize(LARGE.0, LARGE.1));
    screen.send(Message::Snapshot(World::team().build()));
    assert!(screen.text().contains("Ctrl-w watch"));
    screen.press("?");
    assert!(screen.text().contains("Ctrl-w        watch this session as yourself"));
}

proptest::proptest! {
    #![proptest_config(proptest::prelude::ProptestConfig { cases: 96, failure_persistence: None, ..Default::default() })]

    /// Whatever comes in, in whatever order and on whatever size, the screen draws it.
    #[test]
    fn nothing_that_comes_in_breaks_the_screen(
        steps in proptest::collection::vec(anything::step(), 1..40),
        width in 1_u16..=250,
        height in 1_u16..=80,
    ) {
        let mut screen = Screen::new((width, height), Theme::dark());
        for step in steps {
            match step {
                anything::Step::Send(message) => screen.send(*message),
                anything::Step::Answer(result) => {
                    if let Some((ticket, _)) = screen.asked.pop() {
                        screen.send(Message::Answer(ticket, *result));
                    }
                }
                // The frame may be of another size than the model has heard of.
                anything::Step::Size(width, height) => screen.size = (width, height),
            }
            let _ = screen.buffer();
        }
    }
}
