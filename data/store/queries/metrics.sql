-- All metrics of the newest iteration under verl's flat names.
SELECT m.run, m.iteration, m.metric, m.value
FROM verl_metrics m
WHERE (:run IS NULL OR m.run = :run) AND m.iteration = (SELECT max(iteration) FROM steps s WHERE s.run = m.run)
ORDER BY m.run, m.metric;
