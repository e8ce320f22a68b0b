use super::*;

const WORDS: &str = "ZXQ-planted-words";

fn row(json: &str) -> Row {
    classify(json.as_bytes(), FileKind::Session).unwrap()
}

/// The reason for a user record with `members` and string content.
fn user(members: &str, content: &str) -> Reason {
    let content = serde_json::json!(content);
    row(&format!(
        r#"{{"type":"user","uuid":"u1","timestamp":"2026-11-03T09:14:05.147Z","message":{{"role":"user","content":{content}}}{members}}}"#
    ))
    .reason
}

/// The reason for an unmarked user record with `blocks`.
fn blocks(blocks: &str) -> Reason {
    row(&format!(r#"{{"type":"user","message":{{"role":"user","content":{blocks}}}}}"#)).reason
}

fn queued(members: &str) -> Reason {
    row(&format!(
        r#"{{"type":"attachment","uuid":"u2","attachment":{{"type":"queued_command","prompt":"{WORDS}",{members}}}}}"#
    ))
    .reason
}

#[test]
fn marks_decide_before_words() {
    for (members, want) in [
        (
            r#","origin":{"kind":"human"},"promptSource":"typed","turnOrigin":"human""#,
            Reason::Prompt,
        ),
        (r#","origin":{"kind":"human"},"turnOrigin":"human""#, Reason::Prompt),
        (
            r#","origin":{"kind":"human"},"promptSource":"sdk","entrypoint":"remote_mobile""#,
            Reason::Prompt,
        ),
        (
            r#","origin":{"kind":"human"},"promptSource":"sdk","turnOrigin":"human","entrypoint":"sdk-py""#,
            Reason::Prompt,
        ),
        (r#","origin":{"kind":"human"},"promptSource":"suggestion_accepted""#, Reason::Prompt),
        (r#","origin":null,"promptSource":"queued""#, Reason::Prompt),
        (r#","promptSource":"typed""#, Reason::Prompt),
        (r#","isMeta":false,"isSidechain":null,"forkedFrom":null"#, Reason::Prompt),
        (r#","entrypoint":"cli""#, Reason::Prompt),
        (r#","entrypoint":"claude-vscode""#, Reason::Prompt),
        (r#","entrypoint":"sdk-ts""#, Reason::Sdk),
        (r#","promptSource":"sdk","turnOrigin":"sdk","rowSource":"local""#, Reason::Sdk),
        (r#","promptSource":"system""#, Reason::OriginOther),
        (r#","promptSource":"unheard_of""#, Reason::OriginOther),
        (
            r#","origin":{"kind":"task-notification"},"promptSource":"system""#,
            Reason::TaskNotification,
        ),
        (r#","origin":{"kind":"peer"}"#, Reason::OriginOther),
        (r#","origin":{"kind":"channel"},"promptSource":"typed""#, Reason::OriginOther),
        (r#","origin":{"kind":"unheard-of"}"#, Reason::OriginOther),
        (r#","origin":{}"#, Reason::OriginOther),
        (r#","origin":"human""#, Reason::OriginOther),
        (r#","turnOrigin":"human""#, Reason::NoOrigin),
        (r#","rowSource":"recorded""#, Reason::NoOrigin),
        (r#","isMeta":true,"origin":{"kind":"human"}"#, Reason::Meta),
        (r#","isMeta":true,"rowSource":"hook""#, Reason::Hook),
        (r#","isMeta":true,"promptSource":"system","turnOrigin":"scheduled""#, Reason::Scheduled),
        (r#","isSidechain":true,"origin":{"kind":"human"}"#, Reason::Sidechain),
        (r#","isCompactSummary":true,"isVisibleInTranscriptOnly":true"#, Reason::CompactSummary),
        (r#","isVisibleInTranscriptOnly":true"#, Reason::TranscriptOnly),
        (r#","forkedFrom":{"sessionId":"s"},"origin":{"kind":"human"}"#, Reason::Forked),
        (r#","toolUseResult":"x""#, Reason::ToolResult),
        (r#","sourceToolUseID":"t""#, Reason::ToolResult),
        (r#","interruptedMessageId":"m""#, Reason::Interrupted),
    ] {
        assert_eq!(user(members, WORDS), want, "{members}");
    }
}

#[test]
fn words_decide_on_records_without_marks_only() {
    let human = r#","origin":{"kind":"human"}"#;
    for (content, want) in [
        ("<task-notification>\n<task-id>b</task-id>", Reason::TaskNotification),
        ("<command-name>/model</command-name>", Reason::LocalCommand),
        ("<local-command-stdout>Set</local-command-stdout>", Reason::LocalCommand),
        ("<bash-input>ls</bash-input>", Reason::Shell),
        ("<bash-stdout>a</bash-stdout><bash-stderr></bash-stderr>", Reason::Shell),
        ("[Request interrupted by user]", Reason::Interrupted),
        ("[Request interrupted by user for tool use]", Reason::Interrupted),
        ("<teammate-message teammate_id=\"a\">", Reason::OriginOther),
        ("<cross-session-message from=\"a\">", Reason::OriginOther),
        ("<channel source=\"a\">", Reason::OriginOther),
        ("Stop hook feedback:\nlint", Reason::Hook),
        ("<ide_opened_file>a</ide_opened_file>", Reason::ContextOnly),
        ("<system-reminder>a</system-reminder>", Reason::ContextOnly),
    ] {
        assert_eq!(user("", content), want, "{content}");
        assert_eq!(user(human, content), Reason::Prompt, "{content}");
    }
    for content in [
        "",
        "<command-message>look</command-message>\n<command-name>/look</command-name>",
        "[Request interrupted by user] why?",
        "see <task-notification>",
        "<div>why is this red?</div>",
        "<ide_opened_file>a</ide_opened_file>\nwhy?",
    ] {
        assert_eq!(user("", content), Reason::Prompt, "{content}");
    }
    let output = r#","rowSource":"local","turnOrigin":"human""#;
    assert_eq!(user(output, "<bash-stdout>a</bash-stdout>"), Reason::Shell);
    let notice = r#","rowSource":"harness""#;
    assert_eq!(user(notice, "[Request interrupted by user]"), Reason::Interrupted);
    assert_eq!(
        user(r#","promptSource":"system""#, "<task-notification>"),
        Reason::TaskNotification
    );
}

#[test]
fn case_54_and_55_blocks() {
    for (content, want) in [
        (r#"[{"type":"text","text":"a"},{"type":"image","source":{}}]"#, Reason::Prompt),
        (r#"[{"type":"image","source":{}}]"#, Reason::Prompt),
        (r#"[{"type":"document","source":{}}]"#, Reason::Prompt),
        (
            r#"[{"type":"tool_result","content":"a"},{"type":"text","text":"b"}]"#,
            Reason::ToolResult,
        ),
        (r#"[{"type":"text","text":"b"},{"type":"tool_result"}]"#, Reason::ToolResult),
        (
            r#"[{"type":"text","text":"<ide_selection>a</ide_selection>"},{"type":"text","text":"b"}]"#,
            Reason::Prompt,
        ),
        (r#"[{"type":"text","text":"<ide_selection>a</ide_selection>"}]"#, Reason::ContextOnly),
        (r#"[{"type":"text","text":"[Request interrupted by user]"}]"#, Reason::Interrupted),
        (r"[]", Reason::ContextOnly),
        (r"5", Reason::NotAUserRow),
        (r"null", Reason::NotAUserRow),
    ] {
        assert_eq!(blocks(content), want, "{content}");
    }
}

#[test]
fn case_62_prompts_from_the_queue() {
    for (members, want) in [
        (
            r#""commandMode":"prompt","origin":{"kind":"human"},"humanTurn":true"#,
            Reason::QueuedPrompt,
        ),
        (r#""commandMode":"prompt""#, Reason::QueuedPrompt),
        (
            r#""commandMode":"prompt","origin":{"kind":"task-notification"}"#,
            Reason::TaskNotification,
        ),
        (r#""commandMode":"task-notification""#, Reason::TaskNotification),
        (r#""commandMode":"prompt","isMeta":true"#, Reason::Meta),
        (r#""commandMode":"bash","origin":{"kind":"human"}"#, Reason::Shell),
        (r#""commandMode":"prompt","prompt":"<task-notification>x""#, Reason::TaskNotification),
        (
            r#""commandMode":"prompt","prompt":[{"type":"text","text":"a"},{"type":"image"}]"#,
            Reason::QueuedPrompt,
        ),
        (r#""origin":{"kind":"human"}"#, Reason::Queue),
    ] {
        assert_eq!(queued(members), want, "{members}");
    }
}

#[test]
fn a_queued_prompt_has_the_time_of_typing_and_the_commands_id() {
    let json = format!(
        r#"{{"type":"attachment","uuid":"u","timestamp":"2026-11-03T09:14:12Z","attachment":{{"type":"queued_command","commandMode":"prompt","prompt":"{WORDS}","timestamp":"2026-11-03T09:14:10.5Z","source_uuid":"c","delivery_id":"d"}}}}"#
    );
    let row = row(&json);
    assert_eq!(row.at, Some(1_793_697_250_500));
    assert_eq!(row.id, Some(RecordId::of("c")));
    assert_eq!(row.words, TextHash::of(WORDS));
}

#[test]
fn queue_records_count_only_when_a_prompt_was_taken_up() {
    for (members, want) in [
        (r#""operation":"enqueue""#, Reason::Queue),
        (r#""operation":"dequeue""#, Reason::Queue),
        (r#""operation":"popAll""#, Reason::Queue),
        (r#""operation":"remove""#, Reason::Queue),
        (r#""operation":"remove","reason":"absorbed_mid_turn""#, Reason::AbsorbedPrompt),
        (
            r#""operation":"remove","reason":"absorbed_mid_turn","isSidechain":true"#,
            Reason::Sidechain,
        ),
    ] {
        let json = format!(r#"{{"type":"queue-operation","content":"{WORDS}",{members}}}"#);
        assert_eq!(row(&json).reason, want, "{members}");
    }
    let notice = r#"{"type":"queue-operation","operation":"remove","reason":"absorbed_mid_turn","content":"<task-notification>x"}"#;
    assert_eq!(row(notice).reason, Reason::TaskNotification);
}

#[test]
fn case_51_and_63_other_json_is_passed_over() {
    for json in ["null", "[]", "42", "true", "\"x\"", "-1.5e3"] {
        let row = row(json);
        assert_eq!((row.verdict, row.reason), (Verdict::Other, Reason::NotARecord), "{json}");
    }
    for json in [
        "{}",
        r#"{"type":"assistant","message":{"role":"assistant","content":"x"}}"#,
        r#"{"type":"user","message":{"role":"assistant","content":"x"}}"#,
        r#"{"type":"assistant","message":{"role":"user","content":"x"}}"#,
        r#"{"type":"api-request-blob","message":{"role":"user","content":"x"},"origin":{"kind":"human"}}"#,
        r#"{"type":"last-prompt","lastPrompt":"x"}"#,
        r#"{"type":"attachment","attachment":{"type":"hook_success"}}"#,
        r#"{"type":"user","message":"x"}"#,
        r#"{"display":"x","timestamp":1}"#,
    ] {
        let row = row(json);
        assert_eq!((row.verdict, row.reason), (Verdict::Other, Reason::NotAUserRow), "{json}");
    }
}

#[test]
fn damaged_rows_are_recovered_where_they_can_be() {
    let whole =
        format!(r#"{{"type":"user","uuid":"u","message":{{"role":"user","content":"{WORDS}@"}}}}"#);
    let with = |bytes: &[u8]| {
        let (before, behind) = whole.split_once('@').unwrap();
        [before.as_bytes(), bytes, behind.as_bytes()].concat()
    };
    let human =
        |bytes: &[u8]| classify(bytes, FileKind::Session).unwrap().verdict == Verdict::Human;
    assert!(human(&with(b"")));
    assert!(human(&with(b"\xff\xc3")));
    assert!(human(&with(br"\ud83d")));
    assert!(human(&with(br"\ude00 \\ud83d \ud83d\ude00 \ud83d\ud83d\ude00")));
    assert!(human(&[b"\0\0\0", &with(b"")[..]].concat()));
    assert!(human(&[b"\xef\xbb\xbf", &with(b"")[..]].concat()));
    for torn in [&b"{\"type\":\"us{\"type\":\"user\"}"[..], b"{} {}", b"\0\0", b"nonsense", b"\xff"]
    {
        let row = classify(torn, FileKind::Session).unwrap();
        assert_eq!((row.verdict, row.reason), (Verdict::Malformed, Reason::NotJson));
    }
    assert_eq!(classify(b" \t", FileKind::Session), None);
    assert_eq!(classify(b"", FileKind::Session), None);
}

#[test]
fn no_row_of_other_files_is_human() {
    let json =
        br#"{"type":"user","message":{"role":"user","content":"x"},"origin":{"kind":"human"}}"#;
    for (kind, want) in
        [(FileKind::Agent, Reason::Sidechain), (FileKind::History, Reason::NotATranscript)]
    {
        let row = classify(json, kind).unwrap();
        assert_eq!((row.verdict, row.reason), (Verdict::Other, want));
    }
}

#[test]
fn no_word_is_kept() {
    let json = format!(
        r#"{{"type":"user","uuid":"{WORDS}","message":{{"role":"user","content":"{WORDS}"}},"origin":{{"kind":"human"}}}}"#
    );
    let row = row(&json);
    assert_eq!(row.verdict, Verdict::Human);
    assert!(!format!("{row:?}").contains("ZXQ"));
}

#[test]
fn a_large_row_with_an_image_and_escapes_is_read() {
    let image = "A".repeat(8 * 1024 * 1024);
    let json = format!(
        r#"{{"type":"user","message":{{"role":"user","content":[{{"type":"image","source":{{"data":"{image}"}}}},{{"type":"text","text":"{}"}}]}}}}"#,
        r"\u00e9\n".repeat(500_000)
    );
    assert_eq!(row(&json).reason, Reason::Prompt);
}
