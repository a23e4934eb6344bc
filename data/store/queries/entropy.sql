-- Entropy of each role by iteration.
SELECT run, iteration, role, round(value, 5) AS entropy
FROM role_steps
WHERE metric = 'actor/entropy' AND slot < 0 AND (:run IS NULL OR run = :run)
ORDER BY run, role, iteration;
