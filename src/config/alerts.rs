//! The tables `alerts` of the config.

use serde::{Deserialize, Deserializer};

use super::duration;
use crate::clock::{HOUR, Millis};
use crate::engine::alerts::AlertRule;
use crate::session_key::SessionKey;
use crate::watch::Condition;

/// One of the tables `alerts`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Alert {
    /// Its name; each has another.
    pub name: String,
    /// The conditions in which a pair is bad, such as "pending" or "stopped".
    #[serde(deserialize_with = "some_conditions")]
    pub conditions: Vec<Condition>,
    /// For how long it has to be in one of them.
    #[serde(deserialize_with = "duration")]
    pub longer_than: Millis,
    /// Told again this long after it was last told.
    #[serde(default = "four_hours", deserialize_with = "duration")]
    pub repeat: Millis,
    /// Only pairs with this watcher.
    #[serde(default)]
    pub watcher: Option<SessionKey>,
    /// Only pairs with this target.
    #[serde(default)]
    pub target: Option<SessionKey>,
    /// The program to run, with its arguments.
    #[serde(default)]
    pub command: Vec<String>,
    /// Whether the desktop shows a message.
    #[serde(default)]
    pub desktop: bool,
}

impl From<&Alert> for AlertRule {
    fn from(alert: &Alert) -> Self {
        let Alert { name, conditions, longer_than, repeat, watcher, target, command, desktop } =
            alert.clone();
        Self { name, conditions, longer_than, repeat, watcher, target, command, desktop }
    }
}

/// Reads alerts: each has a name of its own, and somebody to tell.
pub(super) fn distinct<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<Alert>, D::Error> {
    let alerts = Vec::<Alert>::deserialize(deserializer)?;
    let wrong = |reason: String| Err(serde::de::Error::custom(reason));
    for (i, alert) in alerts.iter().enumerate() {
        let name = &alert.name;
        if alerts[..i].iter().any(|earlier| earlier.name == *name) {
            return wrong(format!("there are two alerts with the name {name:?}"));
        }
        if alert.command.is_empty() && !alert.desktop {
            return wrong(format!(
                "the alert {name:?} tells nobody: give it a command, or desktop = true"
            ));
        }
    }
    Ok(alerts)
}

fn four_hours() -> Millis {
    4 * HOUR
}

/// Reads conditions by their words.
fn some_conditions<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<Condition>, D::Error> {
    let words = Vec::<String>::deserialize(deserializer)?;
    if words.is_empty() {
        return Err(serde::de::Error::custom("name at least one condition"));
    }
    let known = |word: &String| {
        Condition::ALL.into_iter().find(|condition| condition.as_str() == word).ok_or_else(|| {
            let all: Vec<_> = Condition::ALL.iter().map(|condition| condition.as_str()).collect();
            serde::de::Error::custom(format!(
                "{word:?} is no condition; there are {}",
                all.join("; ")
            ))
        })
    };
    words.iter().map(known).collect()
}
