-- Where the time of each run went, by phase.
SELECT run, phase, count(*) AS times, round(sum(seconds), 2) AS seconds,
  round(100.0 * sum(seconds) / sum(sum(seconds)) OVER (PARTITION BY run), 1) AS percent
FROM timings
WHERE :run IS NULL OR run = :run
GROUP BY run, phase
ORDER BY run, seconds DESC;
