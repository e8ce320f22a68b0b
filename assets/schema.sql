-- The state database, version 1.
--
-- The first four tables are shared with the original system and have exactly its columns of August 2026; all others are
-- ours and carry a prefix. Times are integer milliseconds since the Unix epoch.

CREATE TABLE session_state_events (
  sequence INTEGER PRIMARY KEY AUTOINCREMENT,
  dedupe_key TEXT UNIQUE,
  session_key TEXT NOT NULL,
  session_id TEXT,
  agent_id TEXT NOT NULL,
  kind TEXT NOT NULL,
  actor_type TEXT NOT NULL,
  actor_id TEXT,
  run_id TEXT,
  occurred_at INTEGER NOT NULL,
  summary TEXT NOT NULL,
  payload_json TEXT
) STRICT;
CREATE INDEX idx_session_state_events_session_sequence ON session_state_events(session_key, sequence DESC);
CREATE INDEX idx_session_state_events_time ON session_state_events(occurred_at DESC, sequence DESC);

CREATE TABLE session_state_heads (
  session_key TEXT NOT NULL,
  agent_id TEXT NOT NULL,
  last_sequence INTEGER NOT NULL,
  pruned_max_sequence INTEGER NOT NULL DEFAULT 0,
  updated_at INTEGER NOT NULL,
  PRIMARY KEY (session_key, agent_id)
) STRICT;

CREATE TABLE session_watch_cursors (
  watcher_session_key TEXT NOT NULL,
  target_session_key TEXT NOT NULL,
  last_seen_sequence INTEGER NOT NULL DEFAULT 0,
  notified_sequence INTEGER NOT NULL DEFAULT 0,
  material_sequence INTEGER NOT NULL DEFAULT 0,
  provenance TEXT NOT NULL DEFAULT 'explicit' CHECK (provenance IN ('explicit', 'ambient-group')),
  updated_at INTEGER NOT NULL,
  PRIMARY KEY (watcher_session_key, target_session_key)
) STRICT;
CREATE INDEX idx_session_watch_cursors_target ON session_watch_cursors(target_session_key);

CREATE TABLE session_upstream_links (
  session_key TEXT NOT NULL,
  agent_id TEXT NOT NULL,
  catalog_id TEXT NOT NULL,
  host_id TEXT NOT NULL,
  thread_id TEXT NOT NULL,
  upstream_kind TEXT NOT NULL,
  upstream_ref_json TEXT,
  last_marker_json TEXT,
  last_scanned_at INTEGER,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  PRIMARY KEY (session_key, agent_id)
) STRICT;
CREATE INDEX idx_session_upstream_links_catalog_id ON session_upstream_links(catalog_id);

-- The sessions that exist, as verbs, adoption and hooks named them. The sweep asks this table.
CREATE TABLE tidings_sessions (
  session_key TEXT NOT NULL PRIMARY KEY,
  agent_id TEXT NOT NULL,
  parent_key TEXT,
  title TEXT,
  harness TEXT,
  session_id TEXT,
  turns INTEGER NOT NULL DEFAULT 0,
  last_turn_at INTEGER,
  ended_at INTEGER,
  created_at INTEGER NOT NULL
) STRICT;

-- Messages that wait for their receiver's next turn: one of the two places that hold text.
CREATE TABLE tidings_inbox (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  receiver_key TEXT NOT NULL,
  sender_key TEXT NOT NULL,
  body TEXT NOT NULL,
  sent_at INTEGER NOT NULL
) STRICT;
CREATE INDEX idx_tidings_inbox_receiver ON tidings_inbox(receiver_key, id);

-- Goals until they are cleared: the other place that holds text.
CREATE TABLE tidings_goals (
  session_key TEXT NOT NULL,
  agent_id TEXT NOT NULL,
  objective TEXT NOT NULL,
  status TEXT NOT NULL,
  updated_at INTEGER NOT NULL,
  PRIMARY KEY (session_key, agent_id)
) STRICT;

