//! Transcript rows of every kind, with a planted word in each place that holds some.

use serde_json::json;

use crate::house::House;

/// A row of each kind, with words in each place that holds some.
pub(crate) fn rows(house: &mut House) -> String {
    let mut w = |planted: &str| house.secret(planted);
    let at = jiff::Timestamp::now().to_string();
    let human = json!({"kind": "human"});
    let rows = [
        json!({"type": "user", "uuid": "1", "timestamp": at, "message": {"role": "user", "content": w("typed")},
            "origin": human, "promptSource": "typed", "cwd": "/work", "gitBranch": w("branch")}),
        json!({"type": "user", "uuid": "2", "timestamp": at, "origin": human, "promptSource": "queued",
            "message": {"role": "user", "content": [{"type": "text", "text": w("queued")},
            {"type": "image", "source": {"data": w("image")}}]}}),
        json!({"type": "queue-operation", "operation": "enqueue", "content": w("enqueue")}),
        json!({"type": "queue-operation", "operation": "remove", "reason": "absorbed_mid_turn",
            "content": w("absorbed"), "commandUuid": "3", "deliveryId": "d3", "timestamp": at}),
        json!({"type": "attachment", "uuid": "4", "timestamp": at, "attachment": {"type": "queued_command",
            "commandMode": "prompt", "prompt": w("attached"), "source_uuid": "5", "origin": human}}),
        json!({"type": "attachment", "attachment": {"type": "hook_additional_context", "content": [w("hook")]}}),
        json!({"type": "user", "uuid": "6", "message": {"role": "user", "content": [
            {"type": "tool_result", "content": w("result")}, {"type": "text", "text": w("beside")}]},
            "toolUseResult": {"stdout": w("stdout"), "answers": {w("question"): w("answer")}}}),
        json!({"type": "user", "uuid": "7", "origin": {"kind": "task-notification"},
            "message": {"role": "user", "content": format!("<task-notification>{}", w("notice"))}}),
        json!({"type": "user", "uuid": "8", "isMeta": true, "message": {"role": "user", "content": w("meta")}}),
        json!({"type": "user", "uuid": "9", "isCompactSummary": true, "message": {"role": "user", "content": w("summary")}}),
        json!({"type": "user", "uuid": "10", "message": {"role": "user", "content": format!("<bash-input>{}", w("shell"))}}),
        json!({"type": "user", "uuid": "11", "message": {"role": "user", "content":
            format!("<ide_selection>{}</ide_selection>{}", w("selection"), w("behind"))}}),
        json!({"type": "user", "uuid": w("uuid"), "timestamp": w("timestamp"), "promptSource": w("source"),
            "origin": {"kind": w("origin")}, "message": {"role": "user", "content": w("strange")}}),
        json!({"type": w("type"), "subtype": w("subtype")}),
        json!({"type": "assistant", "message": {"role": "assistant", "content": [
            {"type": "thinking", "thinking": w("thought")}, {"type": "text", "text": w("said")},
            {"type": "tool_use", "input": {"command": w("command")}}]}}),
        json!({"type": "system", "subtype": "local_command", "content": w("system")}),
        json!({"type": "last-prompt", "lastPrompt": w("last")}),
        json!({"type": "api-request-blob", "content": w("blob")}),
        json!({"type": "user", "uuid": "12", "isSidechain": true, "message": {"role": "user", "content": w("side")}}),
    ];
    let mut text: String = rows.iter().flat_map(|row| [row.to_string(), "\n".into()]).collect();
    text.push_str(&format!("{{\"type\":\"user\",\"torn\":\"{}\n", w("torn")));
    text.push_str(&format!("{}\n", w("nojson")));
    text.push_str(&format!("[\"{}\"]\n", w("array")));
    text.push_str(&format!("{{\"type\":\"user\",\"half\":\"{}", w("half")));
    text
}
