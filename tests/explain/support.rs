//! Asking.

use tidings::engine::explain::{Explanation, Question, Verdict};
use tidings::event::Sequence;

use crate::common::{World, key};

pub(crate) fn question(watcher: &str, target: &str, event: Option<i64>) -> Question {
    Question { watcher: key(watcher), target: key(target), event: event.map(Sequence) }
}

impl World {
    /// Explains a pair as a process does that is not the owner, while none runs.
    pub(crate) fn explain(
        &mut self,
        watcher: &str,
        target: &str,
        event: Option<i64>,
    ) -> Explanation {
        let question = question(watcher, target, event);
        checked(self.engine().explain(&question, false).unwrap())
    }

    pub(crate) fn verdict(&mut self, watcher: &str, target: &str, event: Option<i64>) -> Verdict {
        self.explain(watcher, target, event).verdict
    }
}

/// What holds for each answer: one sentence, a timeline in order of time, JSON with all fields.
pub(crate) fn checked(explanation: Explanation) -> Explanation {
    assert!(!explanation.because.is_empty() && !explanation.because.contains('\n'));
    assert!(explanation.timeline.is_sorted_by_key(|moment| moment.at));
    let json = explanation.to_json();
    for field in ["watcher", "target", "verdict", "because", "evidence", "timeline"] {
        assert!(json.get(field).is_some(), "{json} has no {field}");
    }
    assert_eq!(json["verdict"], explanation.verdict.as_str());
    explanation
}

pub(crate) fn words(explanation: &Explanation) -> Vec<&'static str> {
    explanation.timeline.iter().map(|moment| moment.what).collect()
}
