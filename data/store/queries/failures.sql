-- Failed tests with what the program printed, the newest first.
SELECT run, iteration, task, rollout, role, test, code, detail, stdout, stderr
FROM test_results
WHERE code <> 'AC' AND (:run IS NULL OR run = :run)
ORDER BY run, iteration DESC, task, rollout, test
LIMIT 500;
