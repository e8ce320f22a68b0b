//! Every view in every state: a table that names, for each pair of them, the picture, or why there is none.

use std::path::Path;
use std::sync::Arc;

use tidings::engine::live::{Reply, Request};
use tidings::engine::snapshot::{Role, Source, WakeState};
use tidings::event::EventKind;
use tidings::ui::message::Message;
use tidings::ui::theme::Theme;
use tidings::upstream::Listing;

use crate::harness::Screen;
use crate::world::{self, World, event};
use crate::{SIZES, exact};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum View {
    Main,
    Delta,
    Graph,
    Explain,
    Upstream,
    Catalog,
    Queue,
    Storage,
    Findings,
    Help,
    Palette,
    Save,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Usual,
    Empty,
    Loading,
    Failed,
    Attached,
    Paused,
    Rewound,
    FaultsOnly,
}

const VIEWS: [View; 12] = [
    View::Main,
    View::Delta,
    View::Graph,
    View::Explain,
    View::Upstream,
    View::Catalog,
    View::Queue,
    View::Storage,
    View::Findings,
    View::Help,
    View::Palette,
    View::Save,
];
const STATES: [State; 8] = [
    State::Usual,
    State::Empty,
    State::Loading,
    State::Failed,
    State::Attached,
    State::Paused,
    State::Rewound,
    State::FaultsOnly,
];

