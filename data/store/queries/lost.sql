-- Tasks that were right at a run's best evaluation and wrong at its last.
SELECT c.run, c.split, c.temperature, c.peak_at, c.final_at, a.task, b.verdict, t.text
FROM cells c
JOIN eval_items a ON a.run = c.run AND a.split = c.split AND a.temperature = c.temperature AND a.iteration = c.peak_at AND a.correct = 1
JOIN eval_items b ON b.run = c.run AND b.split = c.split AND b.temperature = c.temperature AND b.iteration = c.final_at AND b.task = a.task AND b.correct = 0
LEFT JOIN tasks t ON t.run = c.run AND t.id = a.task
WHERE (:run IS NULL OR c.run = :run) AND c.final_at > c.peak_at
ORDER BY c.run, c.split, c.temperature, a.task;
