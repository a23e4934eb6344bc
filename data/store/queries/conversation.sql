-- What the roles wrote in the newest iteration whose calls were logged.
SELECT c.run, c.iteration, c.task, c.rollout, c.role, c.slot, c.turn, c.tier, c.finish, round(c.advantage, 4) AS advantage, c.text
FROM calls c
WHERE (:run IS NULL OR c.run = :run) AND c.iteration = (SELECT max(iteration) FROM calls x WHERE x.run = c.run)
ORDER BY c.run, c.split, c.temperature, c.task, c.rollout, c.turn, c.rowid;
