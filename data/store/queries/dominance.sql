-- How unevenly the gradient of a shared policy is spread: the largest share, and the concentration from 0 (even) to 1 (one role).
WITH each AS (
  SELECT run, iteration, max(value) AS dominance, count(*) AS roles, sum(value * value) AS squares,
    ntile(4) OVER (PARTITION BY run ORDER BY iteration) AS quarter
  FROM role_steps
  WHERE metric = 'actor/mass_share' AND slot < 0 AND (:run IS NULL OR run = :run)
  GROUP BY run, iteration HAVING count(*) > 1
)
SELECT e.run, r.task, r.workflow,
  round(avg(CASE WHEN quarter = 1 THEN dominance END), 4) AS dominance_first, round(avg(CASE WHEN quarter = 4 THEN dominance END), 4) AS dominance_last,
  round(avg((squares - 1.0 / roles) / (1 - 1.0 / roles)), 4) AS concentration
FROM each e JOIN runs r ON r.id = e.run
GROUP BY e.run
ORDER BY r.task, r.workflow, e.run;
