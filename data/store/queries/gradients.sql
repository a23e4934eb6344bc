-- Gradient norm, learning rate, update norm and optimizer steps of each role by iteration.
SELECT run, iteration, role,
  round(max(CASE WHEN metric = 'actor/grad_norm' THEN value END), 6) AS grad_norm,
  max(CASE WHEN metric = 'actor/lr' THEN value END) AS lr,
  round(max(CASE WHEN metric = 'actor/upd_norm' THEN value END), 6) AS upd_norm,
  max(CASE WHEN metric = 'actor/opt_steps' THEN value END) AS opt_steps
FROM role_steps
WHERE slot < 0 AND (:run IS NULL OR run = :run)
GROUP BY run, iteration, role
HAVING grad_norm IS NOT NULL
ORDER BY run, iteration, role;
