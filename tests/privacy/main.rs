//! No word of what people and agents wrote leaves the transcripts, but for a message until it is taken and a goal until it is
//! cleared.
//!
//! Words that can't be mistaken are planted wherever somebody can write; then everything that was written or said is searched.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test that can't go on ends there")]

mod house;
mod rows;

use std::fs::{self, File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use tidings::clock::{Clock as _, DAY, ManualClock, SystemClock};
use tidings::engine::commands::{Address, GoalAction, RunOutcome};
use tidings::engine::live::{Live, LiveOptions, Reply, Request, Schedule};
use tidings::engine::{Engine, Settings};
use tidings::event::{ActorType, Event, EventKind, NewEvent, Sequence};
use tidings::journal::append::Gate;
use tidings::session_key::{AgentId, SessionKey};
use tidings::upstream::claude::scan::scan;
use tidings::upstream::claude::{ClaudeProvider, MAX_ROW_BYTES};
use tidings::upstream::echo::OwnTexts;
use tidings::upstream::{Cause, Probe, Provider};

use house::{House, open, word};
use rows::rows;

fn append(path: &Path, text: &str) {
    OpenOptions::new()
        .append(true)
        .create(true)
        .open(path)
        .unwrap()
        .write_all(text.as_bytes())
        .unwrap();
}

fn address(key: &str) -> Address {
    (SessionKey::new(key), AgentId::main())
}

/// A live engine that everything else happens beside, as on a person's machine.
struct Running {
    live: Live,
    feed: tokio::sync::mpsc::Receiver<(i64, tidings::engine::feed::FeedItem)>,
    runtime: tokio::runtime::Runtime,
}

impl Running {
    fn start(house: &House, max_row_bytes: u64) -> Self {
        let home = house.folder.path().canonicalize().unwrap().join("claude");
        let mut live = Live::start(LiveOptions {
            db: house.db(),
            clock: Arc::new(SystemClock),
            settings: Settings::default(),
            providers: vec![Arc::new(ClaudeProvider::new(home, max_row_bytes))],
            wake_command: vec!["true".into()],
            screen: true,
            file_events: true,
            schedule: Schedule::default(),
            alerts: Vec::new(),
        })
        .unwrap();
        let feed = live.feed().unwrap();
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        Self { live, feed, runtime }
    }

    fn ask(&self, house: &mut House, request: Request) -> Option<Reply> {
        let asked = format!("{request:?}");
        let reply = self.runtime.block_on(self.live.handle().ask(request));
        house.heard(asked, format!("{reply:?}"));
        reply.ok()
    }

    /// Keeps what it shows and tells.
    fn listen(&mut self, house: &mut House) {
        house.heard("snapshot", format!("{:?}", self.live.handle().snapshots().borrow()));
        while let Ok((at, item)) = self.feed.try_recv() {
            house.heard("feed", format!("{item:?} {:?}", item.to_json(at)));
        }
    }
}

/// Everything of any level goes to a file in the house, from all threads. There is one such file for the whole program.
fn log_everything_into(house: &House) -> PathBuf {
    let path = house.folder.path().join("everything.log");
    let _ = tracing_subscriber::fmt()
        .with_max_level(tracing::Level::TRACE)
        .with_ansi(false)
        .with_writer(Mutex::new(File::create(&path).unwrap()))
        .try_init();
    tracing::trace!("everything is kept");
    path
}

#[test]
fn nothing_that_anybody_wrote_is_found_anywhere() {
    let mut house = House::new();
    let log = log_everything_into(&house);
    let mut running = Running::start(&house, MAX_ROW_BYTES);
    transcripts(&mut house, &running);
    running.listen(&mut house);
    house.nowhere(&house.secret);

    messages_and_goals(&mut house, &running);
    refusals(&mut house, &running);
    the_command_line(&mut house);
    a_message_too_old(&mut house);
    running.listen(&mut house);
    running.live.stop();
    house.nowhere(&house.secret);
    assert!(fs::metadata(&log).unwrap().len() > 0, "the log does not work");
    assert!(house.said.len() > 60, "{}", house.said.len());

    the_search_bites(&mut house);
}

/// Rows of every kind, adopted, ticked, scanned, cut, replaced, blocked, unreadable.
fn transcripts(house: &mut House, running: &Running) {
    let path = house.transcript("5d7c0f5e-first.jsonl");
    let title = word("title");
    append(&path, &format!("{}\n", json!({"type": "custom-title", "customTitle": title})));
    let old = rows(house);
    append(&path, &old);
    append(&path, "\"}\n");
    let adopt =
        |wanted: &str| Request::Adopt { catalog: "claude".into(), wanted: wanted.to_owned() };
    running.ask(house, Request::Catalog).unwrap();
    let Some(Reply::Adopted(session)) = running.ask(house, adopt(path.to_str().unwrap())) else {
        panic!("not adopted")
    };
    let new = rows(house);
    append(&path, &new);
    running.ask(house, Request::Tick).unwrap();
    let changes = Request::Changes { session, agent: AgentId::main(), after: Sequence(0) };
    let Some(Reply::Changes(changes)) = running.ask(house, changes) else { panic!("no changes") };
    let human = |event: &Event| event.kind == EventKind::HumanDirectMessage;
    assert!(changes.events.iter().any(human), "the rows were read");

    // The title is a title, and nothing else.
    let snapshot = running.live.handle().snapshots().borrow().clone();
    let titles = snapshot.sessions.iter().filter(|row| row.title.as_deref() == Some(&title));
    assert_eq!(titles.count(), 1);
    let columns: Vec<String> = dump(&house.db())
        .into_iter()
        .filter(|(_, value)| value.contains(&title))
        .map(|(column, _)| column)
        .collect();
    assert_eq!(columns, ["tidings_sessions.title"]);

    let provider = ClaudeProvider::new(house.folder.path().join("claude"), MAX_ROW_BYTES);
    let link = house.engine().journal().links().unwrap().remove(0);
    let mut probe = Probe { link, own_texts: OwnTexts::default(), cause: Cause::Tick, held: None };
    probe.link.marker = Some(r#"{"offset":0}"#.into());
    house.heard("probe", format!("{:?} {:?}", provider.probe(&probe), provider));
    probe.link.marker = Some(r#"{"offset":"x"}"#.into());
    house.heard("bad marker", format!("{:?}", provider.probe(&probe)));
    let mut scanned = String::new();
    let total = scan(&path, 0, 2_000, &mut |row| scanned += &format!("{row:?} {}", json!(row)));
    house.heard("scan", format!("{scanned} {total:?}"));

    for content in [&new[..new.len() / 2], "", &new] {
        fs::write(&path, content).unwrap();
        running.ask(house, Request::Tick).unwrap();
    }
    let aside = path.with_extension("aside");
    fs::rename(&path, &aside).unwrap();
    running.ask(house, Request::Tick).unwrap();
    std::os::unix::fs::symlink(&aside, &path).unwrap();
    running.ask(house, Request::Tick).unwrap();
}

/// Every column of the database that holds text, with its values.
fn dump(db: &Path) -> Vec<(String, String)> {
    let sql = rusqlite::Connection::open(db).unwrap();
    let names = |query: &str| -> Vec<String> {
        let mut statement = sql.prepare(query).unwrap();
        statement.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect()
    };
    let mut found = Vec::new();
    for table in names("SELECT name FROM sqlite_master WHERE type = 'table'") {
        for column in names(&format!("SELECT name FROM pragma_table_info('{table}')")) {
            let query = format!(
                "SELECT CAST({column} AS TEXT) FROM {table} WHERE typeof({column}) NOT IN ('null', 'blob')"
            );
            let values = names(&query).into_iter();
            found.extend(values.map(|value| (format!("{table}.{column}"), value)));
        }
    }
    found
}

/// Texts that may wait: found where they wait, and gone from all bytes afterwards.
fn messages_and_goals(house: &mut House, running: &Running) {
    let mut other = house.engine();
    let (lead, worker) = (address("agent:main:lead"), address("agent:main:worker"));
    let said = |house: &mut House, what: &str, result: String| house.heard(what, result);

    let objective = house.secret("objective");
    let replaced = house.secret("replaced");
    let human = || (ActorType::Human, Some("agent:operator:main".to_owned()));
    for text in [&replaced, &objective] {
        let set = other.goal(&worker, &GoalAction::Set(text.clone()), human());
        said(house, "goal", format!("{set:?}"));
    }
    house.only_in_the_database(&objective);
    house.nowhere(&[replaced]);

    let message = house.secret("message");
    let waiting = house.secret("waiting");
    let sent = other.send(&lead, &worker, &message, true);
    said(house, "send", format!("{sent:?}"));
    let sent = other.send(
        &(SessionKey::operator(), AgentId::normalised("operator")),
        &lead,
        &waiting,
        true,
    );
    said(house, "send", format!("{sent:?}"));
    house.only_in_the_database(&message);

    let cleared = other.goal(&worker, &GoalAction::Clear, human());
    said(house, "goal", format!("{cleared:?}"));
    house.nowhere(&[objective]);

    let turn = other.turn(&worker).unwrap();
    assert!(turn.lines.iter().any(|line| line.contains(&message)), "the receiver gets it");
    house.nowhere(std::slice::from_ref(&message));
    house.only_in_the_database(&waiting);
    said(house, "engine", format!("{other:?}"));

    // The message comes back as a row of the transcript that its receiver writes.
    let path = house.transcript("5d7c0f5e-second.jsonl");
    append(&path, "");
    let request =
        Request::Adopt { catalog: "claude".into(), wanted: path.to_str().unwrap().to_owned() };
    let Some(Reply::Adopted(session)) = running.ask(house, request) else { panic!("not adopted") };
    let adopted = (session, AgentId::main());
    other.send(&lead, &adopted, &message, false).unwrap();
    other.turn(&adopted).unwrap();
    let row = json!({"type": "user", "uuid": "e", "message": {"role": "user", "content": message}});
    append(&path, &format!("{row}\n"));
    running.ask(house, Request::Tick).unwrap();
    house.nowhere(&[message]);

    let run = other.spawn(&lead, &address("agent:main:subagent:one"), "run-1");
    said(house, "spawn", format!("{run:?}"));
    let ended = other.finish(&address("agent:main:subagent:one"), "run-1", RunOutcome::Error);
    said(house, "finish", format!("{ended:?}"));
    let deleted = other.delete(&lead.0, &lead.1).unwrap();
    assert_eq!(deleted.messages, 1);
    house.nowhere(&[waiting]);

    let objective = house.secret("deletedgoal");
    let gone = address("agent:main:gone");
    other.goal(&gone, &GoalAction::Set(objective.clone()), human()).unwrap();
    other.delete(&gone.0, &gone.1).unwrap();
    house.nowhere(&[objective]);

    many_messages(house, &mut other);
}

/// A message that nobody takes ends after 30 days.
fn a_message_too_old(house: &mut House) {
    let old = house.secret("neverread");
    let to = address("agent:main:worker");
    house.engine().send(&address("agent:main:lead"), &to, &old, false).unwrap();
    house.only_in_the_database(&old);
    let later = ManualClock::at(SystemClock.now() + 31 * DAY);
    open(house, Arc::new(later)).prune().unwrap();
    house.nowhere(&[old]);
}

/// Messages of many lengths to several receivers, taken in another order than they came.
fn many_messages(house: &mut House, engine: &mut Engine) {
    let from = address("agent:main:lead");
    let receivers: Vec<_> = (0..6).map(|i| address(&format!("agent:main:receiver-{i}"))).collect();
    let texts: Vec<String> = (0..120).map(|i| house.secret(&format!("many{i}x"))).collect();
    for (i, text) in texts.iter().enumerate() {
        let long = format!("{text} {}", "filler ".repeat(i * i * 7 % 1_500));
        engine.send(&from, &receivers[i % 6], &long, false).unwrap();
    }
    for i in [3, 0, 5, 1, 4, 2] {
        assert_eq!(engine.turn(&receivers[i]).unwrap().messages, 20);
        let taken: Vec<_> = texts.iter().skip(i).step_by(6).cloned().collect();
        house.nowhere(&taken);
    }
}

/// What is refused or fails says so without the words.
fn refusals(house: &mut House, running: &Running) {
    let mut other = house.engine();
    let long = house.secret("toolong");
    let refused = other
        .send(
            &address("agent:main:lead"),
            &address("agent:main:worker"),
            &long.repeat(4_000),
            false,
        )
        .unwrap_err();
    house.heard("too long", format!("{refused} {refused:?}"));

    let foreign = house.transcript("5d7c0f5e-foreign.jsonl");
    let words = house.secret("foreign");
    append(&foreign, &format!("{{\"payload\":\"{words}\"}}\n"));
    let wanted = foreign.to_str().unwrap().to_owned();
    assert!(running.ask(house, Request::Adopt { catalog: "claude".into(), wanted }).is_none());

    // A row that is too long blocks, and says where. It has no line end, so that the live engine leaves it alone.
    let path = house.transcript("5d7c0f5e-second.jsonl");
    let words = house.secret("blocking").repeat(100);
    append(&path, &format!("{{\"type\":\"user\",\"x\":\"{words}"));
    let home = house.folder.path().join("claude");
    let small: Vec<Arc<dyn Provider>> = vec![Arc::new(ClaudeProvider::new(home, 1_000))];
    let ticked = other.tick(&small, None).unwrap();
    assert!(ticked.iter().any(|found| found.outcome == "blocked"), "{ticked:?}");
    house.heard("tick", format!("{ticked:?}"));

    let sql = rusqlite::Connection::open(house.db()).unwrap();
    for table in ["tidings_inbox", "tidings_goals"] {
        sql.execute_batch(&format!(
            "CREATE TRIGGER broken BEFORE INSERT ON {table} BEGIN SELECT RAISE(ABORT, 'broken on purpose'); END"
        ))
        .unwrap();
        let text = house.secret("broken");
        let sent =
            other.send(&address("agent:main:lead"), &address("agent:main:worker"), &text, false);
        let set = other.goal(
            &address("agent:main:worker"),
            &GoalAction::Set(text),
            (ActorType::System, None),
        );
        assert!(sent.is_err() || set.is_err());
        house.heard("broken", format!("{sent:?} {set:?}"));
        sql.execute_batch("DROP TRIGGER broken").unwrap();
        let clear = other.goal(
            &address("agent:main:worker"),
            &GoalAction::Clear,
            (ActorType::System, None),
        );
        house.heard("clear", format!("{clear:?}"));
        let _ = other.turn(&address("agent:main:worker")).unwrap();
    }
}

/// The program itself, with everything that it prints.
fn the_command_line(house: &mut House) {
    let path = house.transcript("5d7c0f5e-third.jsonl");
    let old = rows(house);
    append(&path, &format!("{old}\"}}\n"));
    let file = path.to_str().unwrap().to_owned();
    house.run(&["adopt", &file, "--watch-as", "agent:main:lead", "--json"], "", true);
    let new = rows(house);
    append(&path, &new);
    let objective = house.secret("cligoal");
    let (message, piped) = (house.secret("climessage"), house.secret("clipiped"));
    let key = "agent:main:claude:5d7c0f5e-third";
    let ticked = house.run(&["tick", "--json"], "", true);
    let ticked: Value = serde_json::from_str(&ticked).unwrap();
    assert!(ticked["links"].as_array().unwrap().iter().any(|link| link["sessionKey"] == key));
    house.run(&["goal", key, "set", &objective, "--json"], "", true);
    house.run(&["send", "agent:main:lead", key, &message, "--json"], "", true);
    house.run(&["send", "agent:main:lead", key, "-"], &piped, true);
    for verb in ["sessions", "watches", "notices", "queue", "tick"] {
        house.run(&[verb], "", true);
        house.run(&[verb, "--json"], "", true);
    }
    house.run(&["status", key, "--changes-since", "0", "--json"], "", true);
    for from in ["0", "700"] {
        house.run(&["scan", &file, "--from", from], "", true);
        house.run(&["scan", &file, "--from", from, "--json"], "", true);
        house.run(&["scan", &file, "--from", from, "--max-row-bytes", "500"], "", true);
    }
    house.run(&["run", "--for", "300ms", "--json"], "", true);
    house.run(&["send", "agent:main:lead", "agent:main:nobody-knows", &message], "", true);
    let turn = house.run(&["turn", key], "", false);
    assert!(turn.contains(&message) && turn.contains(&piped), "the receiver gets both");
    house.run(&["goal", key, "clear"], "", true);
    house.run(&["turn", key, "--json"], "", true);
}

/// Words that are put where none may be are found, in each kind of place.
fn the_search_bites(house: &mut House) {
    let planted = word("planted");
    let mut engine = house.engine();
    let event = NewEvent {
        summary: Some(planted.to_ascii_uppercase()),
        ..NewEvent::new(
            SessionKey::new("agent:main:worker"),
            AgentId::main(),
            EventKind::GoalChanged,
            ActorType::Human,
        )
    };
    let recorded = engine.record(&event, Gate::Open).unwrap();
    house.heard("record", format!("{recorded:?}"));
    let running = Running::start(house, MAX_ROW_BYTES);
    let snapshot = format!("{:?}", running.live.handle().snapshots().borrow());
    house.heard("snapshot", snapshot);
    running.live.stop();
    tracing::trace!("{planted}");
    fs::write(house.folder.path().join("state/other"), format!("x{planted}y")).unwrap();
    house.run(&["status", "agent:main:worker", "--changes-since", "0"], "", true);

    let places = house.places(std::slice::from_ref(&planted));
    for place in
        ["record", "snapshot", "everything.log", "state/other", "stdout", "state/state.sqlite"]
    {
        assert!(places.iter().any(|found| found.contains(place)), "{place} not in {places:?}");
    }
}
