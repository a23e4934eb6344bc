-- Why answers were not accepted, the most frequent first.
SELECT run, code, reason, count(*) AS n, min(task) AS example
FROM verdicts
WHERE code <> 'AC' AND (:run IS NULL OR run = :run)
GROUP BY run, code, reason
ORDER BY run, n DESC, code, reason;
