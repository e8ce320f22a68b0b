//! The key map: which key does what, where. The help and the bottom line are generated from it.

mod action;
mod key;

use std::collections::{BTreeMap, HashMap};

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

pub use action::{ACTIONS, Action, ActionInfo, Context, Group};
pub use key::Key;

use crate::visible;

/// Keys given by the config: the name of an action, and all its keys.
pub type Overrides = BTreeMap<String, Vec<String>>;

/// Why `ui.keys` can't be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum KeymapError {
    /// No action has that name.
    #[error("ui.keys: there is no action \"{}\"; the actions are {known}", visible::clean(name))]
    UnknownAction {
        /// The name given.
        name: String,
        /// All names.
        known: String,
    },
    /// That is no key.
    #[error(
        "ui.keys.{action}: \"{}\" is no key; write one character, enter, esc, tab, shift-tab, space, backspace, \
         delete, up, down, left, right, pgup, pgdn, home, end or f1 to f12, with ctrl- or alt- before it if wanted; \
         up to four keys with a space between them are a sequence",
        visible::clean(key)
    )]
    UnknownKey {
        /// The action.
        action: &'static str,
        /// The key as given.
        key: String,
    },
    /// Two actions of one view would answer to one key.
    #[error(
        "ui.keys: {key} would mean both \"{first}\" and \"{second}\"; give one of them another key"
    )]
    Conflict {
        /// The key, as shown.
        key: String,
        /// One action.
        first: &'static str,
        /// The other.
        second: &'static str,
    },
    /// Ctrl-C always quits, so that nobody is ever locked in.
    #[error("ui.keys.{action}: Ctrl-c always quits and can't be given away; choose another key")]
    Reserved {
        /// The action that asked for it.
        action: &'static str,
    },
    /// In a text field a character is text.
    #[error(
        "ui.keys.{action}: {key} would be typed into the field; choose a key such as enter, tab or ctrl-s"
    )]
    Typed {
        /// The action that asked for it.
        action: &'static str,
        /// The key, as shown.
        key: String,
    },
}

/// Keys that are pressed one after the other.
type Sequence = Vec<Key>;

/// The most keys of a sequence.
const LONGEST: usize = 4;

/// Which key does what, where.
#[derive(Debug, Clone)]
pub struct Keymap {
    bindings: HashMap<Context, HashMap<Sequence, Action>>,
    keys: HashMap<Action, Vec<Sequence>>,
}

/// What the keys pressed so far mean.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Meaning {
    /// They mean this action.
    Action(Action),
    /// A sequence begins with them.
    Begun,
    /// They mean nothing.
    Nothing,
}

impl Keymap {
    /// The default key map with `overrides` in place of the keys of the actions they name. An empty list leaves an
    /// action without a key.
    ///
    /// # Errors
    /// An unknown action, an unknown key, or a key with two meanings in one view.
    pub fn new(overrides: &Overrides) -> Result<Self, KeymapError> {
        if let Some(name) =
            overrides.keys().find(|name| ACTIONS.iter().all(|info| info.name != *name))
        {
            let known: Vec<&str> = ACTIONS.iter().map(|info| info.name).collect();
            return Err(KeymapError::UnknownAction { name: name.clone(), known: known.join(", ") });
        }
        let mut map = Self { bindings: HashMap::new(), keys: HashMap::new() };
        for info in ACTIONS {
            match overrides.get(info.name) {
                Some(keys) => map.bind(info, keys.iter().map(String::as_str))?,
                None => map.bind(info, info.keys.iter().copied())?,
            }
        }
        Ok(map)
    }

