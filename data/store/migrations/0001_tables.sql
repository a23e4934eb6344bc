-- The run log. Ids are text; times are ISO 8601 UTC in columns ending in _at.
-- Equal runs have equal rows in every column but runs.host, checkpoints.path,
-- those ending in _at, and the whole of timings.

CREATE TABLE runs (
  id         TEXT PRIMARY KEY,        -- hash of the resolved config
  config     TEXT NOT NULL,           -- resolved, YAML
  profile    TEXT NOT NULL,
  workflow   TEXT NOT NULL,
  policy     TEXT NOT NULL,
  task       TEXT NOT NULL,
  model      TEXT NOT NULL,
  numerics   TEXT NOT NULL,
  kernels    TEXT NOT NULL,
  seed       INTEGER NOT NULL,
  version    TEXT NOT NULL,
  state      TEXT NOT NULL,           -- running, done, stopped, failed
  host       TEXT NOT NULL,
  created_at TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE steps (                  -- verl's metric names, no role
  run       TEXT NOT NULL,
  iteration INTEGER NOT NULL,
  metric    TEXT NOT NULL,
  value     REAL,                     -- NULL where it was not finite
  PRIMARY KEY (run, iteration, metric)
) STRICT, WITHOUT ROWID;

CREATE TABLE role_steps (             -- verl's metric names, the role beside
  run       TEXT NOT NULL,
  iteration INTEGER NOT NULL,
  role      TEXT NOT NULL,
  slot      INTEGER NOT NULL,         -- -1: all slots of the role together
  metric    TEXT NOT NULL,
  value     REAL,
  PRIMARY KEY (run, iteration, role, slot, metric)
) STRICT, WITHOUT ROWID;

CREATE TABLE evals (
  run         TEXT NOT NULL,
  iteration   INTEGER NOT NULL,       -- 0: before the first update
  split       TEXT NOT NULL,
  temperature REAL NOT NULL,          -- 0: greedy
  n           INTEGER NOT NULL,
  accuracy    REAL,
  stderr      REAL,
  PRIMARY KEY (run, iteration, split, temperature)
) STRICT, WITHOUT ROWID;

CREATE TABLE eval_items (
  run         TEXT NOT NULL,
  iteration   INTEGER NOT NULL,
  split       TEXT NOT NULL,
  temperature REAL NOT NULL,
  task        TEXT NOT NULL,
  correct     REAL,                   -- share of the task's answers judged right
  verdict     TEXT NOT NULL,
  PRIMARY KEY (run, iteration, split, temperature, task)
) STRICT, WITHOUT ROWID;

CREATE TABLE tasks (
  run   TEXT NOT NULL,
  id    TEXT NOT NULL,
  kind  TEXT NOT NULL,
  text  TEXT NOT NULL,
  gold  TEXT NOT NULL,
  tests TEXT NOT NULL,                -- JSON; for large ones their number, size and sha256
  PRIMARY KEY (run, id)
) STRICT;

CREATE TABLE episodes (
  run         TEXT NOT NULL,
  iteration   INTEGER NOT NULL,
  split       TEXT NOT NULL,
  temperature REAL NOT NULL,
  task        TEXT NOT NULL,
  rollout     INTEGER NOT NULL,
  reward      REAL,                   -- NULL for an infrastructure failure
  verdict     TEXT NOT NULL,
  kept        INTEGER NOT NULL,       -- 0: left out of the update
  PRIMARY KEY (run, iteration, split, temperature, task, rollout)
) STRICT, WITHOUT ROWID;

CREATE TABLE calls (
  run         TEXT NOT NULL,
  iteration   INTEGER NOT NULL,
  split       TEXT NOT NULL,
  temperature REAL NOT NULL,
  task        TEXT NOT NULL,
  rollout     INTEGER NOT NULL,
  role        TEXT NOT NULL,
  slot        INTEGER NOT NULL,
  turn        INTEGER NOT NULL,
  prompt_ids  BLOB NOT NULL,          -- int32, little-endian
  ids         BLOB NOT NULL,          -- int32, little-endian, end token included
  logprobs    BLOB,                   -- float32, little-endian, one an id
  text        TEXT NOT NULL,
  tier        TEXT NOT NULL,          -- primary, fallback, default
  finish      TEXT NOT NULL,          -- stop, length
  advantage   REAL,
  PRIMARY KEY (run, iteration, split, temperature, task, rollout, role, slot, turn)
) STRICT;

CREATE TABLE verdicts (
  run         TEXT NOT NULL,
  iteration   INTEGER NOT NULL,
  split       TEXT NOT NULL,
  temperature REAL NOT NULL,
  task        TEXT NOT NULL,
  rollout     INTEGER NOT NULL,
  role        TEXT NOT NULL,          -- empty: the episode's answer
  slot        INTEGER NOT NULL,
  turn        INTEGER NOT NULL,
  code        TEXT NOT NULL,
  reason      TEXT NOT NULL,
  passed      INTEGER NOT NULL,
  total       INTEGER NOT NULL,
  fuel        INTEGER NOT NULL,
  cached      INTEGER NOT NULL,
  PRIMARY KEY (run, iteration, split, temperature, task, rollout, role, slot, turn)
) STRICT, WITHOUT ROWID;

CREATE TABLE test_results (           -- failed tests, and all of evaluations
  run         TEXT NOT NULL,
  iteration   INTEGER NOT NULL,
  split       TEXT NOT NULL,
  temperature REAL NOT NULL,
  task        TEXT NOT NULL,
  rollout     INTEGER NOT NULL,
  role        TEXT NOT NULL,
  slot        INTEGER NOT NULL,
  turn        INTEGER NOT NULL,
  test        INTEGER NOT NULL,       -- from 0, in the task's order
  code        TEXT NOT NULL,
  fuel        INTEGER NOT NULL,
  stdout      TEXT NOT NULL,
  stderr      TEXT NOT NULL,
  detail      TEXT NOT NULL,
  PRIMARY KEY (run, iteration, split, temperature, task, rollout, role, slot, turn, test)
) STRICT;

CREATE TABLE events (
  run       TEXT NOT NULL,
  iteration INTEGER NOT NULL,
  seq       INTEGER NOT NULL,         -- order within the iteration
  kind      TEXT NOT NULL,            -- cliff, capture, amplification, nonfinite, …
  role      TEXT NOT NULL,
  severity  TEXT NOT NULL,            -- info, warning, alarm
  message   TEXT NOT NULL,
  value     REAL,
  PRIMARY KEY (run, iteration, seq)
) STRICT, WITHOUT ROWID;

CREATE TABLE checkpoints (
  run        TEXT NOT NULL,
  iteration  INTEGER NOT NULL,
  path       TEXT NOT NULL,
  sha256     TEXT NOT NULL,
  created_at TEXT NOT NULL,
  PRIMARY KEY (run, iteration)
) STRICT, WITHOUT ROWID;

CREATE TABLE timings (                -- the one table in which equal runs differ
  run       TEXT NOT NULL,
  iteration INTEGER NOT NULL,
  phase     TEXT NOT NULL,
  seconds   REAL NOT NULL,
  PRIMARY KEY (run, iteration, phase)
) STRICT, WITHOUT ROWID;
