-- How far each role's policy moved within an iteration: clipping, KL and chi-square against the sampling policy.
SELECT run, iteration, role,
  round(max(CASE WHEN metric = 'actor/pg_clipfrac' THEN value END), 5) AS clipfrac,
  round(max(CASE WHEN metric = 'actor/ppo_kl' THEN value END), 6) AS ppo_kl,
  round(max(CASE WHEN metric = 'actor/chi2_token' THEN value END), 6) AS chi2_token,
  round(max(CASE WHEN metric = 'actor/max_log_ratio' THEN value END), 4) AS max_log_ratio
FROM role_steps
WHERE slot < 0 AND (:run IS NULL OR run = :run)
GROUP BY run, iteration, role
HAVING clipfrac IS NOT NULL
ORDER BY run, role, iteration;
