-- Verdicts given and answered from the cache, by iteration.
SELECT run, iteration, count(*) AS verdicts, sum(cached) AS cached, round(1.0 * sum(cached) / count(*), 4) AS share
FROM verdicts
WHERE :run IS NULL OR run = :run
GROUP BY run, iteration
ORDER BY run, iteration;
