-- Share of replies that were read as the role was told to write them, first and last iteration and the lowest.
SELECT DISTINCT run, role, metric,
  round(first_value(value) OVER w, 4) AS first, round(last_value(value) OVER w, 4) AS last, round(min(value) OVER w, 4) AS lowest
FROM role_steps
WHERE metric LIKE 'parse/%' AND slot < 0 AND (:run IS NULL OR run = :run)
WINDOW w AS (PARTITION BY run, role, metric ORDER BY iteration ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING)
ORDER BY run, role, metric;