-- The last sequence of each deleted session, for ever: an old version must answer with a gap.
CREATE TABLE tidings_tombstones (
  session_key TEXT NOT NULL,
  agent_id TEXT NOT NULL,
  last_sequence INTEGER NOT NULL,
  deleted_at INTEGER NOT NULL,
  PRIMARY KEY (session_key, agent_id)
) STRICT;

-- What the monitor last found behind each link, and how often in a row it found nothing there.
CREATE TABLE tidings_link_states (
  session_key TEXT NOT NULL,
  agent_id TEXT NOT NULL,
  outcome TEXT NOT NULL,
  detail TEXT,
  outcome_at INTEGER NOT NULL,
  missing_streak INTEGER NOT NULL DEFAULT 0,
  streak_source TEXT,
  streak_link_updated_at INTEGER,
  PRIMARY KEY (session_key, agent_id)
) STRICT;

-- Hashes of the foreign records that were counted as turns, so that a copy or a second reading counts nothing.
CREATE TABLE tidings_counted_records (
  record_hash BLOB NOT NULL,
  session_key TEXT NOT NULL,
  thread_id TEXT NOT NULL,
  counted_at INTEGER NOT NULL,
  PRIMARY KEY (record_hash, session_key)
) STRICT, WITHOUT ROWID;

-- Hashes of what was put into a session, the newest ten each: their echo is no human turn. A text that may come back in
-- several forms has the hashes of all, one behind the other.
CREATE TABLE tidings_own_texts (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  session_key TEXT NOT NULL,
  text_hash BLOB NOT NULL,
  put_at INTEGER NOT NULL
) STRICT;
CREATE INDEX idx_tidings_own_texts_session ON tidings_own_texts(session_key, id);

-- The process that runs the monitor, the wakes and the sweep. At most one row.
CREATE TABLE tidings_owner (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  process_id INTEGER NOT NULL,
  since INTEGER NOT NULL
) STRICT;

-- The monitor's pulse. At most one row.
CREATE TABLE tidings_pulse (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  last_tick_at INTEGER NOT NULL,
  took INTEGER NOT NULL,
  next_tick_at INTEGER,
  links INTEGER NOT NULL
) STRICT;

-- One coalesced wake a watcher, and how the last one ended.
CREATE TABLE tidings_wakes (
  watcher_key TEXT NOT NULL PRIMARY KEY,
  reason TEXT NOT NULL,
  due_at INTEGER,
  ended_at INTEGER,
  outcome TEXT,
  outcome_reason TEXT
) STRICT;

-- The steps in the life of each watch and notice; kept as long as the journal.
CREATE TABLE tidings_ledger (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  at INTEGER NOT NULL,
  step TEXT NOT NULL,
  watcher_key TEXT,
  target_key TEXT,
  sequence INTEGER,
  last_seen INTEGER,
  notified INTEGER,
  material INTEGER,
  note TEXT
) STRICT;
CREATE INDEX idx_tidings_ledger_pair ON tidings_ledger(target_key, watcher_key, id);

-- What became of each material event that reached a watcher: for how many it opened a notice, how many open notices
-- cover it, how many watchers caused it themselves.
CREATE TABLE tidings_deliveries (
  sequence INTEGER PRIMARY KEY,
  queued INTEGER NOT NULL,
  coalesced INTEGER NOT NULL,
  suppressed INTEGER NOT NULL
) STRICT;

-- Alerts that are open: the next owner closes them.
CREATE TABLE tidings_alerts (
  rule TEXT NOT NULL,
  watcher_key TEXT NOT NULL,
  target_key TEXT NOT NULL,
  since INTEGER NOT NULL,
  told_at INTEGER NOT NULL,
  PRIMARY KEY (rule, watcher_key, target_key)
) STRICT;

CREATE TABLE tidings_meta (
  name TEXT NOT NULL PRIMARY KEY,
  value INTEGER NOT NULL
) STRICT;
