//! Actions as data: what can be done, where, by which keys, and how the help words it.

/// Where keys are pressed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Context {
    /// The main view.
    Main,
    /// The changes of one session.
    Delta,
    /// The foreign sessions that can be adopted.
    Adopt,
    /// A page over the view: the help or the problems.
    Page,
    /// A text field: characters go into it.
    Field,
}

/// What a key can do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "`ACTIONS` describes each one")]
pub enum Action {
    Quit,
    Back,
    Help,
    Suspend,
    Redraw,
    Up,
    Down,
    HalfUp,
    HalfDown,
    PageUp,
    PageDown,
    Top,
    Bottom,
    Left,
    Right,
    NextPane,
    PreviousPane,
    Delta,
    Watch,
    Adopt,
    Tick,
    Filter,
    Pause,
    Follow,
    OutOfStep,
    Order,
    Problems,
    Copy,
    Acknowledge,
    Older,
    Newer,
    NextPage,
    PreviousPage,
    Version,
    Reload,
    AdoptThis,
    Accept,
}

/// A heading of the help.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Group {
    /// What this view is for.
    Here,
    /// Getting about.
    Move,
    /// The program as a whole.
    Program,
}

/// One action as data.
#[derive(Debug)]
pub struct ActionInfo {
    /// The action.
    pub action: Action,
    /// Its name in the config file.
    pub name: &'static str,
    /// What it does, for the help.
    pub description: &'static str,
    /// A word or two for the line at the bottom; empty when it never stands there.
    pub hint: &'static str,
    /// Its keys unless the config says otherwise.
    pub keys: &'static [&'static str],
    /// Where it can be used.
    pub contexts: &'static [Context],
    /// Where the help lists it.
    pub group: Group,
}

use Context::{Adopt, Delta, Field, Main, Page};

const EVERYWHERE: &[Context] = &[Main, Delta, Adopt, Page, Field];
const VIEWS: &[Context] = &[Main, Delta, Adopt, Page];
const LISTS: &[Context] = &[Main, Delta, Adopt];

const fn info(
    action: Action,
    name: &'static str,
    keys: &'static [&'static str],
    contexts: &'static [Context],
    group: Group,
    hint: &'static str,
    description: &'static str,
) -> ActionInfo {
    ActionInfo { action, name, description, hint, keys, contexts, group }
}

