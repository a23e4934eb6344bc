-- Mean training reward and how many groups were all right, all wrong or mixed, by iteration.
SELECT run, iteration,
  round(max(CASE WHEN metric = 'critic/rewards/mean' THEN value END), 4) AS reward,
  round(max(CASE WHEN metric = 'batch/solve_all' THEN value END), 4) AS solve_all,
  round(max(CASE WHEN metric = 'batch/solve_none' THEN value END), 4) AS solve_none,
  round(max(CASE WHEN metric = 'batch/solve_partial' THEN value END), 4) AS solve_partial
FROM steps
WHERE :run IS NULL OR run = :run
GROUP BY run, iteration
HAVING reward IS NOT NULL
ORDER BY run, iteration;
