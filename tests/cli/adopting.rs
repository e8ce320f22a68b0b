//! Adopting a transcript, ticking, scanning.

use std::fs::{File, OpenOptions};
use std::io::Write as _;
use std::path::PathBuf;

use super::support::{Home, document, one_line, words};

const THREAD: &str = "0f3c1d2e-7a51-4c1e-9b1c-1d2e3f405162";
const KEY: &str = "agent:main:claude:0f3c1d2e-7a51-4c1e-9b1c-1d2e3f405162";
/// A recorded transcript with human turns in its lines 4 and 11.
const RECORDED: &str = include_str!("../inputs/claude/cc-absorbed-mid-turn.jsonl");

/// A transcript with the first `lines` lines of the recorded one.
fn transcript(home: &Home, lines: usize) -> PathBuf {
    let folder = home.path("claude/projects/-work-project");
    std::fs::create_dir_all(&folder).unwrap();
    let path = folder.join(format!("{THREAD}.jsonl"));
    let text: String = RECORDED.split_inclusive('\n').take(lines).collect();
    File::create(&path).unwrap().write_all(text.as_bytes()).unwrap();
    path
}

fn append(path: &PathBuf, from: usize) {
    let text: String = RECORDED.split_inclusive('\n').skip(from).collect();
    OpenOptions::new().append(true).open(path).unwrap().write_all(text.as_bytes()).unwrap();
}

