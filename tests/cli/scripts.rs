//! `script`: the recorded traces through the real binary, and scripts that stop.

use serde_json::{Map, Value};

use super::support::{Home, one_line};

const TRACES: [&str; 3] = ["tree-1001", "lifecycle-1010", "dedupe-1006"];

fn path(name: &str) -> String {
    format!("{}/tests/traces/{name}.json", env!("CARGO_MANIFEST_DIR"))
}

fn trace(name: &str) -> Value {
    serde_json::from_slice(&std::fs::read(path(name)).unwrap()).unwrap()
}

fn observations(stdout: &str) -> Vec<Value> {
    stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// Holds observations against what a trace expects, which names only what differs from the step before.
fn assert_expected(name: &str, trace: &Value, seen: &[Value]) {
    let expect = trace["expect"].as_array().unwrap();
    assert_eq!(seen.len(), expect.len(), "{name}");
    let mut carried = Map::new();
    for (step, (expected, seen)) in expect.iter().zip(seen).enumerate() {
        for field in ["cursors", "heads", "journal", "links", "queues"] {
            if let Some(value) = expected.get(field) {
                carried.insert(field.into(), value.clone());
            }
        }
        for (field, value) in &carried {
            assert_eq!(&seen[field], value, "{name} step {step} {field}");
        }
        assert_eq!(seen.get("ret"), expected.get("ret"), "{name} step {step}");
        let wakes = expected.get("wakes").cloned().unwrap_or_else(|| Value::Array(Vec::new()));
        assert_eq!(seen["wakes"], wakes, "{name} step {step}");
        assert!(seen.get("formatVersion").is_none());
    }
}

#[test]
fn operations_on_stdin_are_observed_line_by_line() {
    let home = Home::new();
    let traces = TRACES.map(trace);
    let operations: Vec<_> = traces
        .iter()
        .flat_map(|trace| trace["ops"].as_array().unwrap())
        .map(Value::to_string)
        .collect();
    let input = operations.join("\n");
    let ran = home.pipe(["script", "-"], input.as_bytes());
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""));
    let mut seen = observations(&ran.stdout);
    for (name, trace) in TRACES.iter().zip(&traces) {
        let rest = seen.split_off(trace["ops"].as_array().unwrap().len());
        assert_expected(name, trace, &seen);
        seen = rest;
    }
    assert!(!home.path("state").exists(), "a script has a state of its own");
}

#[test]
fn a_trace_is_played_as_a_file_too() {
    let home = Home::new();
    let ran = home.run(["script", &path(TRACES[0])]);
    assert_eq!(ran.code, 0);
    assert_expected(TRACES[0], &trace(TRACES[0]), &observations(&ran.stdout));
}

#[test]
fn check_finds_the_first_difference_of_each_trace() {
    let home = Home::new();
    let ran = home.run(["script", "--check", &path(TRACES[0]), &path(TRACES[2])]);
    assert_eq!((ran.code, ran.stdout.as_str()), (0, "2 traces, 0 with a difference\n"));
    let mut wrong = trace(TRACES[0]);
    let steps = wrong["expect"].as_array().unwrap().len();
    wrong["expect"][steps - 2]["ret"] = "nonsense".into();
    wrong["expect"][steps - 1]["ret"] = "more nonsense".into();
    let file = home.path("wrong.json");
    std::fs::write(&file, serde_json::to_string_pretty(&wrong).unwrap()).unwrap();
    let file = file.to_str().unwrap();
    let ran = home.run(["script", "--check", file, &path(TRACES[2])]);
    assert_eq!(ran.code, 1);
    let first = format!("step {}: ret differs", steps - 2);
    assert!(
        ran.stdout.contains(&first) && ran.stdout.contains("recorded  \"nonsense\""),
        "{ran:?}"
    );
    assert!(!ran.stdout.contains("more nonsense"), "{ran:?}");
    assert!(ran.stdout.ends_with("2 traces, 1 with a difference\n"));
    assert!(one_line(&ran.stderr).starts_with("1 of 2 traces"));
    let ran = home.run(["script", "--check", "--json", file]);
    let checked: Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!((&checked["ok"], &checked["traces"]), (&false.into(), &1.into()));
    assert_eq!(checked["differences"][0]["step"], steps - 2);
    let ran = home.pipe(["script", "--check", "-"], b"{\"op\":\"begin\"}\n");
    assert_eq!(ran.code, 2);
}

#[test]
fn a_line_that_is_no_operation_stops_with_its_place() {
    let home = Home::new();
    let file = home.path("steps.jsonl");
    std::fs::write(
        &file,
        "{\"op\":\"begin\",\"at\":1}\n\n{\"op\":\"fly\",\"at\":2}\n{\"op\":\"begin\"}\n",
    )
    .unwrap();
    let ran = home.run(["script", file.to_str().unwrap()]);
    assert_eq!(ran.code, 2);
    assert_eq!(ran.stdout.lines().count(), 1, "what came before was played");
    assert!(one_line(&ran.stderr).contains("steps.jsonl:3 is no operation: unknown variant `fly`"));
    let ran = home.pipe(["script", "-"], b"{\"op\":\"begin\"\n");
    assert_eq!(ran.code, 2);
    assert!(one_line(&ran.stderr).starts_with("standard input:1"));
    let ran = home.run(["script", "nowhere.jsonl"]);
    assert_eq!(ran.code, 1);
    assert!(one_line(&ran.stderr).starts_with("could not read nowhere.jsonl"));
}

#[test]
fn an_expectation_that_fails_says_what_was_found() {
    let home = Home::new();
    let script = "{\"op\":\"version\",\"at\":1,\"session\":\"agent:a:b\",\"agent\":\"a\"}\n\
                  {\"op\":\"expect\",\"path\":\"ret\",\"equals\":0}\n\
                  {\"op\":\"expect\",\"path\":\"journal.rows\",\"equals\":7}\n";
    let ran = home.pipe(["script", "-"], script.as_bytes());
    assert_eq!((ran.code, ran.stdout.lines().count()), (1, 1), "{ran:?}");
    assert_eq!(one_line(&ran.stderr), "standard input:3: expected journal.rows to be 7, found 0");
}

#[test]
fn each_file_has_a_state_of_its_own() {
    let home = Home::new();
    let file = home.path("one.jsonl");
    std::fs::write(
        &file,
        "{\"op\":\"record\",\"at\":1,\"session\":\"s\",\"agent\":\"a\",\"kind\":\"created\",\"actor_type\":\"system\",\"summary\":\"s\"}\n\
         {\"op\":\"expect\",\"path\":\"journal.rows\",\"equals\":1}\n",
    )
    .unwrap();
    let file = file.to_str().unwrap();
    assert_eq!(home.run(["script", file, file]).code, 0);
}
