-- Tokens read and sampled by each role in the logged calls, by iteration.
SELECT run, split, iteration, role, count(*) AS calls,
  sum(length(prompt_ids)) / 4 AS prompt_tokens, sum(length(ids)) / 4 AS sampled_tokens
FROM calls
WHERE :run IS NULL OR run = :run
GROUP BY run, split, iteration, role
ORDER BY run, split, iteration, role;
