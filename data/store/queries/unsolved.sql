-- Training tasks that no rollout has solved, the most tried first.
SELECT e.run, e.task, count(*) AS tried, t.text
FROM episodes e LEFT JOIN tasks t ON t.run = e.run AND t.id = e.task
WHERE e.reward IS NOT NULL AND (:run IS NULL OR e.run = :run)
GROUP BY e.run, e.task
HAVING max(e.reward) <= 0
ORDER BY e.run, tried DESC, e.task
LIMIT 200;
