//! The queues of pending lines, one a session (`engine.md` 4.3, deviation 3).
//!
//! A notice leaves a queue only by being taken. Other lines make room among themselves, and notices do not count towards their
//! limit.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use super::notices::{self, Language};
use crate::event::Sequence;
use crate::session_key::SessionKey;
use crate::watch::Cursor;

/// The most lines of a session that are no notices.
pub const CAPACITY: usize = 20;

/// A line that waits for a session's next turn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Line {
    /// Tells this occurrence from an equal one.
    pub id: u64,
    content: Content,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Content {
    /// Our notice. There may be thousands; what they say follows from this.
    Notice { target: SessionKey, since: Sequence, language: Language },
    /// Anything else.
    Said(Box<Said>),
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Said {
    text: String,
    context: Option<String>,
    /// The target, when the context is that of a notice although the text is not ours.
    target: Option<SessionKey>,
}

impl Line {
    /// What it says.
    pub fn text(&self) -> Cow<'_, str> {
        match &self.content {
            Content::Notice { target, since, language } => {
                notices::text(*language, target, *since).into()
            }
            Content::Said(said) => said.text.as_str().into(),
        }
    }

    /// What it is about; equal lines about the same are one.
    pub fn context(&self) -> Option<Cow<'_, str>> {
        match &self.content {
            Content::Notice { target, .. } => Some(notices::context_key(target).into()),
            Content::Said(said) => said.context.as_deref().map(Cow::from),
        }
    }

    /// The target, when the line is a notice.
    pub fn target(&self) -> Option<&SessionKey> {
        match &self.content {
            Content::Notice { target, .. } => Some(target),
            Content::Said(said) => said.target.as_ref(),
        }
    }

    /// Since when its text asks for changes, when that is what it says.
    fn since(&self) -> Option<Sequence> {
        match &self.content {
            Content::Notice { since, .. } => Some(*since),
            Content::Said(_) => None,
        }
    }
}

/// What the queue of a session holds about one target.
#[derive(Debug, Clone)]
struct About {
    /// What its notices ask for. Live, there is one.
    since: Vec<Option<Sequence>>,
    /// The newest material event that they were queued for.
    material: Sequence,
}

/// The lines of one session, oldest first.
#[derive(Debug, Clone, Default)]
struct Queue {
    lines: Vec<Line>,
    /// The notices among them by target: a session may owe thousands, and each is looked for at each event.
    notices: HashMap<SessionKey, About>,
}

impl Queue {
    fn push(&mut self, line: Line, material: Sequence) {
        if let Some(target) = line.target() {
            let about = self
                .notices
                .entry(target.clone())
                .or_insert_with(|| About { since: Vec::with_capacity(1), material });
            about.since.push(line.since());
            about.material = material;
        }
        self.lines.push(line);
    }

    /// Takes out the lines that `is_wanted` names.
    fn take(&mut self, is_wanted: impl FnMut(&mut Line) -> bool) -> Vec<Line> {
        let taken: Vec<_> = self.lines.extract_if(.., is_wanted).collect();
        for line in &taken {
            if let Some(target) = line.target()
                && let Some(about) = self.notices.get_mut(target)
            {
                if let Some(which) = about.since.iter().position(|since| *since == line.since()) {
                    about.since.remove(which);
                }
                if about.since.is_empty() {
                    self.notices.remove(target);
                }
            }
        }
        taken
    }

    fn remove_about(&mut self, target: &SessionKey) {
        if self.notices.contains_key(target) {
            self.take(|line| line.target() == Some(target));
        }
    }
}

