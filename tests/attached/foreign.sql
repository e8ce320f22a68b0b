-- A state database as the original system lays it out, with a few rows of every kind that matters to a reader.
PRAGMA page_size = 4096;
CREATE TABLE schema_meta (name TEXT PRIMARY KEY, value TEXT);
CREATE TABLE session_state_events (
  sequence INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, dedupe_key TEXT UNIQUE, session_key TEXT NOT NULL, session_id TEXT,
  agent_id TEXT NOT NULL, kind TEXT NOT NULL, actor_type TEXT NOT NULL, actor_id TEXT, run_id TEXT,
  occurred_at INTEGER NOT NULL, summary TEXT NOT NULL, payload_json TEXT
) STRICT;
CREATE INDEX session_state_events_by_session ON session_state_events (session_key, sequence DESC);
CREATE TABLE session_state_heads (
  session_key TEXT NOT NULL, agent_id TEXT NOT NULL, last_sequence INTEGER NOT NULL,
  pruned_max_sequence INTEGER NOT NULL DEFAULT 0, updated_at INTEGER NOT NULL, PRIMARY KEY (session_key, agent_id)
) STRICT;
CREATE TABLE session_watch_cursors (
  watcher_session_key TEXT NOT NULL, target_session_key TEXT NOT NULL, last_seen_sequence INTEGER NOT NULL DEFAULT 0,
  notified_sequence INTEGER NOT NULL DEFAULT 0, material_sequence INTEGER NOT NULL DEFAULT 0,
  updated_at INTEGER NOT NULL, PRIMARY KEY (watcher_session_key, target_session_key)
) STRICT;
CREATE TABLE session_upstream_links (
  session_key TEXT NOT NULL, agent_id TEXT NOT NULL, catalog_id TEXT NOT NULL, host_id TEXT NOT NULL,
  thread_id TEXT NOT NULL, upstream_kind TEXT NOT NULL, upstream_ref_json TEXT, last_marker_json TEXT,
  last_scanned_at INTEGER, created_at INTEGER NOT NULL, updated_at INTEGER NOT NULL, PRIMARY KEY (session_key, agent_id)
) STRICT;

INSERT INTO session_state_events (sequence, dedupe_key, session_key, agent_id, kind, actor_type, actor_id, run_id, occurred_at,
  summary, payload_json) VALUES
  (1, 'child-spawned:r1', 'agent:main:subagent:a', 'main', 'child_spawned', 'agent', 'agent:main:main', 'r1', 1784160001000, 'child session spawned', NULL),
  (2, 'child-spawned:r2', 'agent:main:subagent:b', 'main', 'child_spawned', 'agent', 'agent:main:main', 'r2', 1784160002000, 'child session spawned', NULL),
  (3, NULL, 'agent:main:subagent:a', 'main', 'human_direct_message', 'human', NULL, NULL, 1784160003000, 'human message via telegram', NULL),
  (4, NULL, 'agent:main:subagent:a', 'main', 'goal_changed', 'human', NULL, NULL, 1784160004000, 'goal created', NULL),
  (5, 'run-terminal:r2', 'agent:main:subagent:b', 'main', 'run_failed', 'system', NULL, 'r2', 1784160005000, 'child run cancelled', '{"outcome":"cancelled"}'),
  (6, NULL, 'agent:main:telegram:group:room', 'main', 'human_direct_message', 'human', NULL, NULL, 1784160006000, 'human message via telegram', NULL),
  (7, NULL, 'agent:main:subagent:a:subagent:c', 'main', 'goal_changed', 'human', NULL, NULL, 1784160007000, 'goal created', '[1]'),
  (8, NULL, 'agent:main:claude:t', 'main', 'goal_changed', 'agent', 'agent:main:main', NULL, 1784160008000, 'goal created', NULL);
INSERT INTO session_state_heads (session_key, agent_id, last_sequence, updated_at) VALUES
  ('agent:main:subagent:a', 'main', 4, 1784160004000), ('agent:main:subagent:b', 'main', 5, 1784160005000),
  ('agent:main:telegram:group:room', 'main', 6, 1784160006000), ('agent:main:subagent:a:subagent:c', 'main', 7, 1784160007000),
  ('agent:main:claude:t', 'main', 8, 1784160008000);
INSERT INTO session_watch_cursors VALUES
  ('agent:main:main', 'agent:main:subagent:a', 1, 3, 4, 1784160004000),
  ('agent:main:main', 'agent:main:subagent:b', 2, 2, 2, 1784160002000),
  ('agent:main:main', 'agent:main:telegram:group:room', 0, 6, 6, 1784160006000),
  ('agent:main:subagent:a', 'agent:main:subagent:a:subagent:c', 0, 7, 7, 1784160007000),
  ('agent:main:main', 'agent:main:claude:t', 0, 0, 0, 1784160000000),
  ('agent:ops:main', 'agent:main:claude:t', 0, 8, 8, 1784160008000);
INSERT INTO session_upstream_links VALUES
  ('agent:main:claude:t', 'main', 'claude', 'local', 't', 'claude-jsonl', '{"path":"/x/t.jsonl"}', '{"offset":99}', 1784160008000, 1784160000000, 1784160008000);
