//! Every output is held against the schema that `schema VERB` prints, and says nothing that the schema does not know.

use serde_json::Value;

use super::foreign::Foreign;
use super::support::{Home, Ran, wait_until, words};

const W: &str = "agent:main:main";
const T: &str = "agent:main:subagent:child";

/// Holds `value` against `schema`, as far as our schemas go; `at` is where in the document.
fn hold(value: &Value, schema: &Value, root: &Value, at: &str) -> Result<(), String> {
    let fail = |what: &str| Err(format!("{at}: {what}: {value}"));
    if schema == &Value::Bool(true) {
        return Ok(());
    }
    if let Some(reference) = schema["$ref"].as_str() {
        let target = root
            .pointer(reference.trim_start_matches('#'))
            .ok_or(format!("{at}: no {reference}"))?;
        hold(value, target, root, at)?;
    }
    for several in ["anyOf", "oneOf"] {
        if let Some(choices) = schema[several].as_array()
            && !choices.iter().any(|choice| hold(value, choice, root, at).is_ok())
        {
            return fail("none of the choices");
        }
    }
    if let Some(allowed) = schema["enum"].as_array()
        && !allowed.contains(value)
    {
        return fail("not one of the values");
    }
    if schema.get("const").is_some_and(|only| only != value) {
        return fail("not the value");
    }
    let types: Vec<&str> = match &schema["type"] {
        Value::String(one) => vec![one],
        Value::Array(several) => several.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    };
    let is = |name: &&str| match *name {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "integer" => value.is_i64() || value.is_u64(),
        "number" => value.is_number(),
        "boolean" => value.is_boolean(),
        "null" => value.is_null(),
        _ => false,
    };
    if !types.is_empty() && !types.iter().any(is) {
        return fail("another type");
    }
    if schema["minimum"].as_f64().zip(value.as_f64()).is_some_and(|(least, found)| found < least) {
        return fail("too small");
    }
    for required in schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str) {
        if value.get(required).is_none() {
            return fail(&format!("no {required}"));
        }
    }
    if let (Some(fields), Some(known)) = (value.as_object(), schema["properties"].as_object()) {
        for (name, field) in fields {
            let Some(of_field) = known.get(name) else {
                return fail(&format!("an unknown {name}"));
            };
            hold(field, of_field, root, &format!("{at}.{name}"))?;
        }
    }
    if let (Some(fields), Some(each)) = (value.as_object(), schema.get("additionalProperties")) {
        for (name, field) in fields {
            hold(field, each, root, &format!("{at}.{name}"))?;
        }
    }
    if let Some(items) = value.as_array().filter(|_| schema.get("items").is_some()) {
        for (i, item) in items.iter().enumerate() {
            hold(item, &schema["items"], root, &format!("{at}[{i}]"))?;
        }
    }
    Ok(())
}

/// A home whose documents are held against the schemas.
struct Held(Home);

impl Held {
    fn schema(&self, verb: &str) -> Value {
        serde_json::from_str(&self.0.ok(&format!("schema {verb}"))).unwrap()
    }

    /// Runs a verb, and holds each line that it prints.
    fn holds(&self, line: &str) {
        let verb = line.split(' ').next().unwrap();
        let ran = self.0.run(words(line).chain(["--json"]));
        self.lines_hold(verb, &ran.stdout);
    }

    fn lines_hold(&self, verb: &str, lines: &str) {
        let schema = self.schema(verb);
        assert!(!lines.is_empty(), "{verb} printed nothing");
        for line in lines.lines() {
            let document: Value = serde_json::from_str(line).unwrap();
            assert_eq!(document["formatVersion"], 1);
            hold(&document, &schema, &schema, "$")
                .unwrap_or_else(|error| panic!("{verb}: {error}"));
        }
    }
}

#[test]
fn every_verbs_output_keeps_to_its_schema() {
    let home = Held(Home::new());
    home.0.write_config(
        "[[alerts]]\nname = \"a\"\nconditions = [\"pending\"]\nlonger_than = \"1m\"\ncommand = [\"true\"]\n",
    );
    for line in [
        &format!("watch {W} {T}"),
        &format!("spawn {W} agent:main:subagent:other --run r"),
        "finish agent:main:subagent:other --run r --outcome cancelled",
        &format!("record human_direct_message {T} --actor-type human --payload '{{\"turns\":2}}'"),
        &format!("record goal_changed {T} --actor-type system --dedupe k"),
        &format!("record goal_changed {T} --actor-type system --dedupe k"),
        &format!("goal {T} set words"),
        &format!("goal {T} set words"),
        &format!("compacted {T} --operation o"),
        &format!("send {W} {T} words --watch"),
        "sessions",
        &format!("status {T}"),
        &format!("status {T} --changes-since 0"),
        &format!("status {T} --changes-since 99"),
        "watches",
        "notices",
        "queue",
        &format!("explain --watcher {W} --target {T}"),
        &format!("explain --watcher {W} --target {T} --event 1"),
        "explain --watcher global --target nobody",
        "findings",
        &format!("wait {T} --since 0"),
        "check",
        "doctor",
        "alerts test",
        "tick",
        &format!("turn {W}"),
        &format!("unwatch {W} {T}"),
        &format!("reset {W}"),
        &format!("delete {T}"),
    ] {
        home.holds(line);
    }
    let failed = home.0.run(words("status agent:main:nobody --json"));
    home.lines_hold("error", &failed.stdout);
}

