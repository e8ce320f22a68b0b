//! The looks that mean something, at each number of colours that a terminal may have: a table of what is shown and how.

use ratatui::buffer::Cell;
use ratatui::style::{Color, Modifier};
use tidings::engine::live::Reply;
use tidings::engine::snapshot::{Role, Source};
use tidings::event::{Changes, EventKind};
use tidings::ui::message::Message;
use tidings::ui::theme::{Depth, Theme};

use crate::exact;
use crate::harness::{LARGE, Screen};
use crate::world::{World, event, listing, reply};

/// A meaning. [`LOOKS`] says how each looks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Meaning {
    Good,
    Active,
    Warn,
    Bad,
    Own,
    Aside,
    Selected,
    SelectedElsewhere,
    Matched,
    Changed,
    Focused,
}

use Meaning::{
    Active, Aside, Bad, Changed, Focused, Good, Matched, Own, Selected, SelectedElsewhere, Warn,
};

/// The colour of the text, that below it, and the modifiers.
type Look = (Color, Color, Modifier);

/// All colours, 256, 16, the theme for dark terminals, that for light ones, and no colour.
const LEVELS: usize = 6;

fn themes() -> [(&'static str, Theme); LEVELS] {
    let colour_blind = |depth| Theme::load("colour-blind", None, depth).unwrap();
    [
        ("all colours", colour_blind(Depth::True)),
        ("256 colours", colour_blind(Depth::Indexed)),
        ("16 colours", colour_blind(Depth::Sixteen)),
        ("dark", Theme::dark()),
        ("light", Theme::light()),
        ("no colour", Theme::mono()),
    ]
}

const NONE: Modifier = Modifier::empty();
const BOLD: Modifier = Modifier::BOLD;
const LINE: Modifier = Modifier::UNDERLINED;

const fn text(color: Color, modifier: Modifier) -> Look {
    (color, Color::Reset, modifier)
}

/// How each meaning looks at each level.
fn looks(meaning: Meaning) -> [Look; LEVELS] {
    use Color::{
        Blue, Cyan, DarkGray, Green, Indexed, LightCyan, LightMagenta, LightRed, LightYellow,
        Magenta, Red, Reset, Rgb, White, Yellow,
    };
    /// One colour of each of the first five levels with the same modifiers, and the modifiers of the last.
    fn all(colors: [Color; 5], modifier: Modifier, without: Modifier) -> [Look; LEVELS] {
        std::array::from_fn(|at| match colors.get(at) {
            Some(color) => text(*color, modifier),
            None => text(Reset, without),
        })
    }
    let bold_line = BOLD.union(LINE);
    match meaning {
        Good => all([Rgb(86, 180, 233), Indexed(74), LightCyan, Green, Green], NONE, NONE),
        Active => all([Rgb(240, 228, 66), Indexed(221), LightYellow, Cyan, Blue], NONE, NONE),
        Warn => {
            let colors = [Rgb(230, 159, 0), Indexed(178), Yellow, Yellow, Magenta];
            let mut looks = all(colors, BOLD, BOLD);
            looks[3].2 = NONE;
            looks[4].2 = NONE;
            looks
        }
        Bad => {
            let colors = [Rgb(213, 94, 0), Indexed(166), LightRed, LightRed, Red];
            let mut looks = all(colors, bold_line, bold_line);
            looks[3].2 = BOLD;
            looks[4].2 = BOLD;
            looks
        }
        Own => {
            let colors = [Rgb(204, 121, 167), Indexed(175), LightMagenta, LightMagenta, Cyan];
            let mut looks = all(colors, NONE, BOLD);
            looks[4].2 = BOLD;
            looks
        }
        Aside => all([DarkGray; 5], NONE, Modifier::DIM),
        Selected => {
            let mut looks = [(White, Blue, BOLD); LEVELS];
            looks[5] = (Reset, Reset, Modifier::REVERSED);
            looks
        }
        SelectedElsewhere => all([Reset; 5], BOLD, BOLD),
        Matched => all([Magenta, Magenta, Magenta, Magenta, Red], bold_line, bold_line),
        Changed => all([White, White, White, LightYellow, Magenta], BOLD, BOLD),
        Focused => all([Cyan, Cyan, Cyan, Cyan, Blue], BOLD, BOLD.union(Modifier::REVERSED)),
    }
}

/// What is shown: where it is found, and what it means.
struct Shown {
    /// What stands directly before it.
    before: &'static str,
    text: &'static str,
    meaning: Meaning,
    /// What says the same without a colour, in the same row.
    sign: &'static str,
}

const fn shown(text: &'static str, meaning: Meaning, sign: &'static str) -> Shown {
    Shown { before: "", text, meaning, sign }
}

/// A screen, and what is shown there.
type Scene = (&'static str, fn(Theme) -> Screen, Vec<Shown>);

fn team(theme: Theme) -> Screen {
    let mut screen = Screen::new(LARGE, theme);
    screen.send(Message::Snapshot(World::team().build()));
    screen
}

/// The team after `keys`, with everything answered that was asked.
fn after(theme: Theme, keys: &str) -> Screen {
    let mut screen = team(theme);
    screen.press(keys);
    screen.answer_all();
    screen
}

/// The team as another process sees it.
fn seen_by(theme: Theme, adjust: impl FnOnce(&mut World)) -> Screen {
    let mut world = World::team();
    adjust(&mut world);
    let mut screen = Screen::new(LARGE, theme);
    screen.send(Message::Snapshot(world.build()));
    screen
}

/// The changes of the selected session.
fn changes(theme: Theme, result: Result<Changes, String>) -> Screen {
    let mut screen = team(theme);
    screen.press("<enter>");
    screen.answer(result.map(Reply::Changes));
    screen
}

fn panes() -> Vec<Scene> {
    vec![
        (
            "header",
            team,
            vec![
                shown("● owner", Good, "●"),
                Shown { before: "pending ", text: "6", meaning: Active, sign: "pending" },
                shown("■ 1 stopped", Bad, "■"),
                shown("▲ 1 stalled", Bad, "▲"),
                shown("✗ 1 gap", Bad, "✗"),
                shown("↺ 1 rewound", Warn, "↺"),
                shown("? 1 unknown", Warn, "?"),
                shown("◷ 1 expiring", Warn, "◷"),
                shown("⊘ 1 unnotifiable", Aside, "⊘"),
                shown("◐ 1 interleaved", Active, "◐"),
                shown("● 1 pending", Active, "●"),
                shown("○ 1 pending, quiet", Aside, "○"),
            ],
        ),
        (
            "sessions",
            |theme| after(theme, "G"),
            vec![
                shown("✗ blocked", Bad, "✗"),
                shown("! missing 2/3", Warn, "!"),
                shown("✉2", Own, "✉"),
                shown("●2", Active, "●"),
                shown("you ", Own, "you"),
                shown("global @ops", Selected, "▌"),
                shown("Sessions 10", Focused, "Sessions"),
            ],
        ),
        (
            "watches",
            |theme| after(theme, "/main:main<enter><esc><tab>"),
            vec![
                shown("1912 ┄ 1914 ┄ 1941", Active, "┄"),
                shown("◐ interleaved", Active, "◐"),
                shown("✓ in step", Good, "✓"),
                shown("▲ stalled", Bad, "▲"),
                shown("⊘ unnotifiable", Aside, "⊘"),
                shown("Watches of agent:main:main", Focused, "Watches"),
                Shown {
                    before: "▏▾ ",
                    text: "agent:main:main",
                    meaning: SelectedElsewhere,
                    sign: "▏",
                },
            ],
        ),
        (
            "watches of one with a gap",
            |theme| after(theme, "/migrations<enter><esc>"),
            vec![shown("✗ gap", Bad, "✗"), shown("codex:01j9zq4m…  migrations", Selected, "▌")],
        ),
        (
            "a pane without the keyboard",
            |theme| after(theme, "<tab>"),
            vec![
                shown("claude:0b9d8c7a…  docs", SelectedElsewhere, "▏"),
                shown("◷ expiring", Selected, "▌"),
            ],
        ),
        (
            "notices",
            |theme| after(theme, "<tab><tab>"),
            vec![
                shown("wake in 8 s", Selected, "▌"),
                Shown { before: "", text: "skipped: no-handler", meaning: Warn, sign: "skipped" },
            ],
        ),
        (
            "filter",
            |theme| after(theme, "/child-b<enter>"),
            vec![shown("child-b", Matched, "/child-b")],
        ),
    ]
}

fn views() -> Vec<Scene> {
    vec![
        (
            "all in step",
            |theme| {
                let mut screen = Screen::new(LARGE, theme);
                screen.send(Message::Snapshot(World::empty().build()));
                screen.press("!");
                screen
            },
            vec![shown("✓ every pair is in step", Good, "✓")],
        ),
        (
            "upstream",
            |theme| after(theme, "uG"),
            vec![
                shown("✗ blocked: row of", Bad, "✗"),
                shown("● activity", Active, "●"),
                shown("! missing 2/3", Warn, "!"),
                shown("✓ quiet", Selected, "▌"),
            ],
        ),
        ("queue", |theme| after(theme, "Q"), vec![shown("! skipped: no-handler", Warn, "!")]),
        (
            "storage",
            |theme| {
                let mut screen = after(theme, "s");
                screen.press("j");
                screen
            },
            vec![shown("████████░░  82 %", Warn, "█"), shown("1230 ms", Warn, "lock wait")],
        ),
        (
            "findings",
            |theme| after(theme, "Fj"),
            vec![
                shown("▲ stalled", Bad, "▲"),
                shown("✗ gap", Bad, "✗"),
                shown("◷ expiring", Warn, "◷"),
                shown("! bare-watchers", Warn, "!"),
                shown("■ stopped", Selected, "▌"),
            ],
        ),
        (
            "explain",
            |theme| after(theme, "<tab>/ops<enter>e"),
            vec![shown("▶ coalesced #1,941", Active, "▶")],
        ),
        (
            "graph",
            |theme| after(theme, "g/main:main<enter>"),
            vec![
                shown("■242▶", Bad, "■"),
                shown("✗999+▶", Bad, "✗"),
                shown("▲21▶", Bad, "▲"),
                shown("↺▶", Warn, "↺"),
                shown("◷▶", Warn, "◷"),
                shown("◐29▶", Active, "◐"),
                shown("✓▶", Good, "✓"),
                shown("⊘▶", Aside, "⊘"),
                shown("subagent:child-a", Active, "●1"),
                shown("agent:main:main  v1911", Selected, "agent:main:main  v1911"),
            ],
        ),
    ]
}

fn news() -> Vec<Scene> {
    vec![
        (
            "another owner, overdue",
            |theme| {
                seen_by(theme, |world| {
                    world.snapshot.role = Role::Viewer { owner: Some(4711) };
                    world.snapshot.pulse.overdue = true;
                })
            },
            vec![shown("○ viewer of 4711", Active, "○"), shown("? tick overdue", Warn, "?")],
        ),
        (
            "attached",
            |theme| {
                seen_by(theme, |world| {
                    world.snapshot.source = Source::Attached { path: "/srv/state.sqlite".into() };
                })
            },
            vec![shown("○ attached, read-only", Active, "○")],
        ),
        (
            "engine gone",
            |theme| {
                let mut screen = team(theme);
                screen.send(Message::EngineGone);
                screen
            },
            vec![shown("✗ engine stopped", Bad, "✗")],
        ),
        (
            "a problem",
            |theme| {
                let mut screen = team(theme);
                screen.send(Message::Snapshot(World::team().with_problem().build()));
                screen
            },
            vec![shown("✗ 1 problem", Bad, "✗"), shown("✗ appending", Bad, "✗")],
        ),
        (
            "a notice for you",
            |theme| {
                let mut screen = team(theme);
                let news = World::team_with_a_notice_for_the_operator();
                screen.send(Message::Snapshot(news.build()));
                screen
            },
            vec![
                shown("▶ notice for you: claude:7f3a1c2e…  ", Own, "▶"),
                shown("▶ notice for you: claude:7f3a1c2e… changed", Active, "▶"),
            ],
        ),
        (
            "the operator's notices",
            |theme| {
                let mut screen = Screen::new(LARGE, theme);
                screen
                    .send(Message::Snapshot(World::team_with_a_notice_for_the_operator().build()));
                screen
            },
            vec![shown("waits for you", Own, "you")],
        ),
        (
            "an overdue tick among the links",
            |theme| {
                let mut screen = seen_by(theme, |world| world.snapshot.pulse.overdue = true);
                screen.press("u");
                screen.answer_all();
                screen
            },
            vec![shown("? OVERDUE", Warn, "?")],
        ),
        (
            "changed",
            |theme| {
                let mut screen = team(theme);
                let b = "agent:main:subagent:child-b";
                let changed =
                    World::team().event(event(1950, b, EventKind::GoalChanged, 0), [1, 0, 0]);
                screen.send(Message::Snapshot(changed.build()));
                screen
            },
            vec![shown("v1950", Changed, "v1950"), shown("12:03:44     #1,950", Changed, "#1,950")],
        ),
        ("held", |theme| after(theme, " "), vec![shown("paused at #1942", Warn, "paused")]),
        (
            "the past",
            |theme| after(theme, "<lt>"),
            vec![shown("◀◀ REWOUND to #1,917", Warn, "◀◀"), shown("✓ the state after", Good, "✓")],
        ),
    ]
}

fn answers() -> Vec<Scene> {
    vec![
        ("exact", |theme| changes(theme, Ok(exact())), vec![shown("✓ EXACT", Good, "✓")]),
        (
            "gap",
            |theme| changes(theme, Ok(Changes { history_gap: true, ..exact() })),
            vec![shown("✗ HISTORY GAP", Bad, "✗")],
        ),
        (
            "truncated",
            |theme| changes(theme, Ok(Changes { truncated: true, ..exact() })),
            vec![shown("! TRUNCATED", Warn, "!")],
        ),
        (
            "no changes to be had",
            |theme| changes(theme, Err("it is locked".into())),
            vec![shown("✗ FAILED", Bad, "✗")],
        ),
        (
            "adopted",
            |theme| {
                let mut screen = team(theme);
                screen.press("a");
                screen.answer(Ok(Reply::Catalog(listing())));
                screen.press("<enter>j");
                let (ticket, request) = screen.asked.pop().unwrap();
                screen.send(Message::Answer(ticket, Ok(reply(&request))));
                screen
            },
            vec![shown("✓ yours", Good, "✓"), shown("✓ adopted", Good, "✓")],
        ),
        (
            "no catalog",
            |theme| {
                let mut screen = team(theme);
                screen.press("a");
                screen.answer(Err("listing failed".into()));
                screen
            },
            vec![shown("✗ listing failed", Bad, "✗")],
        ),
    ]
}

fn scenes() -> impl Iterator<Item = Scene> {
    [panes(), views(), news(), answers()].into_iter().flatten()
}

fn look(cell: &Cell) -> Look {
    (cell.fg, cell.bg, cell.modifier)
}

#[test]
fn what_means_something_looks_so_at_each_level_and_has_a_sign() {
    for (at, (level, theme)) in themes().into_iter().enumerate() {
        for (scene, make, all) in scenes() {
            let screen = make(theme.clone());
            for Shown { before, text, meaning, sign } in all {
                let (cell, row) = screen.find(before, text);
                let (fg, bg, modifier) = looks(meaning)[at];
                let found = look(&cell);
                let place = format!("{scene}, {level}: {text:?} means {meaning:?}");
                assert_eq!((found.0, found.1), (fg, bg), "{place}");
                assert!(found.2.contains(modifier), "{place}: {:?}", found.2);
                // A row that is bold or under a line for another reason would hide a modifier that is missing elsewhere.
                let is_marked = matches!(meaning, Selected | SelectedElsewhere | Changed);
                assert!(is_marked || found.2 == modifier, "{place}: {:?}", found.2);
                assert!(row.contains(sign), "{place}: no {sign:?} in {row:?}");
            }
        }
    }
}

/// A colour alone tells these apart nowhere, but where there are colours, it tells them apart as well.
#[test]
fn meanings_do_not_share_a_look_where_there_are_colours() {
    let meanings = [Good, Active, Warn, Bad, Own, Aside, Matched, Changed];
    for (at, (level, _)) in themes().into_iter().enumerate().take(LEVELS - 1) {
        for (n, one) in meanings.into_iter().enumerate() {
            for other in &meanings[n + 1..] {
                assert_ne!(looks(one)[at], looks(*other)[at], "{level}: {one:?}, {other:?}");
            }
        }
    }
}

#[test]
fn the_words_of_a_screen_are_the_same_at_each_level() {
    let texts = |theme: &Theme| -> Vec<String> {
        scenes().map(|(_, make, _)| make(theme.clone()).text()).collect()
    };
    let [(_, first), others @ ..] = themes();
    let wanted = texts(&first);
    for (level, theme) in others {
        assert_eq!(texts(&theme), wanted, "{level}");
    }
}