/// Where the picture of a view in a state is.
enum Picture {
    /// It is made by this table, and called after the two.
    Here,
    /// It is made beside the views, under this name.
    Called(&'static str),
    /// The two do not go together, or look like the usual state.
    None,
}

#[expect(clippy::match_same_arms, reason = "there is more than one reason for no picture")]
fn picture(view: View, state: State) -> Picture {
    use Picture::{Called, Here, None};
    match (view, state) {
        (View::Main, State::Usual) => Called("main_view"),
        (View::Main, State::Empty) => Called("empty"),
        (View::Main, State::Loading) => Called("starting"),
        (View::Main, State::Failed) => Called("engine_gone"),
        (View::Main, State::Paused) => Called("paused"),
        (View::Main, State::Rewound) => Called("rewound"),
        (View::Main, State::FaultsOnly) => Called("only_not_in_step"),
        (View::Delta, State::Usual) => Called("delta_exact"),
        (View::Delta, State::Empty) => Called("delta_nothing"),
        (View::Delta, State::Loading) => Called("delta_waiting"),
        (View::Delta, State::Failed) => Called("delta_failed"),
        (View::Graph, State::Usual) => Called("graph"),
        (View::Graph, State::FaultsOnly) => Called("graph_not_in_step"),
        (View::Explain, State::Usual) => Called("explain"),
        (View::Upstream, State::Usual) => Called("upstream"),
        (View::Upstream, State::Empty) => Called("upstream_empty"),
        (View::Catalog, State::Usual) => Called("adopt_full"),
        (View::Catalog, State::Empty) => Called("adopt_empty"),
        (View::Catalog, State::Loading) => Called("adopt_loading"),
        (View::Catalog, State::Failed) => Called("adopt_failed"),
        (View::Queue, State::Usual) => Called("queue"),
        (View::Queue, State::Empty) => Called("queue_empty"),
        (View::Storage, State::Usual) => Called("storage"),
        (View::Storage, State::Loading) => Called("storage_loading"),
        (View::Storage, State::Failed) => Called("storage_failed"),
        (View::Findings, State::Usual) => Called("findings"),
        (View::Help, State::Usual) => Called("help_main"),
        (View::Palette, State::Usual) => Called("palette"),
        (View::Save, State::Usual) => Called("graph_to_save"),
        // What is typed matches nothing.
        (View::Palette, State::Empty) => Here,
        // The help and the prompts lie over a view, whatever its state is; a file that can't be written is told as any failure.
        (View::Help | View::Palette | View::Save, _) => None,
        // There is a pair to explain, and a file to tell of, whatever else there is not.
        (View::Explain | View::Storage, State::Empty) => None,
        // These ask the engine for nothing.
        (View::Graph | View::Findings, State::Loading | State::Failed) => None,
        // Only what shows pairs shows those that are not in step.
        (_, State::FaultsOnly) => None,
        // The catalog is of the machine, and not of the picture that is held.
        (View::Catalog, State::Paused | State::Rewound) => None,
        (View::Delta, State::Attached | State::Paused | State::Rewound)
        | (View::Main | View::Catalog, State::Attached)
        | (
            View::Graph
            | View::Explain
            | View::Upstream
            | View::Queue
            | View::Storage
            | View::Findings,
            _,
        ) => Here,
    }
}

/// The team as it is read from the database of another system.
fn attached() -> World {
    let mut world = World::team();
    world.snapshot.source = Source::Attached { path: "/home/someone/.other/state.sqlite".into() };
    world.snapshot.role = Role::Visitor;
    world.snapshot.pulse.last_tick_at = None;
    world.snapshot.pulse.next_tick_at = None;
    for watch in Arc::make_mut(&mut world.snapshot.watches) {
        watch.wake = WakeState::Unknown;
    }
    world
}

fn prepared(size: (u16, u16), state: State) -> Screen {
    let mut screen = Screen::new(size, Theme::dark());
    let world = match state {
        State::Empty => World::empty(),
        State::Attached => attached(),
        _ => World::team(),
    };
    let mut snapshot = (*world.build()).clone();
    if state == State::Attached {
        snapshot.queues.clear();
        for notice in &mut snapshot.notices {
            notice.queued = None;
        }
    }
    screen.send(Message::Snapshot(snapshot.into()));
    screen.press("/main:main<enter><esc>");
    match state {
        State::Paused => {
            screen.press(" ");
            let more = event(1967, "agent:main:main", EventKind::Created, 0);
            screen.send(Message::Snapshot(World::team().event(more, [0, 0, 0]).build()));
        }
        State::Rewound => {
            screen.press("<lt>");
            screen.answer_all();
        }
        _ => {}
    }
    screen
}

fn screen(size: (u16, u16), view: View, state: State) -> Screen {
    let mut screen = prepared(size, state);
    screen.press(match view {
        View::Main => "",
        View::Delta => "<tab>/child-a<enter><enter>",
        View::Graph => "g",
        View::Explain => "<tab>/child-a<enter>e",
        View::Upstream => "u",
        View::Catalog => "a",
        View::Queue => "Q",
        View::Storage => "s",
        View::Findings => "F",
        View::Help => "?",
        View::Palette => ":qqq",
        View::Save => "gS",
    });
    while let Some((ticket, request)) = screen.asked.pop() {
        let result = match (state, &request) {
            (State::Loading, _) => break,
            (State::Failed, _) => Err("reading failed: the database is locked; try again".into()),
            (State::Empty, Request::Catalog) => Ok(Reply::Catalog(Listing::default())),
            (State::Empty, Request::Wakes) => Ok(Reply::Wakes(Vec::new())),
            (_, Request::Changes { .. }) => Ok(Reply::Changes(exact())),
            _ => Ok(world::reply(&request)),
        };
        screen.send(Message::Answer(ticket, result));
    }
    screen
}

#[test]
fn every_view_in_every_state_has_its_pictures() {
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path("../snapshots");
    let _all = settings.bind_to_scope();
    for view in VIEWS {
        for state in STATES {
            for (size, suffix) in SIZES {
                match picture(view, state) {
                    Picture::Here => {
                        let name = format!("{view:?}_{state:?}_{suffix}").to_lowercase();
                        insta::assert_snapshot!(name, screen(size, view, state).text());
                    }
                    Picture::Called(name) => {
                        let file = format!("tests/snapshots/screen__{name}_{suffix}.snap");
                        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(&file);
                        assert!(path.is_file(), "{view:?}, {state:?}: there is no {file}");
                    }
                    Picture::None => {}
                }
            }
        }
    }
}
