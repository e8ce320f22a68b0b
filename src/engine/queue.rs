//! The queues of pending lines, one a session (`engine.md` 4.3, deviation 3).
//!
//! A notice leaves a queue only by being taken. Other lines make room among themselves, and notices do not count towards their
//! limit.

use std::collections::{BTreeMap, HashMap};

use super::notices::{self, Language};
use crate::event::Sequence;
use crate::session_key::SessionKey;

/// The most lines of a session that are no notices.
pub const CAPACITY: usize = 20;

/// A line that waits for a session's next turn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Line {
    /// Tells this occurrence from an equal one.
    pub id: u64,
    /// What it says.
    pub text: String,
    /// What it is about; equal lines about the same are one.
    pub context: Option<String>,
}

impl Line {
    /// The target, when the line is a notice.
    pub fn target(&self) -> Option<SessionKey> {
        notices::target_of(self.context.as_deref()?)
    }

    fn is(&self, text: &str, context: Option<&str>) -> bool {
        self.text == text && self.context.as_deref() == context
    }
}

/// The queues of all sessions.
#[derive(Debug, Clone, Default)]
pub struct Queues {
    lines: BTreeMap<SessionKey, Vec<Line>>,
    evicted: HashMap<SessionKey, u64>,
    last_id: u64,
    language: Language,
}

impl Queues {
    /// Empty queues whose notices speak `language`.
    pub fn new(language: Language) -> Self {
        Self { language, ..Self::default() }
    }

    /// The sessions with lines, in order of their keys.
    pub fn sessions(&self) -> impl Iterator<Item = (&SessionKey, &[Line])> {
        self.lines.iter().map(|(session, lines)| (session, lines.as_slice()))
    }

    /// The lines of a session, oldest first.
    pub fn lines(&self, session: &SessionKey) -> &[Line] {
        self.lines.get(session).map_or(&[], Vec::as_slice)
    }

    /// How many lines of a session were pushed out.
    pub fn evicted(&self, session: &SessionKey) -> u64 {
        self.evicted.get(session).copied().unwrap_or(0)
    }

    /// Queues a notice. An equal line that waits makes it superfluous; an ambient one takes the place of every older line
    /// about its target. Returns whether a line was added.
    pub fn add_notice(
        &mut self,
        watcher: &SessionKey,
        target: &SessionKey,
        since: Sequence,
        ambient: bool,
    ) -> bool {
        let text = notices::text(self.language, target, since);
        let context = notices::context_key(target);
        let lines = self.lines.entry(watcher.clone()).or_default();
        let about = |line: &Line| line.context.as_deref() == Some(&context);
        let superfluous = if ambient {
            let mut same = lines.iter().filter(|line| about(line));
            same.next().is_some_and(|line| line.text == text) && same.next().is_none()
        } else {
            lines.iter().any(|line| line.is(&text, Some(&context)))
        };
        if superfluous {
            return false;
        }
        if ambient {
            lines.retain(|line| !about(line));
        }
        self.last_id += 1;
        lines.push(Line { id: self.last_id, text, context: Some(context) });
        true
    }

    /// Queues a line that is no notice; the oldest of its kind makes room for the twenty-first. Returns whether it was added.
    pub fn add_other(&mut self, session: &SessionKey, text: &str, context: Option<&str>) -> bool {
        let text = text.trim();
        let context = context
            .map(|context| context.trim().to_lowercase())
            .filter(|context| !context.is_empty());
        if text.is_empty() || session.as_str().trim().is_empty() {
            return false;
        }
        let lines = self.lines.entry(session.clone()).or_default();
        let duplicate = match &context {
            Some(context) => lines.iter().any(|line| line.is(text, Some(context))),
            None => lines.last().is_some_and(|line| line.is(text, None)),
        };
        if !duplicate {
            self.last_id += 1;
            lines.push(Line { id: self.last_id, text: text.to_owned(), context });
            let mut others = lines.iter().enumerate().filter(|(_, line)| line.target().is_none());
            if let Some((oldest, _)) = others.next()
                && others.count() >= CAPACITY
            {
                lines.remove(oldest);
                *self.evicted.entry(session.clone()).or_default() += 1;
            }
        }
        self.forget_if_empty(session);
        !duplicate
    }

    /// Takes all lines of a session, or those of `only` that still wait.
    pub fn take(&mut self, session: &SessionKey, only: Option<&[u64]>) -> Vec<Line> {
        let Some(lines) = self.lines.get_mut(session) else { return Vec::new() };
        let (taken, left) = std::mem::take(lines)
            .into_iter()
            .partition(|line| only.is_none_or(|ids| ids.contains(&line.id)));
        *lines = left;
        self.forget_if_empty(session);
        taken
    }

