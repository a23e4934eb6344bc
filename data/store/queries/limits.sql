-- Programs stopped by a limit: time, memory or output, by iteration.
SELECT run, iteration, sum(code = 'TLE') AS time, sum(code = 'MLE') AS memory, sum(code = 'OLE') AS output, count(*) AS verdicts
FROM verdicts
WHERE :run IS NULL OR run = :run
GROUP BY run, iteration
HAVING time + memory + output > 0
ORDER BY run, iteration;