    fn bind<'a>(
        &mut self,
        info: &'static ActionInfo,
        keys: impl Iterator<Item = &'a str>,
    ) -> Result<(), KeymapError> {
        for text in keys {
            let sequence = parse_sequence(text).ok_or_else(|| KeymapError::UnknownKey {
                action: info.name,
                key: text.to_owned(),
            })?;
            if sequence.contains(&interrupt()) && info.action != Action::Quit {
                return Err(KeymapError::Reserved { action: info.name });
            }
            if info.contexts == [Context::Field]
                && sequence.first().is_some_and(|key| key.typed().is_some())
            {
                return Err(KeymapError::Typed { action: info.name, key: shown(&sequence) });
            }
            for context in info.contexts {
                let bindings = self.bindings.entry(*context).or_default();
                let rival = bindings.iter().find(|(other, action)| {
                    **action != info.action
                        && (other.starts_with(&sequence) || sequence.starts_with(other))
                });
                if let Some((other, rival)) = rival {
                    // Of a sequence and its beginning, the beginning is the key with two meanings.
                    let shorter = if other.len() < sequence.len() { other } else { &sequence };
                    return Err(KeymapError::Conflict {
                        key: shown(shorter),
                        first: name_of(*rival),
                        second: info.name,
                    });
                }
                bindings.insert(sequence.clone(), info.action);
            }
            self.keys.entry(info.action).or_default().push(sequence);
        }
        Ok(())
    }

    /// What `event` means in `context` after the keys in `before`. Ctrl-C means to quit wherever it is pressed.
    pub fn meaning(&self, context: Context, before: &[Key], event: KeyEvent) -> Meaning {
        let key = Key::from(event);
        if key == interrupt() {
            return Meaning::Action(Action::Quit);
        }
        // In a field a character is text, whatever it means elsewhere.
        if context == Context::Field && before.is_empty() && key.typed().is_some() {
            return Meaning::Nothing;
        }
        let mut pressed = before.to_vec();
        pressed.push(key);
        let Some(bindings) = self.bindings.get(&context) else { return Meaning::Nothing };
        match bindings.get(&pressed) {
            Some(action) => Meaning::Action(*action),
            None if bindings.keys().any(|sequence| sequence.starts_with(&pressed)) => {
                Meaning::Begun
            }
            None => Meaning::Nothing,
        }
    }

    /// What `event` alone means in `context`.
    pub fn action(&self, context: Context, event: KeyEvent) -> Option<Action> {
        match self.meaning(context, &[], event) {
            Meaning::Action(action) => Some(action),
            Meaning::Begun | Meaning::Nothing => None,
        }
    }

    /// The first key of `action` as shown, if it has one.
    pub fn key(&self, action: Action) -> Option<String> {
        self.keys.get(&action)?.first().map(|sequence| shown(sequence))
    }

    /// All keys of `action` as shown, separated by spaces.
    pub fn keys(&self, action: Action) -> String {
        let keys = self.keys.get(&action).map(Vec::as_slice).unwrap_or_default();
        let separator = if keys.iter().any(|keys| keys.len() > 1) { ", " } else { " " };
        keys.iter().map(|sequence| shown(sequence)).collect::<Vec<_>>().join(separator)
    }

    /// Each sequence of keys of `action`, as they are pressed.
    pub fn sequences(&self, action: Action) -> &[Vec<Key>] {
        self.keys.get(&action).map(Vec::as_slice).unwrap_or_default()
    }

    /// The actions of `context` that have a key, in the order of [`ACTIONS`].
    pub fn actions(&self, context: Context) -> impl Iterator<Item = &'static ActionInfo> {
        ACTIONS.iter().filter(move |info| {
            info.contexts.contains(&context) && self.keys.contains_key(&info.action)
        })
    }
}

/// Reads keys that are separated by spaces.
fn parse_sequence(text: &str) -> Option<Sequence> {
    let keys: Sequence = text.split(' ').map(Key::parse).collect::<Option<_>>()?;
    (keys.len() <= LONGEST).then_some(keys)
}

/// A sequence as people write it.
pub fn shown(sequence: &[Key]) -> String {
    sequence.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ")
}

fn interrupt() -> Key {
    Key::from(KeyEvent::new(KeyCode::Char('c'), KeyModifiers::CONTROL))
}

