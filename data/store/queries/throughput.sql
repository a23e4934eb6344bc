-- Seconds and tokens per second of prefill, decoding and training, with verdicts, store and the rest, by iteration.
WITH asked AS (
  SELECT run, iteration, sum(n) AS tokens, sum(CASE WHEN taught THEN n END) AS taught FROM (
    SELECT run, iteration, length(prompt_ids) / 4 AS n, max(advantage <> 0) AS taught FROM calls
    WHERE split = 'train' AND (:run IS NULL OR run = :run) GROUP BY run, iteration, role, prompt_ids)
  GROUP BY run, iteration),
replied AS (
  SELECT run, iteration, sum(length(ids) / 4 - 1) AS tokens, sum(CASE WHEN advantage <> 0 THEN length(ids) / 4 - 1 END) AS taught
  FROM calls WHERE split = 'train' AND length(ids) > 0 AND (:run IS NULL OR run = :run) GROUP BY run, iteration),
spent AS (
  SELECT run, iteration, sum(seconds) AS seconds,
    sum(seconds) FILTER (WHERE phase = 'rollout/prefill') AS prefill,
    sum(seconds) FILTER (WHERE phase = 'rollout/decode') AS decode,
    sum(seconds) FILTER (WHERE phase = 'rollout/verify') AS verify,
    sum(seconds) FILTER (WHERE phase = 'update') AS trained,
    sum(seconds) FILTER (WHERE phase = 'store') AS stored,
    sum(seconds) FILTER (WHERE phase IN ('eval', 'metrics', 'metrics/update', 'metrics/halves')) AS measured
  FROM timings WHERE iteration > 0 AND (:run IS NULL OR run = :run) GROUP BY run, iteration)
SELECT s.run, s.iteration, round(s.seconds, 2) AS seconds,
  round(s.prefill, 2) AS prefill_s, round(a.tokens / s.prefill) AS prefill_tok_s,
  round(s.decode, 2) AS decode_s, round(r.tokens / s.decode) AS decode_tok_s,
  round(s.verify, 2) AS verify_s,
  round(s.trained, 2) AS train_s, round((coalesce(a.taught, 0) + coalesce(r.taught, 0)) / s.trained) AS train_tok_s,
  round(s.stored, 2) AS store_s, round(s.measured, 2) AS measure_s,
  round(s.seconds - coalesce(s.prefill, 0) - coalesce(s.decode, 0) - coalesce(s.verify, 0) - coalesce(s.trained, 0)
    - coalesce(s.stored, 0) - coalesce(s.measured, 0), 2) AS rest_s
FROM spent s LEFT JOIN asked a USING (run, iteration) LEFT JOIN replied r USING (run, iteration)
ORDER BY s.run, s.iteration;