/// Every action, in the order in which the help and the bottom line show them.
pub const ACTIONS: [ActionInfo; 37] = [
    info(
        Action::Delta,
        "delta",
        &["enter"],
        &[Main],
        Group::Here,
        "delta",
        "show what changed since last seen",
    ),
    info(
        Action::Acknowledge,
        "acknowledge",
        &["enter"],
        &[Delta],
        Group::Here,
        "acknowledge",
        "mark as read up to the version shown",
    ),
    info(
        Action::AdoptThis,
        "adopt-this",
        &["enter"],
        &[Adopt],
        Group::Here,
        "adopt",
        "adopt this session and watch it",
    ),
    info(
        Action::Watch,
        "watch",
        &["w"],
        &[Main, Delta],
        Group::Here,
        "watch",
        "watch this session as yourself, or stop",
    ),
    info(
        Action::Adopt,
        "adopt",
        &["a"],
        &[Main],
        Group::Here,
        "adopt",
        "list sessions of this machine to adopt",
    ),
    info(
        Action::Filter,
        "filter",
        &["/"],
        &[Main, Adopt],
        Group::Here,
        "filter",
        "filter this list as you type",
    ),
    info(
        Action::OutOfStep,
        "out-of-step",
        &["!"],
        &[Main],
        Group::Here,
        "not in step",
        "show only pairs that are not in step",
    ),
    info(
        Action::Pause,
        "pause",
        &["space"],
        &[Main],
        Group::Here,
        "pause",
        "hold the picture; the engine goes on",
    ),
    info(Action::Follow, "follow", &["f"], &[Main], Group::Here, "", "follow the newest event"),
    info(
        Action::Order,
        "order",
        &["o"],
        &[Main],
        Group::Here,
        "",
        "sort by key, by activity, by what is owed",
    ),
    info(
        Action::Tick,
        "tick",
        &["t"],
        &[Main],
        Group::Here,
        "tick",
        "look at all adopted sessions now",
    ),
    info(
        Action::Older,
        "older",
        &["["],
        &[Delta],
        Group::Here,
        "older",
        "start from an older version",
    ),
    info(
        Action::Newer,
        "newer",
        &["]"],
        &[Delta],
        Group::Here,
        "newer",
        "start from a newer version",
    ),
    info(
        Action::Version,
        "version",
        &["v"],
        &[Delta],
        Group::Here,
        "version",
        "type the version (a digit starts, too)",
    ),
    info(
        Action::NextPage,
        "next-page",
        &["n"],
        &[Delta],
        Group::Here,
        "next page",
        "next page of a long delta",
    ),
    info(
        Action::PreviousPage,
        "previous-page",
        &["p"],
        &[Delta],
        Group::Here,
        "",
        "previous page of a long delta",
    ),
    info(Action::Reload, "reload", &["r"], &[Delta, Adopt], Group::Here, "reload", "ask again"),
    info(
        Action::Copy,
        "copy",
        &["y"],
        LISTS,
        Group::Here,
        "copy",
        "copy the key, notice or call (OSC 52)",
    ),
    info(
        Action::Problems,
        "problems",
        &["p"],
        &[Main],
        Group::Here,
        "",
        "list what failed since the start",
    ),
    info(Action::Up, "up", &["k", "up"], EVERYWHERE, Group::Move, "", "up"),
    info(Action::Down, "down", &["j", "down"], EVERYWHERE, Group::Move, "", "down"),
    info(Action::HalfUp, "half-up", &["ctrl-u"], VIEWS, Group::Move, "", "half a page up"),
    info(Action::HalfDown, "half-down", &["ctrl-d"], VIEWS, Group::Move, "", "half a page down"),
    info(Action::PageUp, "page-up", &["pgup"], VIEWS, Group::Move, "", "a page up"),
    info(Action::PageDown, "page-down", &["pgdn"], VIEWS, Group::Move, "", "a page down"),
    info(Action::Top, "top", &["g", "home"], VIEWS, Group::Move, "", "first row"),
    info(Action::Bottom, "bottom", &["G", "end"], VIEWS, Group::Move, "", "last row"),
    info(
        Action::Left,
        "left",
        &["h", "left"],
        &[Main],
        Group::Move,
        "",
        "fold the branch, or the pane before",
    ),
    info(
        Action::Right,
        "right",
        &["l", "right"],
        &[Main],
        Group::Move,
        "",
        "unfold the branch, or the next pane",
    ),
    info(Action::NextPane, "next-pane", &["tab"], &[Main], Group::Move, "pane", "next pane"),
    info(
        Action::PreviousPane,
        "previous-pane",
        &["shift-tab"],
        &[Main],
        Group::Move,
        "",
        "pane before",
    ),
    info(
        Action::Accept,
        "accept",
        &["enter"],
        &[Field],
        Group::Here,
        "keep",
        "keep what was typed",
    ),
    info(Action::Back, "back", &["esc"], EVERYWHERE, Group::Program, "", "back; clear the filter"),
    info(Action::Help, "help", &["?"], VIEWS, Group::Program, "help", "this page"),
    info(
        Action::Redraw,
        "redraw",
        &["ctrl-l"],
        EVERYWHERE,
        Group::Program,
        "",
        "draw the screen anew",
    ),
    info(
        Action::Suspend,
        "suspend",
        &["ctrl-z"],
        EVERYWHERE,
        Group::Program,
        "",
        "suspend; fg comes back",
    ),
    info(Action::Quit, "quit", &["q"], VIEWS, Group::Program, "quit", "quit (Ctrl-c always works)"),
];
