//! Own texts and their echo: cases 84 to 88, as far as they concern texts that were put into a session by a turn.

use tidings::session_key::SessionKey;

use crate::support::{Bench, NONE, address, append, prompt, watcher};

/// Another session says something, and a turn of `session` takes it; what the turn prints.
fn say(bench: &mut Bench, session: &SessionKey, text: &str) -> Vec<String> {
    bench.engine.send(&address(&watcher()), &address(session), text, false).unwrap();
    bench.engine.turn(&address(session)).unwrap().lines
}

#[test]
fn case_84_a_message_that_a_turn_took_is_an_echo_alone_and_as_it_was_printed() {
    let mut bench = Bench::new();
    let (path, session) = bench.transcript("t", "");
    let lines = say(&mut bench, &session, "please look at the build");
    append(&path, prompt("1", 1_000, "please look  at\nthe build"));
    append(&path, prompt("2", 2_000, &lines.join("\n")));
    let outcome = bench.tick_one();
    assert_eq!((outcome.outcome.as_str(), outcome.human_turns), ("echo", 0));
    assert!(outcome.detail.unwrap().starts_with("2 own texts"));
    append(&path, prompt("3", 3_000, "Please look at the build"));
    assert_eq!(bench.tick_one().human_turns, 1, "case matters");
    assert_eq!(bench.turns(&session), [1]);
}

#[test]
fn each_line_of_a_turn_that_took_several_messages_is_an_echo() {
    let mut bench = Bench::new();
    let (path, session) = bench.transcript("t", "");
    let to = address(&session);
    bench.engine.send(&address(&watcher()), &to, "first", false).unwrap();
    let lines = say(&mut bench, &session, "second");
    assert_eq!(lines.len(), 2);
    for (number, line) in lines.iter().enumerate() {
        append(&path, prompt(&number.to_string(), 1_000, line));
        assert_eq!(bench.tick_one().outcome, "echo", "{number}");
    }
    append(&path, prompt("2", 1_000, &lines[0].replace("first", "third")));
    assert_eq!(bench.tick_one().human_turns, 1);
}

#[test]
fn case_85_a_text_that_no_turn_took_is_no_own_text() {
    let mut bench = Bench::new();
    let (path, session) = bench.transcript("t", &prompt("0", -1, "typed before"));
    let to = address(&session);
    bench.engine.send(&address(&watcher()), &to, "still waits", false).unwrap();
    append(&path, prompt("1", 1_000, "typed before") + &prompt("2", 2_000, "still waits"));
    assert_eq!(bench.tick_one().human_turns, 2);
}

#[test]
fn case_86_the_newest_ten_are_echoes_and_the_eleventh_is_a_persons() {
    let mut bench = Bench::new();
    let (path, session) = bench.transcript("t", "");
    for number in 1..=12 {
        say(&mut bench, &session, &format!("message number {number}"));
    }
    let mut found = Vec::new();
    for number in 1..=12 {
        append(&path, prompt(&number.to_string(), number, &format!("message number {number}")));
        found.push(bench.tick_one().human_turns);
    }
    assert_eq!(found, [1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
    assert_eq!(bench.turns(&session), [1, 1]);
}

#[test]
fn case_87_messages_in_between_that_are_no_own_texts_push_none_of_the_ten_out() {
    let mut bench = Bench::new();
    let (path, session) = bench.transcript("t", "");
    let to = address(&session);
    for number in 1..=10 {
        say(&mut bench, &session, &format!("message number {number}"));
        if number % 2 == 0 {
            append(&path, prompt(&format!("typed{number}"), number, &format!("typed {number}")));
            bench.tick_one();
        }
    }
    for number in 0..5 {
        bench.engine.send(&address(&watcher()), &to, &format!("waits {number}"), false).unwrap();
    }
    for number in 1..=10 {
        append(&path, prompt(&number.to_string(), 100, &format!("message number {number}")));
        assert_eq!(bench.tick_one().outcome, "echo", "{number}");
    }
    assert_eq!(bench.turns(&session), [1; 5]);
}

#[test]
fn case_88_another_prompt_right_after_an_own_text_counts() {
    let mut bench = Bench::new();
    let (path, session) = bench.transcript("t", "");
    say(&mut bench, &session, "ours");
    append(&path, prompt("1", 1_000, "ours") + &prompt("2", 6_000, "typed 5 s later"));
    let outcome = bench.tick_one();
    assert_eq!((outcome.outcome.as_str(), outcome.human_turns), ("activity", 1));
    assert!(outcome.detail.unwrap().contains("1 own texts"));
    assert_eq!(bench.turns(&session), [1]);
}

#[test]
fn own_texts_of_one_session_are_nobody_elses() {
    let mut bench = Bench::new();
    let (_, one) = bench.transcript("one", "");
    let (path, two) = bench.transcript("two", "");
    say(&mut bench, &one, "ours");
    append(&path, prompt("1", 1_000, "ours"));
    bench.tick();
    assert_eq!((bench.turns(&one), bench.turns(&two)), (vec![], vec![1]));
}

#[test]
fn own_texts_survive_a_restart() {
    let mut bench = Bench::new();
    let (path, session) = bench.transcript("t", "");
    say(&mut bench, &session, "ours");
    bench.restart();
    append(&path, prompt("1", 1_000, "ours"));
    assert_eq!(bench.tick_one().outcome, "echo");
    assert_eq!(bench.turns(&session), NONE);
}
