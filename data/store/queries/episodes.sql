-- Episodes of the newest iteration with their reward and verdict.
SELECT e.run, e.iteration, e.split, e.temperature, e.task, e.rollout, e.reward, e.verdict, e.kept
FROM episodes e
WHERE (:run IS NULL OR e.run = :run) AND e.iteration = (SELECT max(iteration) FROM episodes x WHERE x.run = e.run)
ORDER BY e.run, e.split, e.temperature, e.task, e.rollout;
