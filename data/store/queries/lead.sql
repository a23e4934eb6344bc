-- Alarms that came before accuracy lay 10 points under an earlier evaluation, and how many iterations before.
WITH high AS (
  SELECT run, iteration, accuracy,
    max(accuracy) OVER (PARTITION BY run ORDER BY iteration ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS peak
  FROM evals
  WHERE split = 'held' AND temperature > 0
), fallen AS (
  SELECT run, min(iteration) AS fell_at FROM high WHERE accuracy <= peak - 0.1 GROUP BY run
)
SELECT e.run, r.task, r.workflow, r.policy, e.kind, e.role, e.iteration AS alarm_at, f.fell_at, f.fell_at - e.iteration AS lead, e.message
FROM fallen f JOIN events e ON e.run = f.run AND e.severity = 'alarm' AND e.iteration < f.fell_at
JOIN runs r ON r.id = e.run
WHERE (:run IS NULL OR e.run = :run)
ORDER BY e.run, e.iteration, e.seq;
