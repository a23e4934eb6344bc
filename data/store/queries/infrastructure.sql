-- Failures that were no fault of the answers: they earn no reward and enter no advantage.
SELECT run, iteration, split, task, rollout, role, reason
FROM verdicts
WHERE code = 'IE' AND (:run IS NULL OR run = :run)
ORDER BY run, iteration, task, rollout;
