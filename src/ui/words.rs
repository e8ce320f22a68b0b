//! How things are worded: keys, times, spans, sizes, kinds. Everything that came from outside leaves here clean.

use std::io;

use jiff::Timestamp;
use jiff::tz::TimeZone;
use serde_json::Value;

use crate::clock::{DAY, HOUR, MINUTE, Millis, SECOND};
use crate::engine::snapshot::{LinkRow, NoticeRow, SessionRow, WakeState, WatchRow};
use crate::event::{EventKind, Sequence};
use crate::session_key::SessionKey;
use crate::visible::clean;

/// How much of a payload is ever put into words, in bytes: no screen shows more.
const PAYLOAD_LIMIT: usize = 4096;

/// A key as lists show it: `you` for the operator, without `agent:main:` where something else follows, long ids cut to
/// their first eight characters.
pub(crate) fn short_key(key: &SessionKey) -> String {
    if *key == SessionKey::operator() {
        return "you".to_owned();
    }
    let text = match key.qualified() {
        Some(parts) if parts.agent == "main" && parts.rest != "main" => parts.rest,
        _ => key.as_str(),
    };
    let segments: Vec<String> = clean(text).split(':').map(short_id).collect();
    segments.join(":")
}

/// The whole key, clean.
pub(crate) fn whole_key(key: &SessionKey) -> String {
    clean(key.as_str()).into_owned()
}

/// The title of a session, clean; `None` when there is none or it is blank.
pub(crate) fn title(title: Option<&str>) -> Option<String> {
    title.map(str::trim).filter(|text| !text.is_empty()).map(|text| clean(text).into_owned())
}

/// An id of 32 or more letters, digits and dashes, cut to its beginning. A name of that length has few digits.
fn short_id(segment: &str) -> String {
    let is_long_id = segment.len() >= 32
        && segment.chars().all(|c| c.is_ascii_alphanumeric() || c == '-')
        && segment.chars().filter(char::is_ascii_digit).count() >= 6;
    if is_long_id { format!("{}…", &segment[..8]) } else { segment.to_owned() }
}

/// How long ago: `00:41`, `3h05m`, `4d07h`, at most six columns.
pub(crate) fn age(span: Millis) -> String {
    let span = span.max(0);
    let (days, hours, minutes) = (span / DAY, span % DAY / HOUR, span % HOUR / MINUTE);
    if span < HOUR {
        format!("{minutes:02}:{:02}", span % MINUTE / SECOND)
    } else if span < DAY {
        format!("{hours}h{minutes:02}m")
    } else if days < 100 {
        format!("{days}d{hours:02}h")
    } else if days < 100_000 {
        format!("{days}d")
    } else {
        "long".to_owned()
    }
}

/// A span in words: `8 s`, `3 min`, `4 h`, `12 d`.
pub(crate) fn span(span: Millis) -> String {
    let span = span.max(0);
    match span {
        ..MINUTE => format!("{} s", span / SECOND),
        MINUTE..HOUR => format!("{} min", span / MINUTE),
        HOUR..DAY => format!("{} h", span / HOUR),
        _ => format!("{} d", span / DAY),
    }
}

/// The time of day, `12:03:44`.
pub(crate) fn time_of_day(at: Millis, zone: &TimeZone) -> String {
    formatted(at, zone, "%H:%M:%S").unwrap_or_else(|| "--:--:--".to_owned())
}

/// The time of day within the last 20 hours, before that the day, eight columns at most.
pub(crate) fn moment(at: Millis, now: Millis, zone: &TimeZone) -> String {
    if now.saturating_sub(at) < 20 * HOUR {
        time_of_day(at, zone)
    } else {
        formatted(at, zone, "%d %b").unwrap_or_else(|| "--".to_owned())
    }
}

/// Date and time, `2026-07-16 12:03:44`.
pub(crate) fn date_and_time(at: Millis, zone: &TimeZone) -> String {
    formatted(at, zone, "%Y-%m-%d %H:%M:%S").unwrap_or_else(|| "unknown".to_owned())
}

fn formatted(at: Millis, zone: &TimeZone, format: &str) -> Option<String> {
    let timestamp = Timestamp::from_millisecond(at).ok()?;
    Some(zone.to_datetime(timestamp).strftime(format).to_string())
}

