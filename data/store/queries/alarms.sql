-- Alarms with their iteration, the earliest first.
SELECT e.run, r.task, r.workflow, r.policy, e.iteration, e.kind, e.role, e.message, e.value
FROM events e JOIN runs r ON r.id = e.run
WHERE e.severity = 'alarm' AND (:run IS NULL OR e.run = :run)
ORDER BY e.run, e.iteration, e.seq;
