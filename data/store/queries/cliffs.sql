-- Peak (highest median of three evaluations), final (mean of the last three) and the drop between them.
SELECT r.task, r.workflow, r.policy, c.run, c.split, c.temperature, c.evaluations,
  round(c.peak, 4) AS peak, round(c.final, 4) AS final, round(c.drop_, 4) AS drop_
FROM cliffs c JOIN runs r ON r.id = c.run
WHERE (:run IS NULL OR c.run = :run) AND c.peak IS NOT NULL
ORDER BY c.drop_ DESC, c.run;