/// A number with separators: `1,942`.
pub(crate) fn number(value: u64) -> String {
    let digits = value.to_string();
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// A sequence as a number of the journal: `#1,942`.
pub(crate) fn sequence(value: Sequence) -> String {
    let sign = if value.0 < 0 { "-" } else { "" };
    format!("#{sign}{}", number(value.0.unsigned_abs()))
}

/// A state version: `v19`, or a dash without logged changes.
pub(crate) fn version(value: Option<Sequence>) -> String {
    value.map_or_else(|| "—".to_owned(), |version| format!("v{version}"))
}

/// A size: `812 B`, `3.2 MiB`.
pub(crate) fn size(bytes: u64) -> String {
    let mut tenths = u128::from(bytes) * 10;
    for unit in ["B", "KiB", "MiB", "GiB"] {
        if tenths < 10_240 {
            return if unit == "B" {
                format!("{bytes} B")
            } else {
                format!("{}.{} {unit}", tenths / 10, tenths % 10)
            };
        }
        tenths /= 1024;
    }
    format!("{} TiB", tenths / 10)
}

/// The kind of an event in a word or two.
pub(crate) fn kind(kind: &EventKind) -> String {
    match kind {
        EventKind::HumanDirectMessage => "human".into(),
        EventKind::UpstreamMissing => "missing".into(),
        EventKind::GoalChanged => "goal".into(),
        EventKind::ChildSpawned => "spawn".into(),
        EventKind::RunCompleted => "run ✓".into(),
        EventKind::RunFailed => "run ✗".into(),
        EventKind::Compacted => "compact".into(),
        EventKind::Adopted => "adopted".into(),
        EventKind::Created => "created".into(),
        EventKind::Other(name) => clean(name).into_owned(),
    }
}

/// Activity as a small chart of `slots` columns, oldest first. Each column is the sum of its share of the counts.
pub(crate) fn chart(activity: &[u16], slots: usize) -> String {
    const BARS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
    let share = activity.len().div_ceil(slots.max(1)).max(1);
    let sums: Vec<u32> =
        activity.chunks(share).map(|chunk| chunk.iter().map(|&n| u32::from(n)).sum()).collect();
    let highest = sums.iter().copied().max().unwrap_or(0).max(7);
    // A single event among many must not look like none: every count above zero is at least one step high.
    sums.iter().map(|&sum| BARS[(sum * 7).div_ceil(highest) as usize]).collect()
}

/// The outcome of a link in a word or two: `quiet`, `missing 2/3`, `blocked`.
pub(crate) fn outcome(link: &LinkRow) -> String {
    if link.outcome == "missing" || (link.missing_streak > 0 && link.outcome == "unknown") {
        format!("missing {}/3", link.missing_streak)
    } else {
        clean(&link.outcome).into_owned()
    }
}

/// How far the upstream outcome is from good.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Health {
    /// Nothing to do.
    Good,
    /// Something happens there.
    Active,
    /// Look at it.
    Warn,
    /// It does not work.
    Bad,
}

/// How good an outcome is.
pub(crate) fn health(link: &LinkRow) -> Health {
    match link.outcome.as_str() {
        "quiet" | "echo" => Health::Good,
        "activity" | "busy" => Health::Active,
        "missing" if link.missing_streak >= 3 => Health::Bad,
        "blocked" | "unreadable" => Health::Bad,
        _ => Health::Warn,
    }
}

/// How the watcher of a pending notice gets, or got, to know.
pub(crate) fn delivery(
    watch: &WatchRow,
    notice: &NoticeRow,
    now: Millis,
    zone: &TimeZone,
) -> String {
    let words = if watch.cursor.watcher == SessionKey::operator() {
        "waits for you".to_owned()
    } else {
        match &watch.wake {
            WakeState::Coalescing(due) if *due > now => {
                format!("wake in {}", span(due.saturating_sub(now).saturating_add(SECOND - 1)))
            }
            WakeState::Coalescing(_) => "wake due now".to_owned(),
            WakeState::Fired(at) => {
                format!("woken {}, waits for next turn", time_of_day(*at, zone))
            }
            WakeState::Skipped(at, why) => {
                format!(
                    "skipped: {} at {}, waits for next turn",
                    clean(why),
                    time_of_day(*at, zone)
                )
            }
            WakeState::Never => "not woken by design, waits for next turn".to_owned(),
            WakeState::NotDue => "waits for next turn".to_owned(),
            WakeState::Unknown => "wake unknown".to_owned(),
        }
    };
    match notice.queued {
        None => format!("{words} (queue unknown)"),
        Some(false) => format!("{words} (not queued)"),
        Some(true) => words,
    }
}

/// What is known about a session beyond its row, in one line.
pub(crate) fn facts(session: &SessionRow, now: Millis) -> String {
    let mut facts = Vec::new();
    if let Some(harness) = &session.harness {
        facts.push(clean(harness).into_owned());
    }
    if let Some(link) = &session.upstream {
        let mut upstream = format!("{} {}", clean(&link.catalog), outcome(link));
        if let Some(detail) = &link.detail {
            upstream = format!("{upstream}: {}", clean(detail));
        }
        if let Some(offset) = link.offset {
            upstream = format!("{upstream}, read to byte {}", number(offset));
        }
        if let Some(at) = link.outcome_at {
            upstream = format!("{upstream}, {} ago", span(now.saturating_sub(at)));
        }
        facts.push(upstream);
    }
    facts.push(match (session.ended_at, session.last_turn_at) {
        (Some(at), _) => format!("ended {} ago", span(now.saturating_sub(at))),
        (None, Some(at)) => format!("last turn {} ago", span(now.saturating_sub(at))),
        (None, None) => "no turn seen".to_owned(),
    });
    if session.has_goal {
        facts.push("goal set".to_owned());
    }
    if session.messages > 0 {
        facts.push(format!("{} waiting", count(session.messages, "message")));
    }
    if session.pruned.0 > 0 {
        facts.push(format!("pruned through {}", sequence(session.pruned)));
    }
    facts.join(" · ")
}

