//! How long it takes from a prompt on disk to its event, with a process that writes and one that monitors.

use std::io::{BufRead as _, BufReader};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use super::support::{House, Writer, prompt};

/// The most that half of the prompts may take.
const MEDIAN: Duration = Duration::from_millis(300);
const PROMPTS: usize = 21;

struct Monitor(Child);

impl Drop for Monitor {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn half_of_all_prompts_are_events_within_300_ms() {
    let house = House::new();
    let path = house.transcript("a");
    house.adopt(&path);
    let mut monitor = Monitor(
        Command::new(env!("CARGO_BIN_EXE_tidings"))
            .arg("--db")
            .arg(house.db())
            .args(["--json", "run"])
            .env("HOME", &house.root)
            .env("XDG_STATE_HOME", house.root.join("state"))
            .env("XDG_CONFIG_HOME", house.root.join("config"))
            .env("CLAUDE_CONFIG_DIR", house.claude())
            .env_remove("TIDINGS_CONFIG")
            .stdout(Stdio::piped())
            .spawn()
            .unwrap(),
    );
    let mut lines = BufReader::new(monitor.0.stdout.take().unwrap()).lines().map(Result::unwrap);
    lines.find(|line| line.contains("\"role\":\"owner\"")).expect("an owner");
    let mut writer = Writer::start(&path);
    let mut took = Vec::with_capacity(PROMPTS);
    for id in 0..PROMPTS {
        let began = Instant::now();
        writer.write(&prompt(id));
        lines.find(|line| line.contains("\"kind\":\"human_direct_message\"")).expect("an event");
        took.push(began.elapsed());
    }
    took.sort_unstable();
    let median = took[PROMPTS / 2];
    assert!(median < MEDIAN, "{took:?}");
}
