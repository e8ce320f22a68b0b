//! Claude Code: transcripts below `$CLAUDE_CONFIG_DIR/projects`.
