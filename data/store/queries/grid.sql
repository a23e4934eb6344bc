-- The grid: base, peak and final accuracy of each run, split and temperature.
SELECT task, workflow, policy, substr(model, 1, 12) AS model, seed, split, temperature, n,
  round(base, 4) AS base, round(peak, 4) AS peak, peak_at, round(final, 4) AS final,
  round(gain, 4) AS gain, round(drop_, 4) AS drop_
FROM cells
WHERE :run IS NULL OR run = :run
ORDER BY task, workflow, policy, cells.model, seed, split, temperature;
