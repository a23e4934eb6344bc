-- Training tasks that no rollout has solved, the most tried first.
SELECT e.run, e.task, e.tried, t.text
FROM (
  SELECT run, task, count(*) AS tried
  FROM episodes
  WHERE reward IS NOT NULL AND (:run IS NULL OR run = :run)
  GROUP BY run, task
  HAVING max(reward) <= 0
  ORDER BY run, tried DESC, task
  LIMIT 200
) e LEFT JOIN tasks t ON t.run = e.run AND t.id = e.task
ORDER BY e.run, e.tried DESC, e.task;
