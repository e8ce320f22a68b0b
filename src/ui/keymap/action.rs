//! Actions as data: what can be done, where, by which keys, and how the help and the palette word it.

use Context::{
    Adopt, Delta, Explain, Field, Findings, Graph, Main, Page, Queue, Storage, Upstream,
};

/// Where keys are pressed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Context {
    /// The main view.
    Main,
    /// The changes of one session.
    Delta,
    /// The foreign sessions that can be adopted.
    Adopt,
    /// The links to foreign sessions.
    Upstream,
    /// What waits, and the wakes.
    Queue,
    /// How full the state database is.
    Storage,
    /// The pairs that need a look.
    Findings,
    /// The story of one pair.
    Explain,
    /// All watches as a graph.
    Graph,
    /// A page over the view: the help or the problems.
    Page,
    /// A text field: characters go into it.
    Field,
}

impl Context {
    /// What the view is called, for people.
    pub fn title(self) -> &'static str {
        match self {
            Main => "main view",
            Delta => "changes",
            Adopt => "catalog",
            Upstream => "upstream",
            Queue => "queue",
            Storage => "storage",
            Findings => "findings",
            Explain => "explain",
            Graph => "graph",
            Page => "page",
            Field => "field",
        }
    }

    /// Its name where room is short.
    pub(crate) fn short_title(self) -> &'static str {
        if matches!(self, Main) { "main" } else { self.title() }
    }
}

/// A heading of the help.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Group {
    /// What this view is for.
    Here,
    /// The other views.
    Views,
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
    /// Its name in the config file and in the palette.
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

const EVERYWHERE: &[Context] =
    &[Main, Delta, Adopt, Upstream, Queue, Storage, Findings, Explain, Graph, Page, Field];
const VIEWS: &[Context] =
    &[Main, Delta, Adopt, Upstream, Queue, Storage, Findings, Explain, Graph, Page];
const LISTS: &[Context] = &[Main, Delta, Adopt, Upstream, Queue, Storage, Findings, Explain, Graph];
/// All but the main view, where `g` opens the graph.
const BEHIND: &[Context] =
    &[Delta, Adopt, Upstream, Queue, Storage, Findings, Explain, Graph, Page];
const SORTED: &[Context] = &[Main, Upstream, Queue, Storage, Findings];
const FILTERED: &[Context] = &[Main, Adopt, Upstream, Queue, Storage, Findings, Explain, Graph];

/// Makes the actions and their table, in the order in which the help, the palette and the bottom line show them.
macro_rules! actions {
    ($($action:ident $name:literal $keys:tt in $contexts:expr, $group:ident $hint:literal $description:literal;)*) => {
        /// What a key can do.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum Action { $(#[doc = $description] $action,)* }

        /// Every action.
        pub const ACTIONS: &[ActionInfo] = &[$(ActionInfo {
            action: Action::$action,
            name: $name,
            description: $description,
            hint: $hint,
            keys: &$keys,
            contexts: $contexts,
            group: Group::$group,
        },)*];
    };
}

