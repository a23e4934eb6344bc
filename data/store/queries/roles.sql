-- Metrics of each role in the newest iteration that has them.
SELECT s.run, s.role, s.slot, s.metric, round(s.value, 6) AS value
FROM role_steps s
WHERE (:run IS NULL OR s.run = :run)
  AND s.iteration = (SELECT max(iteration) FROM role_steps t WHERE t.run = s.run AND t.role = s.role)
ORDER BY s.run, s.role, s.slot, s.metric;
