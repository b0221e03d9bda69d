CREATE TABLE schema_version ( version INTEGER NOT NULL );
CREATE TABLE sessions ( id TEXT PRIMARY KEY, cwd TEXT, repository TEXT, host_type TEXT, branch TEXT, summary TEXT, created_at TEXT DEFAULT (datetime('now')), updated_at TEXT DEFAULT (datetime('now')) );
CREATE TABLE turns ( id INTEGER PRIMARY KEY AUTOINCREMENT, session_id TEXT NOT NULL REFERENCES sessions(id), turn_index INTEGER NOT NULL, user_message TEXT, assistant_response TEXT, timestamp TEXT DEFAULT (datetime('now')), UNIQUE(session_id, turn_index) );
CREATE TABLE session_files ( id INTEGER PRIMARY KEY AUTOINCREMENT, session_id TEXT NOT NULL REFERENCES sessions(id), file_path TEXT NOT NULL, tool_name TEXT, turn_index INTEGER, first_seen_at TEXT DEFAULT (datetime('now')), UNIQUE(session_id, file_path) );
CREATE TABLE forge_skill_proposals ( id TEXT PRIMARY KEY, repo_owner TEXT, repo_name TEXT, git_root_path TEXT NOT NULL, branch_name TEXT NOT NULL, trigger_mode TEXT NOT NULL, status TEXT NOT NULL, fingerprint TEXT, manifest_json TEXT, summary_json TEXT, workspace_before_json TEXT, superseded_by TEXT, failure_reason TEXT, created_at TEXT NOT NULL, updated_at TEXT NOT NULL );
INSERT INTO schema_version VALUES (8);
INSERT INTO sessions VALUES ('g', '/x/@@BARE@@', '@@BARE@@', '@@BARE@@', '@@BARE@@', '@@BARE@@', '2026-11-22T08:15:07.840Z', '@@BARE@@');
INSERT INTO turns VALUES (1, 'g', 0, '@@BARE@@', '@@BARE@@', '2026-11-22T08:15:13.748Z');
INSERT INTO session_files VALUES (1, 'g', '/x/@@BARE@@', 'create', 0, 't');
