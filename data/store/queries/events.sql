-- Everything a run found worth noting.
SELECT run, iteration, severity, kind, role, message, value
FROM events
WHERE :run IS NULL OR run = :run
ORDER BY run, iteration, seq;