fn name_of(action: Action) -> &'static str {
    ACTIONS.iter().find(|info| info.action == action).map_or("", |info| info.name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn overrides(pairs: &[(&str, &[&str])]) -> Overrides {
        pairs
            .iter()
            .map(|(name, keys)| {
                ((*name).to_owned(), keys.iter().map(|key| (*key).to_owned()).collect())
            })
            .collect()
    }

    fn press(text: char) -> KeyEvent {
        KeyEvent::new(KeyCode::Char(text), KeyModifiers::NONE)
    }

    #[test]
    fn the_default_map_is_free_of_conflicts_and_names_each_action_once() {
        let map = Keymap::new(&Overrides::new()).unwrap();
        for info in ACTIONS {
            assert_eq!(ACTIONS.iter().filter(|other| other.name == info.name).count(), 1);
            assert!(map.key(info.action).is_some(), "{} has no key", info.name);
            assert!(!info.description.is_empty());
        }
    }

    #[test]
    fn keys_can_be_given_to_other_actions() {
        let map =
            Keymap::new(&overrides(&[("watch", &["ctrl-w", "W"]), ("filter", &["w"])])).unwrap();
        assert_eq!(map.action(Context::Main, press('w')), Some(Action::Filter));
        assert_eq!(map.action(Context::Main, press('W')), Some(Action::Watch));
        assert_eq!(map.action(Context::Main, press('/')), None);
        assert_eq!(map.keys(Action::Watch), "Ctrl-w W");
    }

    #[test]
    fn one_key_may_mean_different_things_in_different_views() {
        let map = Keymap::new(&Overrides::new()).unwrap();
        assert_eq!(map.action(Context::Main, press('p')), Some(Action::Problems));
        assert_eq!(map.action(Context::Delta, press('p')), Some(Action::PreviousPage));
        assert_eq!(map.action(Context::Field, press('q')), None);
    }

    #[test]
    fn mistakes_are_named() {
        let error = |pairs| Keymap::new(&overrides(pairs)).unwrap_err().to_string();
        let unknown = error(&[("wach", &["w"])]);
        assert!(unknown.contains("\"wach\"") && unknown.contains("watch"), "{unknown}");
        let key = error(&[("watch", &["hyper-w"])]);
        assert!(key.starts_with("ui.keys.watch: \"hyper-w\" is no key"), "{key}");
        let conflict = error(&[("watch", &["a"])]);
        assert_eq!(
            conflict,
            "ui.keys: a would mean both \"watch\" and \"adopt\"; give one of them another key"
        );
        assert!(error(&[("accept", &["x"])]).contains("typed into the field"));
        assert!(error(&[("watch", &["ctrl-c"])]).contains("Ctrl-c always quits"));
    }

    #[test]
    fn sequences_are_told_from_their_beginnings() {
        let map = Keymap::new(&overrides(&[("watch", &["x w", "x x"])])).unwrap();
        let x = Key::parse("x").unwrap();
        assert_eq!(map.meaning(Context::Main, &[], press('x')), Meaning::Begun);
        assert_eq!(map.meaning(Context::Main, &[x], press('w')), Meaning::Action(Action::Watch));
        assert_eq!(map.meaning(Context::Main, &[x], press('q')), Meaning::Nothing);
        assert_eq!(map.keys(Action::Watch), "x w, x x");
        let error = |pairs| Keymap::new(&overrides(pairs)).unwrap_err().to_string();
        assert_eq!(
            error(&[("watch", &["a b"])]),
            "ui.keys: a would mean both \"watch\" and \"adopt\"; give one of them another key"
        );
        assert!(error(&[("watch", &["x  w"])]).contains("is no key"));
        assert!(error(&[("watch", &["x ctrl-c"])]).contains("always quits"));
    }

    #[test]
    fn an_action_may_be_left_without_a_key_but_ctrl_c_still_quits() {
        let map = Keymap::new(&overrides(&[("quit", &[])])).unwrap();
        assert_eq!(map.key(Action::Quit), None);
        assert_eq!(map.action(Context::Main, press('q')), None);
        let interrupt = KeyEvent::new(KeyCode::Char('c'), KeyModifiers::CONTROL);
        for context in
            [Context::Main, Context::Delta, Context::Adopt, Context::Page, Context::Field]
        {
            assert_eq!(map.action(context, interrupt), Some(Action::Quit));
        }
    }

    #[test]
    fn the_sample_file_is_the_default_map() {
        let sample: toml::Table =
            toml::from_str(include_str!("../../../assets/keymap.toml")).unwrap();
        let keys: Overrides = sample["ui"]["keys"].clone().try_into().unwrap();
        let built_in: Overrides = ACTIONS
            .iter()
            .map(|info| {
                (info.name.to_owned(), info.keys.iter().map(|key| (*key).to_owned()).collect())
            })
            .collect();
        assert_eq!(keys, built_in);
    }
}
