-- Views use core SQL only, so that any SQLite client can read them.

-- The paper's cells: base (before the first update), peak and final accuracy.
CREATE VIEW cells AS
WITH series AS (
  SELECT e.*,
    first_value(accuracy) OVER w AS base,
    row_number() OVER (PARTITION BY run, split, temperature ORDER BY accuracy DESC, iteration) AS by_height,
    row_number() OVER (PARTITION BY run, split, temperature ORDER BY iteration DESC) AS from_end
  FROM evals e
  WINDOW w AS (PARTITION BY run, split, temperature ORDER BY iteration)
)
SELECT r.id AS run, r.task, r.workflow, r.policy, r.model, r.seed, r.profile, f.split, f.temperature, f.n,
  f.base, p.accuracy AS peak, p.iteration AS peak_at,
  f.accuracy AS final, f.iteration AS final_at,
  f.accuracy - f.base AS gain,
  p.accuracy - f.accuracy AS drop_,
  f.stderr
FROM series f
JOIN series p ON p.run = f.run AND p.split = f.split AND p.temperature = f.temperature AND p.by_height = 1
JOIN runs r ON r.id = f.run
WHERE f.from_end = 1;

-- Peak and final smoothed as a cliff needs it: the peak is the highest median
-- of three neighbouring evaluations, final the mean of the last three.
CREATE VIEW cliffs AS
WITH near AS (
  SELECT run, split, temperature, iteration, accuracy,
    lag(accuracy) OVER w AS before, lead(accuracy) OVER w AS after,
    row_number() OVER (PARTITION BY run, split, temperature ORDER BY iteration DESC) AS from_end
  FROM evals
  WINDOW w AS (PARTITION BY run, split, temperature ORDER BY iteration)
), medians AS (
  SELECT *, CASE WHEN before IS NULL OR after IS NULL THEN NULL
    ELSE before + accuracy + after - min(before, accuracy, after) - max(before, accuracy, after) END AS median3
  FROM near
)
SELECT run, split, temperature, count(*) AS evaluations,
  max(median3) AS peak,
  avg(CASE WHEN from_end <= 3 THEN accuracy END) AS final,
  max(median3) - avg(CASE WHEN from_end <= 3 THEN accuracy END) AS drop_
FROM medians
GROUP BY run, split, temperature;

-- Metrics of steps and role_steps under one flat verl name: the role comes
-- after the first part, with its slot where the value is of one slot.
CREATE VIEW verl_metrics AS
SELECT run, iteration, '' AS role, -1 AS slot, metric, value FROM steps
UNION ALL
SELECT run, iteration, role, slot,
  CASE WHEN instr(metric, '/') > 0
    THEN substr(metric, 1, instr(metric, '/')) || role || CASE WHEN slot < 0 THEN '' ELSE slot END || substr(metric, instr(metric, '/'))
    ELSE role || CASE WHEN slot < 0 THEN '' ELSE slot END || '/' || metric END,
  value
FROM role_steps;

-- What the same quantity is called elsewhere. {role} stands for the role.
CREATE VIEW metric_names(verl, rllm, trl) AS VALUES
  ('actor/grad_norm', NULL, 'grad_norm'),
  ('actor/lr', NULL, 'learning_rate'),
  ('actor/pg_loss', NULL, 'loss'),
  ('actor/entropy', NULL, 'entropy'),
  ('actor/kl_loss', NULL, 'kl'),
  ('actor/pg_clipfrac', NULL, 'clip_ratio/region_mean'),
  ('actor/pg_clipfrac_low', NULL, 'clip_ratio/low_mean'),
  ('actor/pg_clipfrac_high', NULL, 'clip_ratio/high_mean'),
  ('critic/rewards/mean', 'reward/{role}/mean', 'reward'),
  ('critic/rewards/std', 'reward/{role}/std', 'reward_std'),
  ('critic/rewards/max', 'reward/{role}/max', NULL),
  ('critic/rewards/min', 'reward/{role}/min', NULL),
  ('critic/advantages/mean', 'advantage/{role}/mean', NULL),
  ('critic/advantages/std', 'advantage/{role}/std', NULL),
  ('critic/advantages/max', 'advantage/{role}/max', NULL),
  ('critic/advantages/min', 'advantage/{role}/min', NULL),
  ('critic/advantages/fraction_zero', 'advantage/{role}/fraction_zero', NULL),
  ('batch/total', 'batch/{role}/total', NULL),
  ('batch/informative', 'batch/{role}/informative', NULL),
  ('batch/fractions/effective', 'batch/{role}/fractions/effective', NULL),
  ('batch/fractions/too_easy', 'batch/{role}/fractions/too_easy', NULL),
  ('batch/fractions/too_hard', 'batch/{role}/fractions/too_hard', NULL),
  ('batch/fractions/zero_std', NULL, 'frac_reward_zero_std'),
  ('batch/solve_all', 'batch/solve_all', NULL),
  ('batch/solve_none', 'batch/solve_none', NULL),
  ('batch/solve_partial', 'batch/solve_partial', NULL),
  ('response_length/mean', NULL, 'completions/mean_length'),
  ('response_length/min', NULL, 'completions/min_length'),
  ('response_length/max', NULL, 'completions/max_length'),
  ('response_length/clip_ratio', NULL, 'completions/clipped_ratio'),
  ('perf/total_num_tokens', NULL, 'num_tokens');

CREATE VIEW rllm_metrics AS
SELECT m.run, m.iteration, m.role, replace(replace(n.rllm, '/{role}', CASE m.role WHEN '' THEN '' ELSE '/' || m.role END), '//', '/') AS metric, m.value
FROM (SELECT run, iteration, '' AS role, metric, value FROM steps
  UNION ALL SELECT run, iteration, role, metric, value FROM role_steps WHERE slot < 0) m
JOIN metric_names n ON n.verl = m.metric
WHERE n.rllm IS NOT NULL;

-- TRL has no roles: the role is a column, empty for the whole iteration.
CREATE VIEW trl_metrics AS
SELECT m.run, m.iteration, m.role, n.trl AS metric, m.value
FROM (SELECT run, iteration, '' AS role, metric, value FROM steps
  UNION ALL SELECT run, iteration, role, metric, value FROM role_steps WHERE slot < 0) m
JOIN metric_names n ON n.verl = m.metric
WHERE n.trl IS NOT NULL;
