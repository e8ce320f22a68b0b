//! Where transcripts lie.

use std::path::Path;

use super::classify::FileKind;

/// What the path says about a file. A path that lies like a sub-agent's file is one (decision 28): below `subagents`, or,
/// in older versions, flat beside the sessions.
pub fn kind_of(path: &Path) -> FileKind {
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    if name == "history.jsonl" {
        return FileKind::History;
    }
    let is_agent = name.strip_prefix("agent-").is_some_and(|rest| {
        let id = rest.split('.').next().unwrap_or_default();
        let is_below = path
            .parent()
            .is_some_and(|folder| folder.components().any(|part| part.as_os_str() == "subagents"));
        is_below || (!id.is_empty() && id.bytes().all(|byte| byte.is_ascii_hexdigit()))
    });
    if is_agent { FileKind::Agent } else { FileKind::Session }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_that_lies_like_a_sub_agents_file_is_one() {
        for (path, want) in [
            ("/c/projects/p/0177f6dd.jsonl", FileKind::Session),
            ("/c/projects/p/s/subagents/agent-a309a95b.jsonl", FileKind::Agent),
            ("/c/projects/p/s/subagents/agent-acompact-x1.jsonl", FileKind::Agent),
            ("/c/projects/p/s/subagents/deep/agent-zz.jsonl", FileKind::Agent),
            ("/c/projects/p/agent-7ca04053.jsonl", FileKind::Agent),
            ("/c/projects/p/agent-smith.jsonl", FileKind::Session),
            ("/home/subagents/p/s.jsonl", FileKind::Session),
            ("/c/history.jsonl", FileKind::History),
        ] {
            assert_eq!(kind_of(Path::new(path)), want, "{path}");
        }
    }
}
