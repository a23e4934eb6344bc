-- How much the slots of a role push the same way: 1 is not at all, the root of their number is fully.
SELECT s.run, r.task, r.workflow, r.policy, s.role, count(*) AS iterations,
  round(avg(s.value), 4) AS mean, round(min(s.value), 4) AS least, round(max(s.value), 4) AS most
FROM role_steps s JOIN runs r ON r.id = s.run
WHERE s.metric = 'actor/amplification' AND (:run IS NULL OR s.run = :run)
GROUP BY s.run, s.role
ORDER BY r.task, r.workflow, r.policy, s.role, s.run;
