//! The live engine over rollouts, with file events and never a tick.

use std::sync::Arc;
use std::time::{Duration, Instant};

use tidings::clock::SystemClock;
use tidings::engine::live::{Live, LiveOptions, Schedule};
use tidings::engine::{Discipline, Engine, Settings};
use tidings::session_key::{AgentId, SessionKey};

use crate::following::LATER;
use crate::rollout::{PATH, THREAD, Writer};
use crate::support::{Home, append};

#[test]
fn a_thread_that_is_rewound_into_the_folder_of_another_day_is_followed_without_a_tick() {
    let home = Home::new();
    let database = home.path("state.sqlite");
    let writer = Writer::new();
    home.file(PATH, writer.user_meta() + &writer.turn("one"));
    let open = || {
        let (clock, settings) = (Arc::new(SystemClock), Settings::default());
        Engine::open(&database, clock, settings, Discipline::InStep).unwrap()
    };
    let mut engine = open();
    let session = engine.adopt(&home.fresh(), THREAD, None).unwrap().session;
    engine.watch(&SessionKey::new("agent:main:main"), &session, None).unwrap();
    let _live = Live::start(LiveOptions {
        db: database.clone(),
        clock: Arc::new(SystemClock),
        settings: Settings::default(),
        providers: vec![Arc::new(home.fresh())],
        wake_command: Vec::new(),
        screen: false,
        file_events: true,
        schedule: Schedule { first: 3_600_000, period: 3_600_000 },
        alerts: Vec::new(),
    })
    .unwrap();
    let until_read = |path: &std::path::Path| {
        let began = Instant::now();
        let is_read = || {
            let link = engine.journal().link(&session, &AgentId::main()).unwrap().unwrap();
            let marker = link.marker_json().unwrap();
            let end = path.metadata().unwrap().len();
            marker["path"] == path.to_str().unwrap() && marker["offset"] == end
        };
        while !is_read() {
            assert!(began.elapsed() < Duration::from_secs(30), "it was never read");
            std::thread::sleep(Duration::from_millis(5));
        }
    };
    for later in LATER {
        let path = home.file(later, writer.user_meta() + &writer.turn("further"));
        until_read(&path);
        append(&path, writer.turn("and on"));
        until_read(&path);
    }
}
