-- Final accuracy of shared and isolated policies side by side.
SELECT task, workflow, substr(model, 1, 12) AS model, seed, split, temperature,
  round(avg(CASE WHEN policy = 'shared' THEN final END), 4) AS shared,
  round(avg(CASE WHEN policy = 'isolated' THEN final END), 4) AS isolated,
  round(avg(CASE WHEN policy = 'isolated' THEN final END) - avg(CASE WHEN policy = 'shared' THEN final END), 4) AS isolated_minus_shared
FROM cells
WHERE workflow <> 'single' AND (:run IS NULL OR run = :run)
GROUP BY task, workflow, cells.model, seed, split, temperature
ORDER BY task, workflow, cells.model, seed, split, temperature;
