-- How often each kind of alarm fired, in runs that lost 10 points from an earlier evaluation and in those that did not.
WITH high AS (
  SELECT run, iteration, accuracy,
    max(accuracy) OVER (PARTITION BY run ORDER BY iteration ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS peak
  FROM evals WHERE split = 'held' AND temperature > 0 AND (:run IS NULL OR run = :run)
), fate AS (
  SELECT run, min(CASE WHEN accuracy <= peak - 0.1 THEN iteration END) AS fell_at FROM high GROUP BY run
), first AS (
  SELECT kind, run, count(*) AS times, min(iteration) AS at FROM events WHERE severity = 'alarm' GROUP BY kind, run
)
SELECT a.kind,
  sum(f.fell_at IS NULL) AS sound_runs, (SELECT count(*) FROM fate WHERE fell_at IS NULL) AS of_sound,
  sum(CASE WHEN f.fell_at IS NULL THEN a.times ELSE 0 END) AS times_in_sound,
  sum(f.fell_at IS NOT NULL AND a.at < f.fell_at) AS warned, (SELECT count(*) FROM fate WHERE fell_at IS NOT NULL) AS of_fallen,
  max(CASE WHEN a.at < f.fell_at THEN f.fell_at - a.at END) AS longest_lead
FROM first a JOIN fate f ON f.run = a.run
GROUP BY a.kind ORDER BY sound_runs, a.kind;
