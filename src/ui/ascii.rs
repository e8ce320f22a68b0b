//! For terminals and fonts that show ASCII only: each sign of the screen as one character that stands for it.

use ratatui::buffer::Buffer;

/// Signs, and what stands for them.
const STAND_INS: [(&str, char); 24] = [
    ("─┄━┅—−┈", '-'),
    ("═", '='),
    ("│┆┃┇║▏", '|'),
    ("┌┐└┘├┤┬┴┼┏┓┗┛┣┫┳┻╋╔╗╚╝╠╣╦╩╬┢┡┪┩┝┥┯┷┠┨┰┸╟╢╤╧", '+'),
    ("▶▸→▌›", '>'),
    ("◀←", '<'),
    ("▲↑", '^'),
    ("↓▾✓", 'v'),
    ("●◉", '*'),
    ("○", 'o'),
    ("◐", '%'),
    ("■█", '#'),
    ("✗×", 'x'),
    ("↺↻", '@'),
    ("◷…", '~'),
    ("⊘", '0'),
    ("✉", 'm'),
    ("░·▁", '.'),
    ("▂", ':'),
    ("▃", '-'),
    ("▄", '='),
    ("▅", '+'),
    ("▆", '*'),
    ("▇", '%'),
];

/// Replaces whatever is no ASCII; what has no stand-in becomes a question mark.
pub(super) fn fold(buffer: &mut Buffer) {
    for cell in &mut buffer.content {
        if !cell.symbol().is_ascii() {
            let stand_in = stand_in(cell.symbol());
            cell.set_char(stand_in);
        }
    }
}

fn stand_in(symbol: &str) -> char {
    STAND_INS.iter().find(|(signs, _)| signs.contains(symbol)).map_or('?', |(_, c)| *c)
}

/// Whether text has to be ASCII, as the locale says: `LC_ALL` before `LC_CTYPE` before `LANG`. Without any of them, a terminal
/// of today is taken to show Unicode.
pub fn is_asked_for(variable: impl Fn(&str) -> Option<String>) -> bool {
    let locale = ["LC_ALL", "LC_CTYPE", "LANG"]
        .into_iter()
        .filter_map(variable)
        .find(|value| !value.is_empty());
    locale.is_some_and(|locale| {
        let locale = locale.to_ascii_lowercase();
        !locale.contains("utf-8") && !locale.contains("utf8")
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ui::theme::sign;
    use crate::watch::Condition;

    #[test]
    fn the_signs_of_the_conditions_stay_apart() {
        let signs: std::collections::HashSet<char> = Condition::ALL
            .into_iter()
            .map(|condition| {
                let sign = sign(condition);
                if sign.is_ascii() { '?' } else { stand_in(sign) }
            })
            .collect();
        assert_eq!(signs.len(), Condition::ALL.len());
    }

    #[test]
    fn the_locale_decides() {
        let ask = |pairs: &'static [(&str, &str)]| {
            is_asked_for(|name| {
                pairs.iter().find(|(other, _)| *other == name).map(|(_, value)| (*value).to_owned())
            })
        };
        assert!(ask(&[("LANG", "C")]) && ask(&[("LC_ALL", "POSIX"), ("LANG", "en_US.UTF-8")]));
        assert!(!ask(&[]) && !ask(&[("LANG", "de_DE.utf8")]) && !ask(&[("LC_CTYPE", "C.UTF-8")]));
    }
}
