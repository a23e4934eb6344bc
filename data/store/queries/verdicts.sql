-- How often each verdict was given, and how many came from the cache.
SELECT v.run, v.split, v.code, count(*) AS n, sum(v.cached) AS cached,
  round(1.0 * count(*) / sum(count(*)) OVER (PARTITION BY v.run, v.split), 4) AS share
FROM verdicts v
WHERE :run IS NULL OR v.run = :run
GROUP BY v.run, v.split, v.code
ORDER BY v.run, v.split, n DESC, v.code;
