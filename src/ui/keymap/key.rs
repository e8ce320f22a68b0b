//! One key as it is written in the config file and shown in the help.

use std::fmt;

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

/// A key with its modifiers, in one spelling whatever the terminal reports.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Key {
    code: KeyCode,
    modifiers: KeyModifiers,
}

/// Keys that have a name: as written, the code, as shown.
const NAMED: [(&str, KeyCode, &str); 15] = [
    ("enter", KeyCode::Enter, "Enter"),
    ("esc", KeyCode::Esc, "Esc"),
    ("tab", KeyCode::Tab, "Tab"),
    ("shift-tab", KeyCode::BackTab, "Shift-Tab"),
    ("space", KeyCode::Char(' '), "Space"),
    ("backspace", KeyCode::Backspace, "Backspace"),
    ("delete", KeyCode::Delete, "Delete"),
    ("up", KeyCode::Up, "↑"),
    ("down", KeyCode::Down, "↓"),
    ("left", KeyCode::Left, "←"),
    ("right", KeyCode::Right, "→"),
    ("pgup", KeyCode::PageUp, "PgUp"),
    ("pgdn", KeyCode::PageDown, "PgDn"),
    ("home", KeyCode::Home, "Home"),
    ("end", KeyCode::End, "End"),
];

impl Key {
    /// Reads `text`: a character, a name such as `enter` or `f5`, either after `ctrl-` or `alt-`; `None` when it is
    /// neither.
    pub fn parse(text: &str) -> Option<Self> {
        if let Some((_, code, _)) = NAMED.iter().find(|(name, ..)| name.eq_ignore_ascii_case(text))
        {
            return Some(Self { code: *code, modifiers: KeyModifiers::NONE });
        }
        for (prefix, modifier) in [("ctrl-", KeyModifiers::CONTROL), ("alt-", KeyModifiers::ALT)] {
            if text.len() > prefix.len()
                && text.get(..prefix.len()).is_some_and(|head| head.eq_ignore_ascii_case(prefix))
            {
                let rest = Self::parse(&text[prefix.len()..])?;
                return Some(Self::normalised(rest.code, rest.modifiers | modifier));
            }
        }
        let mut characters = text.chars();
        match (characters.next(), characters.next()) {
            (Some(c), None) if !c.is_control() && !c.is_whitespace() => {
                Some(Self::normalised(KeyCode::Char(c), KeyModifiers::NONE))
            }
            _ => {
                let number = text.strip_prefix(['f', 'F'])?.parse::<u8>().ok()?;
                (1..=12)
                    .contains(&number)
                    .then_some(Self { code: KeyCode::F(number), modifiers: KeyModifiers::NONE })
            }
        }
    }

    /// The event that a terminal reports for it.
    pub fn event(self) -> KeyEvent {
        KeyEvent::new(self.code, self.modifiers)
    }

    /// The character that this key types into a field, if it does.
    pub fn typed(self) -> Option<char> {
        match self.code {
            KeyCode::Char(c) if self.modifiers.is_empty() => Some(c),
            _ => None,
        }
    }

    /// Terminals differ in whether they report Shift beside a capital letter or a sign: only the character counts. With
    /// Ctrl, letters have no case.
    fn normalised(code: KeyCode, modifiers: KeyModifiers) -> Self {
        let modifiers =
            modifiers & (KeyModifiers::CONTROL | KeyModifiers::ALT | KeyModifiers::SHIFT);
        match code {
            KeyCode::Char(c) if modifiers.contains(KeyModifiers::CONTROL) => Self {
                code: KeyCode::Char(c.to_ascii_lowercase()),
                modifiers: modifiers - KeyModifiers::SHIFT,
            },
            KeyCode::Char(_) | KeyCode::BackTab => {
                Self { code, modifiers: modifiers - KeyModifiers::SHIFT }
            }
            KeyCode::Tab if modifiers.contains(KeyModifiers::SHIFT) => {
                Self { code: KeyCode::BackTab, modifiers: modifiers - KeyModifiers::SHIFT }
            }
            _ => Self { code, modifiers },
        }
    }
}

impl From<KeyEvent> for Key {
    fn from(event: KeyEvent) -> Self {
        Self::normalised(event.code, event.modifiers)
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.modifiers.contains(KeyModifiers::CONTROL) {
            f.write_str("Ctrl-")?;
        }
        if self.modifiers.contains(KeyModifiers::ALT) {
            f.write_str("Alt-")?;
        }
        if let Some((_, _, shown)) = NAMED.iter().find(|(_, code, _)| *code == self.code) {
            return f.write_str(shown);
        }
        match self.code {
            KeyCode::Char(c) => f.write_str(&crate::visible::clean(c.encode_utf8(&mut [0; 4]))),
            KeyCode::F(number) => write!(f, "F{number}"),
            _ => f.write_str("?"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str) -> Option<String> {
        Key::parse(text).map(|key| key.to_string())
    }

    #[test]
    fn keys_are_read_and_shown() {
        for (given, want) in [
            ("q", "q"),
            ("G", "G"),
            ("ctrl-d", "Ctrl-d"),
            ("Ctrl-D", "Ctrl-d"),
            ("alt-x", "Alt-x"),
            ("ctrl-alt-x", "Ctrl-Alt-x"),
            ("pgup", "PgUp"),
            ("Enter", "Enter"),
            ("space", "Space"),
            ("shift-tab", "Shift-Tab"),
            ("f5", "F5"),
            ("f", "f"),
            ("é", "é"),
            ("-", "-"),
            ("ctrl--", "Ctrl--"),
        ] {
            assert_eq!(shown(given).as_deref(), Some(want), "{given}");
        }
        for given in ["", " ", "qq", "ctrl-", "f13", "f0", "hyper-x", "\n", "ctrl-qq"] {
            assert_eq!(shown(given), None, "{given:?}");
        }
    }

    #[test]
    fn a_key_is_the_same_however_the_terminal_reports_it() {
        let event = |code, modifiers| Key::from(KeyEvent::new(code, modifiers));
        let parse = |text| Key::parse(text).unwrap();
        assert_eq!(event(KeyCode::Char('G'), KeyModifiers::SHIFT), parse("G"));
        assert_eq!(event(KeyCode::Char('G'), KeyModifiers::NONE), parse("G"));
        assert_eq!(event(KeyCode::Char('!'), KeyModifiers::SHIFT), parse("!"));
        assert_eq!(event(KeyCode::BackTab, KeyModifiers::SHIFT), parse("shift-tab"));
        assert_eq!(event(KeyCode::Tab, KeyModifiers::SHIFT), parse("shift-tab"));
        assert_eq!(event(KeyCode::Char('D'), KeyModifiers::CONTROL), parse("ctrl-d"));
        assert_ne!(event(KeyCode::Char('d'), KeyModifiers::NONE), parse("ctrl-d"));
    }
}
