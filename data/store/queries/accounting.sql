-- Optimizer steps and rows of each role over the whole run.
SELECT s.run, r.workflow, r.policy, s.role,
  sum(CASE WHEN metric = 'actor/opt_steps' THEN value END) AS opt_steps,
  sum(CASE WHEN metric = 'actor/rows' THEN value END) AS rows_seen,
  sum(CASE WHEN metric = 'actor/rows_taught' THEN value END) AS rows_taught
FROM role_steps s JOIN runs r ON r.id = s.run
WHERE s.slot < 0 AND (:run IS NULL OR s.run = :run)
GROUP BY s.run, s.role
HAVING opt_steps IS NOT NULL
ORDER BY r.workflow, r.policy, s.run, s.role;
