-- Gain at the training temperature and greedy, side by side.
SELECT task, workflow, policy, run, split,
  round(max(CASE WHEN temperature > 0 THEN base END), 4) AS base, round(max(CASE WHEN temperature > 0 THEN final END), 4) AS final,
  round(max(CASE WHEN temperature = 0 THEN base END), 4) AS greedy_base, round(max(CASE WHEN temperature = 0 THEN final END), 4) AS greedy_final
FROM cells
WHERE :run IS NULL OR run = :run
GROUP BY run, split
ORDER BY task, workflow, policy, run, split;