#[test]
fn outputs_about_adopted_sessions_keep_to_their_schemas() {
    let home = Held(Home::new());
    let folder = home.0.path("claude/projects/-p");
    std::fs::create_dir_all(&folder).unwrap();
    let id = "7f3a0000-0000-4000-8000-000000000001";
    let row = format!(
        r#"{{"type":"user","uuid":"u1","sessionId":"{id}","timestamp":"2026-07-01T00:00:00Z","origin":{{"kind":"human"}},"message":{{"role":"user","content":"x"}}}}"#
    );
    let file = folder.join(format!("{id}.jsonl"));
    std::fs::write(&file, format!("{row}\nnot a row\n")).unwrap();
    home.holds("catalog");
    home.holds(&format!("adopt {id} --watch-as {W}"));
    home.holds("tick");
    home.holds("run --for 300ms");
    home.holds("sessions");
    home.holds("watches");
    home.holds(&format!("scan {}", file.display()));
}

#[test]
fn outputs_over_an_attached_database_keep_to_their_schemas() {
    let home = Held(Home::new());
    let foreign = Foreign::newest();
    let (main, a) = ("agent:main:main", "agent:main:subagent:a");
    for line in [
        "sessions",
        "watches",
        "notices",
        "queue",
        "findings",
        "catalog",
        "doctor",
        "check",
        "wait --since 0",
        "run --for 100ms",
        &format!("status {a} --changes-since 0"),
        &format!("explain --watcher {main} --target {a}"),
        &format!("explain --watcher {main} --target nobody --event 3"),
        "explain --watcher global --target agent:main:subagent:A",
    ] {
        let path = foreign.path();
        let attached = ["--json", "--attach", path.to_str().unwrap()];
        let ran = home.0.run(attached.into_iter().chain(words(line)));
        home.lines_hold(line.split(' ').next().unwrap(), &ran.stdout);
    }
}

#[test]
fn lines_that_stream_keep_to_their_schemas() {
    let home = Held(Home::new());
    let run = home.0.command(words("run --json --for 2s")).spawn().unwrap();
    let lock = home.0.path("state/tidings/state.sqlite.lock");
    wait_until("it is the owner", || lock.exists());
    home.0.ok(&format!("watch {W} {T}"));
    home.0.ok(&format!("record goal_changed {T} --actor-type human --run r --actor x"));
    home.0.ok(&format!("turn {W}"));
    let follow = home.0.command(words("follow --since 0 --json")).spawn().unwrap();
    let lines = Ran::of(run).stdout;
    for word in ["owner", "registered", "recorded", "queued", "acknowledged"] {
        assert!(lines.contains(&format!("\"event\":\"{word}\"")), "{lines} has no {word}");
    }
    home.lines_hold("run", &lines);
    let id = rustix::process::Pid::from_child(&follow);
    rustix::process::kill_process(id, rustix::process::Signal::INT).unwrap();
    let followed = Ran::of(follow);
    assert_eq!(followed.code, 130);
    home.lines_hold("follow", &followed.stdout);
}

#[test]
fn lines_of_scripts_keep_to_their_schema() {
    let home = Held(Home::new());
    let schema = home.schema("script");
    let script = format!(
        r#"{{"op":"begin","at":1}}
           {{"op":"watch","at":2,"watcher":"{W}","target":"{T}"}}
           {{"op":"link_put","at":3,"session":"{T}","agent":"main","catalog":"c","host":"h","thread":"t","kind":"k","ref":{{}},"marker":{{}}}}
           {{"op":"record","at":4,"session":"{T}","agent":"main","kind":"goal_changed","actor_type":"human","summary":"s"}}"#
    );
    let ran = home.0.pipe(["script", "-"], script.as_bytes());
    let lines: Vec<Value> =
        ran.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines.len(), 4, "{ran:?}");
    for line in &lines {
        hold(line, &schema, &schema, "$").unwrap();
    }
    let last = &lines[3];
    assert!(["cursors", "heads", "links", "wakes"].iter().all(|name| last[name][0].is_object()));
    assert!(last["queues"][W][0].is_object());
    let mut wrong = last.clone();
    wrong["queues"][W][0]["text"] = 1.into();
    assert!(hold(&wrong, &schema, &schema, "$").is_err());

    let trace = r#"{"name":"t","ops":[{"op":"begin","at":1}],"expect":[{"ret":7}]}"#;
    let ran = home.0.pipe(["script", "--check", "--json", "-"], trace.as_bytes());
    let checked: Value = serde_json::from_str(ran.stdout.lines().next().unwrap()).unwrap();
    assert_eq!(checked["differences"].as_array().unwrap().len(), 1);
    hold(&checked, &schema, &schema, "$").unwrap();
}

#[test]
fn every_verb_that_prints_json_has_a_schema() {
    let home = Home::new();
    let verbs = <tidings::cli::Cli as clap::CommandFactory>::command();
    let verbs: Vec<_> = verbs.get_subcommands().map(|verb| verb.get_name().to_owned()).collect();
    assert!(verbs.len() > 30, "{verbs:?}");
    let without: Vec<_> = verbs
        .iter()
        .map(String::as_str)
        .filter(|verb| home.run(["schema", *verb]).code != 0)
        .collect();
    assert_eq!(without, ["demo", "metrics", "schema", "completions", "man"]);
}

#[test]
fn a_schema_refuses_what_is_wrong() {
    let home = Held(Home::new());
    let schema = home.schema("watches");
    for wrong in [
        r#"{"watches":[]}"#,
        r#"{"watches":{},"formatVersion":1}"#,
        r#"{"watches":[{"watcher":1}],"formatVersion":1}"#,
        r#"{"watches":[],"formatVersion":1,"more":1}"#,
    ] {
        let wrong: Value = serde_json::from_str(wrong).unwrap();
        assert!(hold(&wrong, &schema, &schema, "$").is_err(), "{wrong}");
    }
    home.0.refused(2, "schema nothing");
}
