-- All runs with their newest iteration and accuracy on the held-out split.
SELECT r.id, r.task, r.workflow, r.policy, r.model, r.seed, r.state,
  (SELECT max(iteration) FROM steps s WHERE s.run = r.id) AS iteration,
  (SELECT round(accuracy, 4) FROM evals e WHERE e.run = r.id AND split = 'held' AND temperature > 0
    ORDER BY iteration DESC LIMIT 1) AS accuracy,
  r.created_at
FROM runs r
WHERE :run IS NULL OR r.id = :run
ORDER BY r.created_at, r.id;
