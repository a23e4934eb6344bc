-- Reply length of each role and how many replies were cut off, by iteration.
SELECT run, iteration, role,
  round(max(CASE WHEN metric = 'response_length/mean' THEN value END), 2) AS mean,
  round(max(CASE WHEN metric = 'response_length/clip_ratio' THEN value END), 4) AS cut_off
FROM role_steps
WHERE slot < 0 AND (:run IS NULL OR run = :run)
GROUP BY run, iteration, role
HAVING mean IS NOT NULL
ORDER BY run, role, iteration;
