package bank

// schemaOfNights is the part of the schema that is about what nights made of the sessions.
const schemaOfNights = `
CREATE TABLE clusters (
	number  INTEGER PRIMARY KEY,   -- in the order in which they came
	project TEXT NOT NULL,
	skill   TEXT NOT NULL,         -- '': none
	side    TEXT NOT NULL,         -- open, test; '': no task of it may be used yet
	night   TEXT NOT NULL,         -- in which it got its side
	opened  TEXT NOT NULL,         -- the night that opened it, of one that was test; '': none
	first   INTEGER NOT NULL,      -- when it was shown first, in nanoseconds
	last    INTEGER NOT NULL,      -- and last
	shown   INTEGER NOT NULL       -- how often
);
CREATE INDEX cluster_places ON clusters (project, skill);
CREATE TABLE groups (
	project TEXT NOT NULL,
	skill   TEXT NOT NULL,
	sided   INTEGER NOT NULL,      -- clusters that ever got a side: every fifth is test
	PRIMARY KEY (project, skill)
) WITHOUT ROWID;
CREATE TABLE tasks (
	id       TEXT PRIMARY KEY,
	cluster  INTEGER NOT NULL REFERENCES clusters (number),
	held     TEXT NOT NULL,
	unfit    TEXT NOT NULL,
	reviewed INTEGER NOT NULL,     -- 0 not yet, 1 accepted, 2 rejected
	data     TEXT NOT NULL         -- JSON: wish.Task
) WITHOUT ROWID;
CREATE INDEX task_clusters ON tasks (cluster);
CREATE TABLE mined (
	source  TEXT NOT NULL,
	session TEXT NOT NULL,
	mark    TEXT NOT NULL,         -- digest of its turns, and of the way of mining
	night   TEXT NOT NULL,
	PRIMARY KEY (source, session)
) WITHOUT ROWID;
CREATE TABLE nights (
	id      TEXT PRIMARY KEY,
	project TEXT NOT NULL,
	started INTEGER NOT NULL,
	ended   INTEGER NOT NULL,      -- 0: it is not over
	data    TEXT NOT NULL          -- JSON of the night
) WITHOUT ROWID;
CREATE TABLE candidates (
	number  INTEGER PRIMARY KEY,
	project TEXT NOT NULL,
	target  TEXT NOT NULL,
	night   TEXT NOT NULL,
	state   TEXT NOT NULL,         -- carried, certified, dropped
	level   REAL NOT NULL,
	data    TEXT NOT NULL          -- JSON: Candidate
);
CREATE INDEX candidate_targets ON candidates (project, target);
CREATE TABLE pairs (
	candidate INTEGER NOT NULL REFERENCES candidates (number),
	cluster   INTEGER NOT NULL,
	night     TEXT NOT NULL,
	live      REAL NOT NULL,
	staged    REAL NOT NULL,
	PRIMARY KEY (candidate, cluster)
) WITHOUT ROWID;
`
