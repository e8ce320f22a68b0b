//! The graph as DOT, for Graphviz and its kin.

use std::fmt::Write as _;

use super::Draft;
use crate::ui::words;
use crate::visible::clean;
use crate::watch::{Condition, Provenance};

/// What is drawn, as a DOT document.
pub(crate) fn dot(draft: &Draft) -> String {
    let mut out = String::from("digraph tidings {\n  rankdir=LR;\n  node [shape=box];\n");
    for (at, node) in draft.nodes.iter().enumerate() {
        let title = node.title.as_deref().map(|title| format!("\n{title}")).unwrap_or_default();
        let label = quoted(&format!(
            "{}\n{}{title}",
            words::whole_key(&node.key),
            words::version(node.version)
        ));
        let style = if node.has_ended { " style=dashed" } else { "" };
        // Writing to a string can't fail.
        let _ = writeln!(out, "  n{at} [label={label}{style}];");
    }
    for edge in &draft.edges {
        let mut attributes = Vec::new();
        match &edge.watch {
            Some(watch) => {
                let owed = if watch.lag > 0 { format!(" {}", watch.lag) } else { String::new() };
                attributes.push(format!("label={}", quoted(&format!("{}{owed}", watch.condition))));
                attributes.push(format!("color={}", colour(watch.condition)));
                if watch.provenance == Provenance::AmbientGroup {
                    attributes.push("style=dashed".to_owned());
                } else if edge.is_spawn {
                    attributes.push("style=bold".to_owned());
                }
            }
            None => attributes.push("style=dotted label=spawned".to_owned()),
        }
        let _ = writeln!(out, "  n{} -> n{} [{}];", edge.from, edge.to, attributes.join(" "));
    }
    if draft.hidden_nodes + draft.hidden_watches + draft.hidden_spawns > 0 {
        let _ = writeln!(
            out,
            "  // not drawn: {} sessions, {} watches, {} spawns",
            draft.hidden_nodes, draft.hidden_watches, draft.hidden_spawns
        );
    }
    out.push_str("}\n");
    out
}

fn colour(condition: Condition) -> &'static str {
    match condition {
        Condition::InStep => "darkgreen",
        Condition::Pending | Condition::Interleaved => "blue",
        Condition::PendingQuiet | Condition::Unnotifiable => "gray",
        Condition::Expiring | Condition::Rewound | Condition::Unknown => "orange",
        Condition::Stalled | Condition::Stopped | Condition::Gap => "red",
    }
}

/// A string of DOT: line breaks stay, all else that could act is spelled out.
fn quoted(text: &str) -> String {
    let lines: Vec<String> = text
        .split('\n')
        .map(|line| clean(line).replace('\\', "\\\\").replace('"', "\\\""))
        .collect();
    format!("\"{}\"", lines.join("\\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_can_not_end_early() {
        assert_eq!(quoted("a\"b\\\nc\u{1b}"), "\"a\\\"b\\\\\\nc␛\"");
    }
}