    /// Makes the notices of the queues agree with the open ones: `open` names them all, as (watcher, target, since). Lines that
    /// already agree keep their place, stale ones go, missing ones come last. Returns the pairs that got a line.
    pub fn reconcile(
        &mut self,
        open: &[(SessionKey, SessionKey, Sequence)],
    ) -> Vec<(SessionKey, SessionKey)> {
        let language = self.language;
        let mut wanted: HashMap<(&SessionKey, SessionKey), (usize, String)> = open
            .iter()
            .enumerate()
            .map(|(i, (watcher, target, since))| {
                ((watcher, target.clone()), (i, notices::text(language, target, *since)))
            })
            .collect();
        for (watcher, lines) in &mut self.lines {
            lines.retain(|line| {
                let Some(target) = line.target() else { return true };
                let pair = (watcher, target);
                let agrees = wanted.get(&pair).is_some_and(|(_, text)| *text == line.text);
                agrees && wanted.remove(&pair).is_some()
            });
        }
        let mut missing: Vec<_> = wanted.into_values().map(|(i, _)| i).collect();
        missing.sort_unstable();
        self.lines.retain(|_, lines| !lines.is_empty());
        missing
            .into_iter()
            .map(|i| {
                let (watcher, target, since) = &open[i];
                self.add_notice(watcher, target, *since, false);
                (watcher.clone(), target.clone())
            })
            .collect()
    }

    fn forget_if_empty(&mut self, session: &SessionKey) {
        if self.lines.get(session).is_some_and(Vec::is_empty) {
            self.lines.remove(session);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn w() -> SessionKey {
        SessionKey::new("agent:main:main")
    }

    fn t(n: usize) -> SessionKey {
        SessionKey::new(format!("agent:main:subagent:{n}"))
    }

    fn texts(queues: &Queues) -> Vec<&str> {
        queues.lines(&w()).iter().map(|line| line.text.as_str()).collect()
    }

    #[test]
    fn case_62_and_63_a_notice_stays_and_the_oldest_other_line_goes() {
        let mut queues = Queues::default();
        queues.add_notice(&w(), &t(1), Sequence(5), false);
        for n in 0..21 {
            assert!(queues.add_other(&w(), &format!("line {n}"), None));
        }
        assert_eq!(queues.lines(&w()).len(), 21);
        assert_eq!(queues.lines(&w())[0].target(), Some(t(1)));
        assert_eq!(queues.lines(&w())[1].text, "line 1");
        assert_eq!(queues.evicted(&w()), 1);
        assert!(!queues.add_notice(&w(), &t(1), Sequence(5), false));
    }

    #[test]
    fn many_notices_never_push_each_other_out() {
        let mut queues = Queues::default();
        for n in 0..100 {
            assert!(queues.add_notice(&w(), &t(n), Sequence(1), false));
        }
        assert!(queues.add_other(&w(), "line", None));
        assert_eq!(queues.lines(&w()).len(), 101);
        assert_eq!(queues.evicted(&w()), 0);
    }

    #[test]
    fn case_64_and_65_duplicates() {
        let mut queues = Queues::default();
        assert!(queues.add_other(&w(), "keyed", Some("Cron:1 ")));
        assert!(queues.add_other(&w(), "plain", None));
        assert!(!queues.add_other(&w(), "plain", None));
        assert!(!queues.add_other(&w(), "keyed", Some("cron:1")));
        assert!(queues.add_other(&w(), "between", None));
        assert!(queues.add_other(&w(), "plain", None));
    }

    #[test]
    fn case_66_and_67_an_ambient_notice_replaces_the_older_one() {
        let mut queues = Queues::default();
        queues.add_notice(&w(), &t(1), Sequence(5), true);
        queues.add_other(&w(), "between", None);
        assert!(!queues.add_notice(&w(), &t(1), Sequence(5), true));
        assert!(texts(&queues)[1] == "between");
        assert!(queues.add_notice(&w(), &t(1), Sequence(6), true));
        assert!(texts(&queues)[0] == "between" && texts(&queues)[1].ends_with("changesSince 6."));
    }

    #[test]
    fn case_69_blank_lines_and_keys_are_not_queued() {
        let mut queues = Queues::default();
        assert!(!queues.add_other(&w(), " \n", None));
        assert!(!queues.add_other(&SessionKey::new(" "), "line", None));
        assert_eq!(queues.sessions().count(), 0);
    }

    #[test]
    fn reconciling_leaves_exactly_one_line_a_pending_pair() {
        let mut queues = Queues::default();
        queues.add_notice(&w(), &t(1), Sequence(5), false);
        queues.add_notice(&w(), &t(1), Sequence(9), false);
        queues.add_notice(&w(), &t(2), Sequence(1), false);
        queues.add_other(&w(), "other", None);
        let open = [(w(), t(1), Sequence(9)), (w(), t(3), Sequence(0))];
        assert_eq!(queues.reconcile(&open), vec![(w(), t(3))]);
        let targets: Vec<_> = queues.lines(&w()).iter().map(Line::target).collect();
        assert_eq!(targets, vec![Some(t(1)), None, Some(t(3))]);
        assert!(queues.reconcile(&open).is_empty());
        assert!(queues.reconcile(&[]).is_empty());
        assert_eq!(texts(&queues), ["other"]);
    }
}