actions! {
    Delta "delta" ["enter"] in &[Main, Upstream, Queue, Findings, Explain, Graph], Here "delta" "show what changed since last seen";
    Acknowledge "acknowledge" ["enter"] in &[Delta], Here "acknowledge" "mark as read up to the version shown";
    AdoptThis "adopt-this" ["enter"] in &[Adopt], Here "adopt and watch" "adopt this session and watch it";
    AdoptOnly "adopt-only" ["A"] in &[Adopt], Here "adopt" "adopt this session; nobody watches it yet";
    Explain "explain" ["e"] in &[Main, Queue, Findings, Graph], Here "explain" "tell the story of this watch";
    Watch "watch" ["w"] in &[Main, Delta, Upstream, Graph], Here "watch" "watch this session as yourself, or stop";
    Tick "tick" ["t"] in &[Main, Upstream], Here "tick" "look at all adopted sessions now";
    Forget "forget" ["D"] in &[Upstream], Here "forget" "forget this source; the session stays";
    Filter "filter" ["/"] in FILTERED, Here "filter" "filter this list as you type";
    OutOfStep "out-of-step" ["!"] in &[Main, Graph], Here "not in step" "show only pairs that are not in step";
    Pause "pause" ["space"] in &[Main], Here "pause" "hold the picture; the engine goes on";
    RewindBack "rewind-back" ["<"] in &[Main, Graph], Here "rewind" "one event back in time";
    RewindForward "rewind-forward" [">"] in &[Main, Graph], Here "" "one event forward in time";
    RewindFarBack "rewind-far-back" ["{"] in &[Main, Graph], Here "" "25 events back in time";
    RewindFarForward "rewind-far-forward" ["}"] in &[Main, Graph], Here "" "25 events forward in time";
    Follow "follow" ["f"] in &[Main], Here "" "follow the newest event; live again";
    Sort "sort" ["o"] in SORTED, Here "" "sort by the next column";
    SortReverse "sort-reverse" ["O"] in SORTED, Here "" "turn the order round";
    Zoom "zoom" ["z"] in &[Main], Here "" "this pane at full size, or all panes";
    Level "level" ["z"] in &[Graph], Here "level" "next level: full, compact, dots";
    Ego "ego" ["i"] in &[Graph], Here "ego view" "only what is near the selected session, or all";
    Shallower "shallower" ["["] in &[Graph], Here "" "one step fewer around the session";
    Deeper "deeper" ["]"] in &[Graph], Here "" "one step more around the session";
    NextMatch "next-match" ["n"] in &[Graph], Here "" "jump to the next match";
    PreviousMatch "previous-match" ["N"] in &[Graph], Here "" "jump to the match before";
    Export "export" ["d"] in &[Graph], Here "export" "copy the graph as DOT (OSC 52)";
    Save "save" ["S"] in &[Delta, Graph], Here "save" "write the graph (DOT) or the changes (JSON) to a file";
    Older "older" ["["] in &[Delta], Here "older" "start from an older version";
    Newer "newer" ["]"] in &[Delta], Here "newer" "start from a newer version";
    Version "version" ["v"] in &[Delta], Here "version" "type the version (a digit starts, too)";
    NextPage "next-page" ["n"] in &[Delta], Here "next page" "next page of a long delta";
    PreviousPage "previous-page" ["p"] in &[Delta], Here "" "previous page of a long delta";
    Reload "reload" ["r"] in &[Delta, Adopt, Upstream, Queue, Storage, Explain], Here "reload" "ask again";
    Copy "copy" ["y"] in LISTS, Here "copy" "copy the key, notice or call (OSC 52)";
    CopyJson "copy-json" ["Y"] in &[Delta], Here "" "copy the changes as JSON (OSC 52)";
    Problems "problems" ["p"] in &[Main], Here "" "list what failed since the start";
    Graph "graph" ["g"] in &[Main], Views "graph" "all watches as a graph";
    Adopt "adopt" ["a", "c"] in &[Main, Upstream, Queue, Storage, Findings], Views "adopt" "list sessions of this machine to adopt";
    Upstream "upstream" ["u"] in LISTS, Views "" "links to foreign sessions";
    Queue "queue" ["Q"] in LISTS, Views "" "what waits for whom, and the wakes";
    Storage "storage" ["s"] in LISTS, Views "" "how full the state database is";
    Findings "findings" ["F"] in LISTS, Views "" "pairs that need a look, by rule";
    Palette "palette" [":"] in LISTS, Views "all actions" "all actions by name";
    Up "up" ["k", "up"] in EVERYWHERE, Move "" "up";
    Down "down" ["j", "down"] in EVERYWHERE, Move "" "down";
    HalfUp "half-up" ["ctrl-u"] in VIEWS, Move "" "half a page up";
    HalfDown "half-down" ["ctrl-d"] in VIEWS, Move "" "half a page down";
    PageUp "page-up" ["pgup"] in VIEWS, Move "" "a page up";
    PageDown "page-down" ["pgdn"] in VIEWS, Move "" "a page down";
    Top "top" ["home"] in VIEWS, Move "" "first row";
    TopToo "top-too" ["g g"] in BEHIND, Move "" "first row";
    Bottom "bottom" ["G", "end"] in VIEWS, Move "" "last row";
    Left "left" ["h", "left"] in &[Main, Graph], Move "" "fold the branch, or go to the left";
    Right "right" ["l", "right"] in &[Main, Graph], Move "" "unfold the branch, or go to the right";
    PanLeft "pan-left" ["H", "alt-left"] in &[Graph], Move "" "move the window to the left";
    PanDown "pan-down" ["J", "alt-down"] in &[Graph], Move "" "move the window down";
    PanUp "pan-up" ["K", "alt-up"] in &[Graph], Move "" "move the window up";
    PanRight "pan-right" ["L", "alt-right"] in &[Graph], Move "" "move the window to the right";
    NextPane "next-pane" ["tab"] in &[Main], Move "pane" "next pane";
    PreviousPane "previous-pane" ["shift-tab"] in &[Main], Move "" "pane before";
    Accept "accept" ["enter"] in &[Field], Here "keep" "keep what was typed";
    Back "back" ["esc"] in EVERYWHERE, Program "" "back; clear the filter";
    Help "help" ["?"] in VIEWS, Program "help" "this page";
    Redraw "redraw" ["ctrl-l"] in EVERYWHERE, Program "" "draw the screen anew";
    Suspend "suspend" ["ctrl-z"] in EVERYWHERE, Program "" "suspend; fg comes back";
    Quit "quit" ["q"] in VIEWS, Program "quit" "quit (Ctrl-c always works)";
}
