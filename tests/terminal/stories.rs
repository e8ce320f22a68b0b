//! What people do with the screen, in a real terminal: a story each.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use crate::pty::Session;
use crate::{Home, SIZE};

const MAIN: &str = "agent:main:main";
const DOCS: &str = "agent:main:subagent:docs";
const YOU: &str = "agent:operator:main";

/// A home where one agent watches another, and is owed a notice.
fn watched() -> Home {
    let home = Home::new();
    home.verb(&["spawn", MAIN, DOCS, "--run", "1"]);
    home.verb(&["watch", MAIN, DOCS]);
    for _ in 0..2 {
        home.verb(&["record", "goal_changed", DOCS, "--actor-type", "human"]);
    }
    home
}

fn monitor(home: &Home, variables: &[(&str, &str)]) -> Session {
    let mut command = home.command(env!("CARGO_BIN_EXE_tidings"));
    for (name, value) in variables {
        command.env(name, value);
    }
    let session = Session::start(command, SIZE);
    session.shows(&["● owner", "pending 1", "subagent:docs"]);
    session
}

fn quit(mut session: Session) {
    session.press("q");
    assert_eq!(session.ends(), 0);
    session.is_given_back();
}

#[test]
fn the_graph_is_searched_and_saved_once() {
    let home = watched();
    let mut screen = monitor(&home, &[]);
    screen.press("g");
    screen.shows(&["Graph of watches full", "1 watch", "1 spawn"]);
    screen.press("/docs\rz");
    screen.shows(&["/docs 1 found", "▌subagent:docs"]);
    screen.press("S");
    screen.shows(&["save as tidings-graph.dot", "Enter writes · Esc leaves"]);
    screen.press("\r");
    screen.shows(&["✓ wrote tidings-graph.dot"]);
    let path = home.folder.path().join("tidings-graph.dot");
    let written = fs::read(&path).unwrap();
    assert!(written.starts_with(b"digraph"));
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);

    fs::write(&path, "mine").unwrap();
    screen.press("S\r");
    screen.shows(&["tidings-graph.dot exists already and is left as it is"]);
    assert_eq!(fs::read(&path).unwrap(), b"mine");

    for size in [(40, 10), (200, 60), (61, 17), (20, 5), (149, 31)] {
        screen.resize(size.0, size.1);
    }
    screen.shows(&["Graph of watches", "main › graph"]);
    quit(screen);
}

#[test]
fn on_call_it_is_found_out_why_and_how_full_the_database_is() {
    let home = watched();
    let mut screen = monitor(&home, &[]);
    screen.press("\t\te");
    screen.shows(&["Why: agent:main:main watches subagent:docs", "recorded", "main › explain"]);
    screen.press("\x1b");
    screen.lacks("Why:");
    screen.press(":stor");
    screen.shows(&["Actions", ":stor"]);
    screen.press("\r");
    screen.shows(&["lock wait", "failed appends", "main › storage"]);
    screen.press("\x1b");
    screen.lacks("› storage");
    // The pane with the keyboard is that of the notices.
    screen.press("\t\t/dcs");
    screen.shows(&["Sessions 1/", "1 match"]);
    screen.press("\x1b");
    screen.lacks("1 match");
    quit(screen);
}

#[test]
fn the_past_is_stepped_through_and_left() {
    let home = watched();
    let mut screen = monitor(&home, &[]);
    screen.press("<");
    screen.shows(&["REWOUND to #2, live #3"]);
    screen.press("<");
    screen.shows(&["REWOUND to #1, live #3"]);
    home.verb(&["record", "goal_changed", DOCS, "--actor-type", "human"]);
    screen.shows(&["REWOUND to #1, live #4"]);
    screen.press("\x1b");
    screen.lacks("REWOUND");
    screen.shows(&["journal #4", "v4"]);
    screen.press(" ");
    screen.shows(&["paused at #4, live #4 (+0)"]);
    home.verb(&["record", "goal_changed", DOCS, "--actor-type", "human"]);
    screen.shows(&["paused at #4, live #5 (+1)"]);
    screen.press(" ");
    screen.shows(&["v5"]);
    quit(screen);
}

#[test]
fn what_is_selected_is_copied_through_the_terminal() {
    let home = watched();
    let mut screen = monitor(&home, &[]);
    screen.press("/docs\r");
    screen.shows(&["Sessions 1/"]);
    screen.press("y");
    screen.shows(&["copied the key"]);
    // The key in base 64.
    screen.hears("the key in the clipboard", |heard| {
        heard.copied == ["YWdlbnQ6bWFpbjpzdWJhZ2VudDpkb2Nz"]
    });
    quit(screen);
}

#[test]
fn the_mouse_and_the_bell_are_there_for_those_who_want_them() {
    let home = watched();
    let screen = monitor(&home, &[]);
    assert!(!screen.has_mouse(), "nobody asked for it");
    quit(screen);

    home.config("[ui]\nmouse = true\nbell = true\n");
    home.verb(&["watch", YOU, MAIN]);
    let mut screen = monitor(&home, &[]);
    assert!(screen.has_mouse());
    let (column, row) = screen.place("subagent:docs");
    screen.press(&format!("\x1b[<0;{};{}M", column + 1, row + 1));
    screen.shows(&["Watches of agent:main:subagent:docs"]);
    screen.hears("no bell yet", |heard| heard.bells == 0);
    home.verb(&["record", "goal_changed", MAIN, "--actor-type", "human"]);
    screen.shows(&["notice for you: agent:main:main changed"]);
    screen.hears("one bell", |heard| heard.bells == 1);
    quit(screen);
}

/// What good news look like at each number of colours.
#[test]
fn as_many_colours_are_sent_as_the_terminal_has() {
    use vt100::Color::{Default, Idx, Rgb};
    let home = watched();
    home.config("[ui]\ntheme = \"colour-blind\"\n");
    for (variables, wanted) in [
        (&[("COLORTERM", "truecolor")][..], Rgb(86, 180, 233)),
        (&[("TERM", "xterm-256color")], Idx(74)),
        (&[("TERM", "xterm")], Idx(14)),
        (&[("NO_COLOR", "1"), ("COLORTERM", "truecolor")], Default),
    ] {
        let screen = monitor(&home, variables);
        assert_eq!(screen.cell("● owner").fgcolor(), wanted, "{variables:?}");
        let selected = screen.cell("agent:main:main");
        assert_eq!(selected.inverse(), wanted == Default, "{variables:?}");
        assert_eq!(selected.bgcolor() == Default, wanted == Default, "{variables:?}");
        quit(screen);
    }
}

#[test]
fn keys_are_those_of_the_config_and_two_meanings_are_refused() {
    let home = watched();
    home.config("[ui.keys]\nstorage = [\"x s\"]\nquit = [\"ctrl-q\"]\n");
    let mut screen = monitor(&home, &[]);
    screen.press("x");
    screen.shows(&["x …"]);
    screen.press("s");
    screen.shows(&["main › storage"]);
    screen.press("?");
    screen.shows(&["Ctrl-q", "quit (Ctrl-c always works)"]);
    screen.press("\x11");
    assert_eq!(screen.ends(), 0);

    home.config("[ui.keys]\nstorage = [\"x\"]\nqueue = [\"x s\"]\n");
    let mut refused = Session::start(home.command(env!("CARGO_BIN_EXE_tidings")), SIZE);
    refused.shows(&["x would mean both \"queue\" and \"storage\""]);
    assert_eq!(refused.ends(), 2);
    assert!(!refused.is_taken());
}
