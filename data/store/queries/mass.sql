-- Share of each role in the gradient of a shared policy, early and late in the run.
WITH part AS (
  SELECT run, role, metric, value, ntile(4) OVER (PARTITION BY run, role, metric ORDER BY iteration) AS quarter
  FROM role_steps
  WHERE metric IN ('actor/mass_share', 'actor/norm_share') AND slot < 0 AND (:run IS NULL OR run = :run)
)
SELECT p.run, r.task, r.workflow, p.role, p.metric,
  round(avg(CASE WHEN quarter = 1 THEN value END), 4) AS first_quarter,
  round(avg(CASE WHEN quarter = 4 THEN value END), 4) AS last_quarter
FROM part p JOIN runs r ON r.id = p.run
GROUP BY p.run, p.role, p.metric
ORDER BY r.task, r.workflow, p.run, p.metric, p.role;
