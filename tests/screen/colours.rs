//! Colours where they mean something, and none where there must be none.

use ratatui::style::{Color, Modifier};
use tidings::engine::live::{Reply, Request};
use tidings::event::{Changes, EventKind};
use tidings::ui::message::{Effect, Message};
use tidings::ui::theme::Theme;
use tidings::ui::update::update;

use crate::harness::{LARGE, SMALL, Screen};
use crate::world::{World, event, listing};
use crate::{delta, exact, team};

#[test]
fn each_condition_has_its_colour_and_its_sign() {
    let mut screen = team(LARGE);
    let colour = |screen: &Screen, needle: &str| screen.cell(needle).fg;
    assert_eq!(colour(&screen, "■ 1 stopped"), Color::LightRed);
    assert_eq!(colour(&screen, "▲ 1 stalled"), Color::LightRed);
    assert_eq!(colour(&screen, "✗ 1 gap"), Color::LightRed);
    assert_eq!(colour(&screen, "↺ 1 rewound"), Color::Yellow);
    assert_eq!(colour(&screen, "? 1 unknown"), Color::Yellow);
    assert_eq!(colour(&screen, "◷ 1 expiring"), Color::Yellow);
    assert_eq!(colour(&screen, "⊘ 1 unnotifiable"), Color::DarkGray);
    assert_eq!(colour(&screen, "◐ 1 interleaved"), Color::Cyan);
    assert_eq!(colour(&screen, "● 1 pending"), Color::Cyan);
    assert_eq!(colour(&screen, "○ 1 pending, quiet"), Color::DarkGray);
    screen.press("/main:main<enter>");
    assert_eq!(colour(&screen, "✓ in step"), Color::Green);
    assert_eq!(colour(&screen, "▲ stalled"), Color::LightRed);
    assert_eq!(colour(&screen, "◐ interleaved"), Color::Cyan);
}

#[test]
fn colours_of_outcomes_banners_and_the_operator() {
    let mut screen = team(LARGE);
    screen.press("G");
    assert_eq!(screen.cell("✗ blocked").fg, Color::LightRed);
    assert_eq!(screen.cell("! missing 2/3").fg, Color::Yellow);
    assert_eq!(screen.cell("you").fg, Color::LightMagenta);
    assert_eq!(delta(LARGE, exact()).cell("✓ EXACT").fg, Color::Green);
    let gap = delta(LARGE, Changes { history_gap: true, ..exact() });
    assert_eq!(gap.cell("✗ HISTORY GAP").fg, Color::LightRed);
    let long = delta(LARGE, Changes { truncated: true, ..exact() });
    assert_eq!(long.cell("! TRUNCATED").fg, Color::Yellow);
}

#[test]
fn the_pane_with_the_keyboard_stands_out() {
    let mut screen = team(LARGE);
    assert_eq!(screen.cell("Sessions 10").fg, Color::Cyan);
    assert_eq!(screen.cell("Pending notices").fg, Color::Reset);
    screen.press("<tab><tab>");
    assert_eq!(screen.cell("Sessions 10").fg, Color::Reset);
    assert_eq!(screen.cell("Pending notices").fg, Color::Cyan);
    assert_eq!(screen.cell("wake in 8 s").bg, Color::Blue);
}

#[test]
fn what_a_filter_matched_stands_out() {
    let mut screen = team(LARGE);
    screen.press("/child-b<enter>");
    let matched = screen.cell("child-b");
    assert!(matched.modifier.contains(Modifier::UNDERLINED));
}

#[test]
fn changed_rows_flash_and_calm_down() {
    let mut screen = team(LARGE);
    let b = "agent:main:subagent:child-b";
    let changed = World::team().event(event(1950, b, EventKind::GoalChanged, 0), [1, 0, 0]);
    let mut timers = Vec::new();
    for effect in update(&mut screen.model, Message::Snapshot(changed.build())) {
        if let Effect::After(_, timer) = effect {
            timers.push(timer);
        }
    }
    assert_eq!(screen.cell("v1950").fg, Color::LightYellow);
    assert_eq!(screen.cell("12:03:44     #1,950").fg, Color::LightYellow);
    for timer in timers {
        screen.send(Message::Timer(timer));
    }
    assert_eq!(screen.cell("v1950").fg, Color::Reset);
}

/// Every screen that the colour tests look at.
fn gallery(theme: &Theme) -> Vec<Screen> {
    let mut screens = Vec::new();
    for size in [LARGE, SMALL, (40, 10), (30, 8)] {
        let keys = [
            "",
            "/child",
            "/child<enter>",
            "<tab>j",
            "<tab><tab>j",
            "<tab><tab><tab>k",
            "!",
            " ",
            "?",
            "p",
            "a",
            "<enter>",
        ];
        for keys in keys {
            let mut screen = Screen::new(size, theme.clone());
            screen.send(Message::Snapshot(World::team().with_problem().build()));
            let news = World::team_with_a_notice_for_the_operator().with_problem();
            screen.send(Message::Snapshot(news.build()));
            screen.press(keys);
            if let Some((_, request)) = screen.asked.last() {
                let reply = match request {
                    Request::Catalog => Reply::Catalog(listing()),
                    _ => Reply::Changes(Changes { history_gap: true, ..exact() }),
                };
                screen.answer(Ok(reply));
            }
            screens.push(screen);
        }
    }
    screens
}

#[test]
fn without_colour_no_cell_has_one_and_the_selection_still_shows() {
    for screen in gallery(&Theme::mono()) {
        let buffer = screen.buffer();
        for cell in buffer.content() {
            assert_eq!((cell.fg, cell.bg), (Color::Reset, Color::Reset), "{}", screen.text());
        }
    }
    let mut screen = Screen::new(SMALL, Theme::mono());
    screen.send(Message::Snapshot(World::team().build()));
    assert!(screen.cell("claude:0b9d8c7a…").modifier.contains(Modifier::REVERSED));
    assert!(screen.text().contains("▌"));
}

#[test]
fn colours_change_nothing_but_colours() {
    let themes = [Theme::dark(), Theme::light(), Theme::mono()];
    let [dark, light, mono] = themes.map(|theme| gallery(&theme));
    for ((dark, light), mono) in dark.iter().zip(&light).zip(&mono) {
        assert_eq!(dark.text(), light.text());
        assert_eq!(dark.text(), mono.text());
    }
}

#[test]
fn no_outside_character_acts_on_the_terminal() {
    for size in [LARGE, SMALL, (40, 10)] {
        for keys in ["", "<enter>", "<tab>", "<tab><tab>", "<tab><tab><tab>", "/x", "?"] {
            let mut screen = Screen::of(size, World::hostile().build());
            screen.press(keys);
            for cell in screen.buffer().content() {
                let is_harmless = |c: char| {
                    !c.is_control()
                        && !matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
                };
                assert!(cell.symbol().chars().all(is_harmless), "{:?}", cell.symbol());
            }
        }
    }
}