/// The queues of all sessions.
#[derive(Debug, Clone, Default)]
pub struct Queues {
    by_session: HashMap<SessionKey, Queue>,
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
        let mut sessions: Vec<_> = self.by_session.iter().collect();
        sessions.sort_unstable_by_key(|(session, _)| *session);
        sessions.into_iter().map(|(session, queue)| (session, queue.lines.as_slice()))
    }

    /// The lines of a session, oldest first.
    pub fn lines(&self, session: &SessionKey) -> &[Line] {
        self.by_session.get(session).map_or(&[], |queue| queue.lines.as_slice())
    }

    /// How many lines of a session were pushed out.
    pub fn evicted(&self, session: &SessionKey) -> u64 {
        self.evicted.get(session).copied().unwrap_or(0)
    }

    /// Queues a notice about events up to `material`. An equal line that waits makes it superfluous; an ambient one takes the
    /// place of every older line about its target. Returns whether a line was added.
    pub fn add_notice(
        &mut self,
        watcher: &SessionKey,
        target: &SessionKey,
        since: Sequence,
        material: Sequence,
        ambient: bool,
    ) -> bool {
        if let Some(queue) = self.by_session.get_mut(watcher) {
            if let Some(about) = queue.notices.get_mut(target) {
                let is_superfluous = if ambient {
                    about.since == [Some(since)]
                } else {
                    about.since.contains(&Some(since))
                };
                if is_superfluous {
                    about.material = material;
                    return false;
                }
            }
            if ambient {
                queue.remove_about(target);
            }
        }
        self.push_notice(watcher, target, since, material);
        true
    }

    /// Makes the notices about a pair agree with its cursor: one when it is pending, since its last seen; else none. Returns
    /// whether there is something to tell that these notices were not queued for.
    pub fn settle(&mut self, cursor: &Cursor) -> bool {
        if !cursor.is_pending() {
            self.forget(&cursor.watcher, &cursor.target);
            return false;
        }
        if let Some(queue) = self.by_session.get_mut(&cursor.watcher)
            && let Some(about) = queue.notices.get_mut(&cursor.target)
        {
            if about.since == [Some(cursor.seen)] {
                let is_news = about.material != cursor.material;
                about.material = cursor.material;
                return is_news;
            }
            queue.remove_about(&cursor.target);
        }
        self.push_notice(&cursor.watcher, &cursor.target, cursor.seen, cursor.material);
        true
    }

    /// Takes out the notices about a pair that owes nothing any more.
    pub fn forget(&mut self, watcher: &SessionKey, target: &SessionKey) {
        if let Some(queue) = self.by_session.get_mut(watcher) {
            queue.remove_about(target);
            self.forget_if_empty(watcher);
        }
    }

    fn push_notice(
        &mut self,
        watcher: &SessionKey,
        target: &SessionKey,
        since: Sequence,
        material: Sequence,
    ) {
        self.last_id += 1;
        let content = Content::Notice { target: target.clone(), since, language: self.language };
        let line = Line { id: self.last_id, content };
        if let Some(queue) = self.by_session.get_mut(watcher) {
            queue.push(line, material);
        } else {
            self.by_session.entry(watcher.clone()).or_default().push(line, material);
        }
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
        let target = context.as_deref().and_then(notices::target_of);
        let queue = self.by_session.entry(session.clone()).or_default();
        let is_same =
            |line: &Line| line.text() == text && line.context().as_deref() == context.as_deref();
        let is_duplicate = match &context {
            Some(_) => queue.lines.iter().any(is_same),
            None => queue.lines.last().is_some_and(is_same),
        };
        if !is_duplicate {
            self.last_id += 1;
            let content = match target {
                Some(target)
                    if let Some(since) = notices::since_of(self.language, &target, text) =>
                {
                    Content::Notice { target, since, language: self.language }
                }
                target => Content::Said(Box::new(Said { text: text.to_owned(), context, target })),
            };
            queue.push(Line { id: self.last_id, content }, Sequence::default());
            let mut others =
                queue.lines.iter().enumerate().filter(|(_, line)| line.target().is_none());
            if let Some((oldest, _)) = others.next()
                && others.count() >= CAPACITY
            {
                queue.lines.remove(oldest);
                *self.evicted.entry(session.clone()).or_default() += 1;
            }
        }
        !is_duplicate
    }

    /// Takes all lines of a session, or those of `only` that still wait.
    pub fn take(&mut self, session: &SessionKey, only: Option<&[u64]>) -> Vec<Line> {
        let Some(only) = only else {
            return self.by_session.remove(session).map_or_else(Vec::new, |queue| queue.lines);
        };
        let Some(queue) = self.by_session.get_mut(session) else { return Vec::new() };
        let only: HashSet<u64> = only.iter().copied().collect();
        let taken = queue.take(|line| only.contains(&line.id));
        self.forget_if_empty(session);
        taken
    }

    /// Makes the notices of the queues agree with `pending`, which are all cursors that are. Lines that already agree keep their
    /// place, stale ones go, missing ones come last. Returns the cursors for which there is something new to tell.
    pub fn reconcile<'a>(&mut self, pending: &'a [Cursor]) -> Vec<&'a Cursor> {
        let mut owed: HashMap<&SessionKey, HashMap<&SessionKey, Sequence>> = HashMap::new();
        for cursor in pending {
            owed.entry(&cursor.watcher).or_default().insert(&cursor.target, cursor.seen);
        }
        for (watcher, queue) in &mut self.by_session {
            let owed = owed.get(watcher);
            queue.take(|line| {
                let Some(target) = line.target() else { return false };
                owed.and_then(|owed| owed.get(target).copied()) != line.since()
            });
        }
        self.by_session.retain(|_, queue| !queue.lines.is_empty());
        pending.iter().filter(|cursor| self.settle(cursor)).collect()
    }

    fn forget_if_empty(&mut self, session: &SessionKey) {
        if self.by_session.get(session).is_some_and(|queue| queue.lines.is_empty()) {
            self.by_session.remove(session);
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

    fn cursor(target: usize, seen: i64, material: i64) -> Cursor {
        Cursor {
            watcher: w(),
            target: t(target),
            seen: Sequence(seen),
            notified: Sequence(material),
            material: Sequence(material),
            provenance: crate::watch::Provenance::Explicit,
            updated_at: 0,
        }
    }

    fn texts(queues: &Queues) -> Vec<Cow<'_, str>> {
        queues.lines(&w()).iter().map(Line::text).collect()
    }

    #[test]
    fn case_62_and_63_a_notice_stays_and_the_oldest_other_line_goes() {
        let mut queues = Queues::default();
        queues.add_notice(&w(), &t(1), Sequence(5), Sequence(12), false);
        for n in 0..21 {
            assert!(queues.add_other(&w(), &format!("line {n}"), None));
        }
        assert_eq!(queues.lines(&w()).len(), 21);
        assert_eq!(queues.lines(&w())[0].target(), Some(&t(1)));
        assert_eq!(queues.lines(&w())[1].text(), "line 1");
        assert_eq!(queues.evicted(&w()), 1);
        assert!(!queues.add_notice(&w(), &t(1), Sequence(5), Sequence(12), false));
    }

    #[test]
    fn many_notices_never_push_each_other_out() {
        let mut queues = Queues::default();
        for n in 0..100 {
            assert!(queues.add_notice(&w(), &t(n), Sequence(1), Sequence(12), false));
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
        queues.add_notice(&w(), &t(1), Sequence(5), Sequence(12), true);
        queues.add_other(&w(), "between", None);
        assert!(!queues.add_notice(&w(), &t(1), Sequence(5), Sequence(12), true));
        assert!(texts(&queues)[1] == "between");
        assert!(queues.add_notice(&w(), &t(1), Sequence(6), Sequence(12), true));
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
        queues.add_notice(&w(), &t(1), Sequence(5), Sequence(12), false);
        queues.add_notice(&w(), &t(1), Sequence(9), Sequence(12), false);
        queues.add_notice(&w(), &t(2), Sequence(1), Sequence(12), false);
        queues.add_other(&w(), "other", None);
        let pending = [cursor(1, 9, 12), cursor(3, 0, 4)];
        assert_eq!(queues.reconcile(&pending), vec![&pending[1]]);
        let targets: Vec<_> = queues.lines(&w()).iter().map(Line::target).collect();
        assert_eq!(targets, vec![Some(&t(1)), None, Some(&t(3))]);
        assert!(queues.reconcile(&pending).is_empty());
        let more = [cursor(1, 9, 13), cursor(3, 0, 4)];
        assert_eq!(queues.reconcile(&more), vec![&more[0]], "the line is there, and says more");
        assert!(queues.reconcile(&[]).is_empty());
        assert_eq!(texts(&queues), ["other"]);
    }
}
