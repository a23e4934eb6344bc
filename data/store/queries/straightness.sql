-- How far each role's parameters came, how long their way was, and the ratio: 1 for a straight line.
WITH way AS (
  SELECT run, role, iteration, sum(value) OVER (PARTITION BY run, role ORDER BY iteration) AS path
  FROM role_steps WHERE metric = 'actor/upd_norm' AND slot < 0 AND (:run IS NULL OR run = :run)
)
SELECT w.run, r.task, r.workflow, r.policy, w.role, w.iteration, round(d.value, 4) AS displacement, round(w.path, 4) AS path,
  round(d.value / nullif(w.path, 0), 4) AS straightness
FROM way w JOIN role_steps d ON d.run = w.run AND d.role = w.role AND d.iteration = w.iteration
  AND d.metric = 'actor/displacement' AND d.slot < 0
JOIN runs r ON r.id = w.run
ORDER BY r.task, r.workflow, w.run, w.role, w.iteration;