#[test]
fn from_adoption_to_a_notice() {
    let home = Home::new();
    let path = transcript(&home, 5);
    let ran = home.run(words("adopt 0f3c --json"));
    assert_eq!(ran.code, 0, "{ran:?}");
    assert_eq!(
        document(&ran.stdout).to_string(),
        format!(r#"{{"ok":true,"sessionKey":"{KEY}","adopted":true}}"#)
    );
    assert!(one_line(&ran.stderr).starts_with("nobody watches"), "{ran:?}");
    assert_eq!(home.shape("tick"), r#"{"links":[]}"#);
    assert_eq!(
        home.shape("adopt 0f3c --harness claude-code --watch-as agent:main:main"),
        format!(
            r#"{{"ok":true,"sessionKey":"{KEY}","adopted":false,"watchedBy":"agent:main:main"}}"#
        )
    );
    assert_eq!(
        home.shape("tick"),
        format!(
            r#"{{"links":[{{"sessionKey":"{KEY}","catalogId":"claude","threadId":"{THREAD}","outcome":"quiet","humanTurns":0}}]}}"#
        )
    );
    append(&path, 5);
    assert_eq!(
        home.shape("tick"),
        format!(
            r#"{{"links":[{{"sessionKey":"{KEY}","catalogId":"claude","threadId":"{THREAD}","outcome":"activity","humanTurns":1}}]}}"#
        )
    );
    let sessions = home.shape("sessions");
    let upstream = format!(
        r#""upstream":{{"catalogId":"claude","hostId":"gateway:local","threadId":"{THREAD}","outcome":"activity","missingStreak":0,"lastScannedAt":0}}"#
    );
    assert!(sessions.contains(&upstream), "{sessions}");
    assert!(sessions.contains(r#""summary":"human message via claude""#), "{sessions}");
    assert!(home.ok("turn agent:main:main").contains(KEY));
    assert!(home.ok("tick").contains("quiet"));
    std::fs::remove_file(&path).unwrap();
    assert!(home.shape("tick").contains(r#""outcome":"missing","humanTurns":0,"detail":"1/3; "#));
}

#[test]
fn the_key_that_adoption_gives_names_the_session_the_program_and_the_agent() {
    let home = Home::new();
    transcript(&home, 5);
    let key = format!("agent:Ops:claude:{THREAD}");
    assert!(home.refused(2, &format!("adopt {key} --agent other")).contains("--agent"));
    assert!(home.refused(2, &format!("adopt {key} --harness codex")).contains("--harness"));
    let known = format!("agent:ops:claude:{THREAD}");
    for wanted in [&*key, "agent:ops:claude:0f3c", &known] {
        let adopted = home.json(&format!("adopt {wanted} --agent OPS --watch-as agent:main:main"));
        assert_eq!(adopted["sessionKey"], *known, "{wanted}");
    }
    assert!(
        home.refused(3, &format!("adopt agent:ops:codex:{THREAD}")).contains("tidings catalog")
    );
    assert!(home.refused(3, "adopt agent:ops:main").contains("tidings catalog"));
    assert!(home.refused(3, "adopt agent:ops:claude:").contains("tidings catalog"));
    assert_eq!(
        home.json("sessions")["sessions"]
            .as_array()
            .unwrap()
            .iter()
            .filter(|session| session["sessionKey"].as_str().unwrap().contains("claude"))
            .count(),
        1
    );
}

#[test]
fn half_an_adoption_is_none() {
    let home = Home::new();
    transcript(&home, 5);
    home.refused(1, "adopt 0f3c --watch-as global");
    assert!(!home.ok("sessions --json").contains("claude"));
}

#[test]
fn the_agent_is_part_of_the_key_and_a_path_will_do() {
    let home = Home::new();
    let path = transcript(&home, 5);
    let line = format!("adopt {} --agent Ops --watch-as agent:main:main", path.display());
    let adopted = home.json(&line);
    assert_eq!(adopted["sessionKey"], format!("agent:ops:claude:{THREAD}"));
}

#[test]
fn the_config_says_where_the_transcripts_lie() {
    let home = Home::new();
    transcript(&home, 5);
    std::fs::rename(home.path("claude"), home.path("moved")).unwrap();
    home.refused(3, "adopt 0f3c");
    home.write_config("[upstream]\nclaude_config_dir = \"~/moved\"\n");
    home.ok("adopt 0f3c --watch-as agent:main:main");
}

#[test]
fn an_ambiguous_beginning_is_refused() {
    let home = Home::new();
    let path = transcript(&home, 5);
    let other = path.with_file_name("0f3c9999-7a51-4c1e-9b1c-1d2e3f405162.jsonl");
    std::fs::copy(&path, other).unwrap();
    assert!(home.refused(2, "adopt 0f3c").contains("2 claude sessions"));
}

#[test]
fn a_scan_shows_verdicts_and_no_word_of_the_transcript() {
    let home = Home::new();
    let path = transcript(&home, 100);
    let lines = home.ok(&format!("scan --harness claude {} --json", path.display()));
    let mut lines: Vec<_> = lines.lines().map(document).collect();
    let total = lines.pop().unwrap();
    let size = RECORDED.len();
    assert_eq!(
        total.to_string(),
        format!(
            r#"{{"total":{{"rows":{},"humanTurns":2,"humanLines":[4,11],"nextOffset":{size},"size":{size},"state":"complete"}}}}"#,
            lines.len()
        )
    );
    assert_eq!(
        lines[0].to_string(),
        r#"{"line":1,"offset":0,"bytes":83,"verdict":"other","reason":"not-a-user-row"}"#
    );
    assert!(
        lines[3]["at"].is_i64() && lines[3]["verdict"] == "human" && lines[3]["reason"] == "prompt"
    );
    let from = lines[3]["offset"].as_u64().unwrap();
    let rest = home.ok(&format!("scan {} --json --from {from}", path.display()));
    assert!(rest.lines().last().unwrap().contains(r#""humanLines":[1,8]"#), "{rest}");
    let blocked = home.ok(&format!("scan {} --json --max-row-bytes 100", path.display()));
    assert!(blocked.lines().last().unwrap().contains(r#""state":"blocked""#), "{blocked}");
    let text = home.ok(&format!("scan {}", path.display()));
    assert!(text.lines().last().unwrap().contains("2 human turns"), "{text}");
    let words_of_people = RECORDED.lines().nth(3).unwrap();
    let prompt: serde_json::Value = serde_json::from_str(words_of_people).unwrap();
    let prompt = prompt["message"]["content"].as_str().unwrap();
    assert!(!text.contains(prompt) && !rest.contains(prompt));
    home.refused(1, "scan nowhere.jsonl");
}
