use super::*;

const FIRST: &str = r#"{"type":"user","isSidechain":true,"timestamp":"2026-07-16T12:00:00.000Z","message":{"role":"user","content":"ZXQ do"}}"#;
const BEGAN: Millis = 1_784_203_200_000;
const TOOL: &str = r#"{"type":"assistant","timestamp":"2026-07-16T12:00:01.000Z","message":{"role":"assistant","content":[],"stop_reason":"tool_use"}}"#;
const DONE: &str = r#"{"type":"assistant","timestamp":"2026-07-16T12:00:02.000Z","message":{"role":"assistant","content":[{"type":"text","text":"ZXQ"}],"stop_reason":"end_turn"}}"#;
const ERROR: &str = r#"{"type":"assistant","timestamp":"2026-07-16T12:00:02.000Z","isApiErrorMessage":true,"message":{"role":"assistant","content":[],"stop_reason":"stop_sequence"}}"#;
const STOPPED: &str = r#"{"type":"user","timestamp":"2026-07-16T12:00:02.000Z","message":{"role":"user","content":[{"type":"text","text":"[Request interrupted by user]"}]}}"#;
const MORE: &str = r#"{"type":"user","timestamp":"2026-07-16T12:00:03.000Z","message":{"role":"user","content":"ZXQ also"}}"#;
const NOISE: &str = r#"{"type":"api-request","timestamp":"2026-07-16T12:00:09.000Z"}"#;

struct House {
    folder: tempfile::TempDir,
    births: Births,
    known: Agents,
}

impl House {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(folder.path().join("s/subagents")).unwrap();
        Self { folder, births: Births::default(), known: Agents::default() }
    }

    fn write(&self, name: &str, rows: &[&str]) {
        let text = [rows.join("\n"), "\n".into()].concat();
        std::fs::write(self.folder.path().join("s/subagents").join(name), text).unwrap();
    }

    /// What a look finds, in short; `adopted` is when the session was.
    fn look(&mut self, adopted: Millis) -> Vec<String> {
        let transcript = self.folder.path().join("s.jsonl");
        let (facts, known) = look(&transcript, 0, adopted, &self.known, &self.births).unwrap();
        self.known = known;
        facts
            .iter()
            .map(|fact| match &fact.what {
                FactKind::ChildSpawned { run, kind } => {
                    format!("+{run} {}", kind.as_deref().unwrap_or("?"))
                }
                FactKind::RunEnded { run, how } => format!("-{run} {how:?} {}", fact.at - BEGAN),
                FactKind::Compacted { .. } => "compacted".into(),
            })
            .collect()
    }
}

#[test]
fn a_sub_agent_begins_once_and_ends_as_its_last_record_says() {
    for (last, want) in
        [(DONE, "-a1 Completed 2000"), (ERROR, "-a1 Failed 2000"), (STOPPED, "-a1 Cancelled 2000")]
    {
        let mut house = House::new();
        house.write(
            "agent-a1.meta.json",
            &[r#"{"agentType":"general-purpose","description":"ZXQ"}"#],
        );
        house.write("agent-a1.jsonl", &[FIRST, TOOL]);
        assert_eq!(house.look(BEGAN), ["+a1 general-purpose"]);
        assert_eq!(house.known.open, ["a1"]);
        assert_eq!(house.look(BEGAN), [""; 0]);
        house.write("agent-a1.jsonl", &[FIRST, TOOL, last, NOISE]);
        assert_eq!(house.look(BEGAN), [want]);
        assert!(house.known.open.is_empty());
    }
}

#[test]
fn one_that_is_told_more_goes_on() {
    let mut house = House::new();
    house.write("agent-a1.jsonl", &[FIRST, DONE, MORE, TOOL]);
    assert_eq!(house.look(0), ["+a1 ?"]);
    house.write("agent-a1.jsonl", &[FIRST, DONE, MORE, DONE]);
    assert_eq!(house.look(0).len(), 1);
}

#[test]
fn what_began_before_the_adoption_and_what_is_no_sub_agent_is_left_alone() {
    let mut house = House::new();
    house.write("agent-a1.jsonl", &[FIRST, DONE]);
    assert_eq!(house.look(BEGAN + 1), [""; 0]);
    let mut house = House::new();
    for name in [
        "agent-acompact-x.jsonl",
        "agent-.jsonl",
        "other.jsonl",
        "agent-a.b.jsonl",
        "agent-a1.json",
    ] {
        house.write(name, &[FIRST, DONE]);
    }
    std::fs::create_dir(house.folder.path().join("s/subagents/agent-d.jsonl")).unwrap();
    assert_eq!(house.look(0), [""; 0]);
}

#[test]
fn a_first_record_that_is_half_written_is_waited_for() {
    let mut house = House::new();
    let path = house.folder.path().join("s/subagents/agent-a1.jsonl");
    std::fs::write(&path, &FIRST[..40]).unwrap();
    assert_eq!(house.look(0), [""; 0]);
    house.write("agent-a1.jsonl", &[FIRST]);
    assert_eq!(house.look(0), ["+a1 ?"]);
}

#[test]
fn a_last_record_of_any_length_is_read() {
    let mut house = House::new();
    let long = DONE.replace("ZXQ", &"x".repeat(300_000));
    let filler = NOISE.replace("api-request", &"y".repeat(70_000));
    house.write("agent-a1.jsonl", &[FIRST, &long, &filler]);
    assert_eq!(house.look(0), ["+a1 ?", "-a1 Completed 2000"]);
    let mut house = House::new();
    let folder = house.folder.path().join("none");
    std::fs::rename(house.folder.path().join("s"), folder).unwrap();
    assert_eq!(house.look(0), [""; 0]);
}