/// `1 watch`, `2 watches`.
pub(crate) fn count(n: usize, noun: &str) -> String {
    let ending = match (n, noun.ends_with("ch")) {
        (1, _) => "",
        (_, true) => "es",
        (_, false) => "s",
    };
    format!("{} {noun}{ending}", number(n as u64))
}

/// A payload as compact JSON, clean, and bounded however big it is.
pub(crate) fn payload(value: &Value) -> String {
    let mut bounded = Bounded(Vec::new());
    // The only error is that the limit is reached.
    let _ = serde_json::to_writer(&mut bounded, value);
    clean(&String::from_utf8_lossy(&bounded.0)).into_owned()
}

struct Bounded(Vec<u8>);

impl io::Write for Bounded {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let room = PAYLOAD_LIMIT.saturating_sub(self.0.len());
        if room == 0 {
            return Err(io::ErrorKind::StorageFull.into());
        }
        let taken = room.min(bytes.len());
        self.0.extend_from_slice(&bytes[..taken]);
        Ok(taken)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The call by which an agent asks what changed. The key is escaped as in JSON.
pub(crate) fn status_call(session: &SessionKey, since: Sequence) -> String {
    // A string always has a JSON form.
    let key = serde_json::to_string(session.as_str()).unwrap_or_default();
    format!("session_status sessionKey {key} changesSince {since}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_short_and_never_ambiguous_about_the_agent() {
        for (key, want) in [
            ("agent:operator:main", "you"),
            ("agent:main:main", "agent:main:main"),
            ("agent:main:subagent:child-a", "subagent:child-a"),
            ("agent:main:claude:7f3a1c2e-0000-4000-8000-00000000abcd", "claude:7f3a1c2e…"),
            ("agent:ops:subagent:x", "agent:ops:subagent:x"),
            ("global", "global"),
            ("agent:main:a\nb", "a␊b"),
        ] {
            assert_eq!(short_key(&key.into()), want);
        }
    }

    #[test]
    fn times_are_worded() {
        for (given, want) in [
            (-5, "00:00"),
            (41 * SECOND, "00:41"),
            (59 * MINUTE + 59 * SECOND, "59:59"),
            (3 * HOUR + 5 * MINUTE, "3h05m"),
            (4 * DAY + 7 * HOUR, "4d07h"),
            (400 * DAY, "400d"),
            (i64::MAX, "long"),
        ] {
            assert_eq!(age(given), want);
            assert!(age(given).len() <= 6);
        }
        assert_eq!(span(8_900), "8 s");
        assert_eq!(span(14 * MINUTE), "14 min");
        assert_eq!(span(4 * DAY), "4 d");
        assert_eq!(time_of_day(1_784_160_000_000, &TimeZone::UTC), "00:00:00");
        assert_eq!(time_of_day(i64::MAX, &TimeZone::UTC), "--:--:--");
        assert_eq!(moment(1_784_160_000_000, 1_784_160_000_000 + DAY, &TimeZone::UTC), "16 Jul");
    }

    #[test]
    fn numbers_are_worded() {
        assert_eq!(number(1_234_567), "1,234,567");
        assert_eq!(number(12), "12");
        assert_eq!(sequence(Sequence(1942)), "#1,942");
        assert_eq!(size(812), "812 B");
        assert_eq!(size(3_355_443), "3.1 MiB");
        assert_eq!(count(1, "watch"), "1 watch");
        assert_eq!(count(2, "watch"), "2 watches");
        assert_eq!(count(0, "session"), "0 sessions");
    }

    #[test]
    fn one_event_among_many_still_shows() {
        assert_eq!(chart(&[0, 1, 7], 3), "▁▂█");
        assert_eq!(chart(&[0, 1, 700], 3), "▁▂█");
        assert_eq!(chart(&[0, 0, 3, 4], 2), "▁█");
        assert_eq!(chart(&[u16::MAX; 12], 12).chars().count(), 12);
    }

    #[test]
    fn payloads_are_bounded_and_clean() {
        let value = serde_json::json!({"a": "x\u{9b}".repeat(10_000)});
        let text = payload(&value);
        assert!(text.starts_with("{\"a\":\"x\\u{9b}") && text.len() < 40_000);
        assert_eq!(payload(&serde_json::json!({"old": null})), "{\"old\":null}");
    }

    #[test]
    fn the_call_escapes_the_key_as_json() {
        assert_eq!(
            status_call(&"a\"b\n".into(), Sequence(12)),
            "session_status sessionKey \"a\\\"b\\n\" changesSince 12"
        );
    }
}
