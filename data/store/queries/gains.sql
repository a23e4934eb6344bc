-- Paired comparison of the first and the last evaluation of each run on the same tasks: won and lost tasks and McNemar's z.
WITH ends AS (
  SELECT run, split, temperature, min(iteration) AS first, max(iteration) AS last
  FROM eval_items WHERE :run IS NULL OR run = :run
  GROUP BY run, split, temperature
), pairs AS (
  SELECT e.run, e.split, e.temperature, e.last, a.correct AS before, b.correct AS after
  FROM ends e
  JOIN eval_items a ON a.run = e.run AND a.split = e.split AND a.temperature = e.temperature AND a.iteration = e.first
  JOIN eval_items b ON b.run = e.run AND b.split = e.split AND b.temperature = e.temperature AND b.iteration = e.last AND b.task = a.task
  WHERE e.last > e.first AND a.correct IS NOT NULL AND b.correct IS NOT NULL
)
SELECT r.task, r.workflow, r.policy, p.run, p.split, p.temperature, p.last AS iteration, count(*) AS n,
  round(avg(before), 4) AS base, round(avg(after), 4) AS final, round(avg(after) - avg(before), 4) AS gain,
  sum(after > before) AS won, sum(after < before) AS lost,
  round(CASE WHEN sum(after <> before) = 0 THEN 0
    ELSE (sum(after > before) - sum(after < before)) / sqrt(sum(after <> before)) END, 2) AS z
FROM pairs p JOIN runs r ON r.id = p.run
GROUP BY p.run, p.split, p.temperature
ORDER BY r.task, r.workflow, r.policy, p.run, p.split, p.temperature;
