-- Saved states of each run.
SELECT run, iteration, path, sha256, created_at
FROM checkpoints
WHERE :run IS NULL OR run = :run
ORDER BY run, iteration;
