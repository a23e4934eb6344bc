-- Accuracy by iteration, with its standard error.
SELECT r.task, r.workflow, r.policy, e.split, e.temperature, e.iteration, e.n,
  round(e.accuracy, 4) AS accuracy, round(e.stderr, 4) AS stderr
FROM evals e JOIN runs r ON r.id = e.run
WHERE :run IS NULL OR e.run = :run
ORDER BY r.task, r.workflow, r.policy, e.run, e.split, e.temperature, e.iteration;
