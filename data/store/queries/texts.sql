-- What a role's replies tell by their wording: solutions where none belong, copying, answers in plans, variety; first and last.
SELECT DISTINCT s.run, r.task, r.workflow, r.policy, s.role, s.metric,
  round(first_value(s.value) OVER (w ORDER BY s.iteration), 4) AS first,
  round(first_value(s.value) OVER (w ORDER BY s.iteration DESC), 4) AS last
FROM role_steps s JOIN runs r ON r.id = s.run
WHERE s.metric LIKE 'text/%' AND s.slot < 0 AND (:run IS NULL OR s.run = :run)
WINDOW w AS (PARTITION BY s.run, s.role, s.metric)
ORDER BY r.task, r.workflow, s.run, s.metric, s.role;
