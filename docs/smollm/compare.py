#!/usr/bin/env python3
"""Times a step of GRPO in Troupe and in TRL's GRPOTrainer: the same model, questions, batch, lengths, LoRA, optimizer
and threads, one after the other. Prints the median of five steps of each.

    python3 -m venv v && v/bin/pip install torch trl peft transformers datasets
    v/bin/python docs/smollm/compare.py --troupe ./troupe --model smollm2 [--numerics f32,bf16] [--dtype float32]

A step is what one update takes: 8 questions, 8 replies to each of at most 24 tokens, their rewards, and the gradients of
all 64 replies. (Troupe leaves out replies that have nothing to teach. To make it do the same work as TRL, an entropy
bonus of 1e-9 keeps them in.) The first step of each is not counted.
"""
import argparse, json, os, pathlib, re, sqlite3, statistics, subprocess, tempfile, time

TASKS, ROLLOUTS, TOKENS, RATE, RANK, ALPHA, STEPS = 8, 8, 24, 8e-5, 16, 32, 5


def troupe(binary, model, numerics, folder):
    """Seconds of each counted step, seconds by phase, tokens a reply, and the questions drawn, those of a step together."""
    db = folder / f"{numerics}.db"
    subprocess.run([binary, "train", "--profile", "small", "--model", model, "--workflow", "single", "--task", "sums2",
                    "--tasks", str(TASKS), "--rollouts", str(ROLLOUTS), "--max-tokens", str(TOKENS), "--iterations", str(STEPS + 1),
                    "--lr", str(RATE), "--rank", str(RANK), "--alpha", str(ALPHA), "--numerics", numerics,
                    "--db", str(db), "--out", str(folder / numerics),
                    "eval.n=1", "eval.greedy=false", "metrics.every=0", "loss.entropy=1e-9"],
                   check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    con = sqlite3.connect(db)
    phases = {}
    for iteration, phase, seconds in con.execute("SELECT iteration, phase, seconds FROM timings WHERE iteration > 1"):
        if phase not in ("eval", "checkpoint"):
            phases.setdefault(iteration, {})[phase] = seconds
    tokens = con.execute("SELECT avg(length(ids) / 4.0) FROM calls WHERE split = 'train' AND iteration > 1").fetchone()[0]
    drawn = con.execute("SELECT t.text, t.gold FROM (SELECT DISTINCT run, iteration, task FROM episodes WHERE split = 'train') e "
                        "JOIN tasks t ON t.run = e.run AND t.id = e.task ORDER BY e.iteration, t.id").fetchall()
    return [sum(p.values()) for p in phases.values()], list(phases.values()), tokens, drawn


def trl(model, dtype, questions, folder, threads):
    """The same for TRL: seconds of each counted step, and the mean length of a completion."""
    import torch
    from datasets import Dataset
    from peft import LoraConfig
    from transformers import AutoModelForCausalLM, AutoTokenizer, TrainerCallback
    from trl import GRPOConfig, GRPOTrainer

    torch.set_num_threads(threads)
    seconds = []

    class Clock(TrainerCallback):
        def on_step_begin(self, *_, **__):
            self.began = time.perf_counter()

        def on_step_end(self, *_, **__):
            seconds.append(time.perf_counter() - self.began)

    def last_integer(completions, gold, **_):
        found = [re.findall(r"-?[0-9]+", c[0]["content"]) for c in completions]
        return [float(bool(f) and int(f[-1]) == int(g)) for f, g in zip(found, gold)]

    prompts = [{"prompt": [{"role": "user", "content": text + " Answer with only the number."}], "gold": gold} for text, gold in questions]
    config = GRPOConfig(
        output_dir=str(folder / "trl"), use_cpu=True, bf16=False, per_device_train_batch_size=TASKS * ROLLOUTS,
        num_generations=ROLLOUTS, max_completion_length=TOKENS, temperature=1.0, top_p=1.0, top_k=0, beta=0.0,
        learning_rate=RATE, lr_scheduler_type="constant", warmup_steps=0, weight_decay=0.01, max_grad_norm=1.0,
        gradient_checkpointing=False, max_steps=STEPS + 1, logging_steps=1, save_strategy="no", report_to=[], shuffle_dataset=False, seed=1)
    trainer = GRPOTrainer(
        model=AutoModelForCausalLM.from_pretrained(model, dtype=getattr(torch, dtype)),
        processing_class=AutoTokenizer.from_pretrained(model), reward_funcs=last_integer, args=config,
        train_dataset=Dataset.from_list(prompts), callbacks=[Clock()],
        peft_config=LoraConfig(r=RANK, lora_alpha=ALPHA, task_type="CAUSAL_LM", target_modules=[
            "q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj"]))
    trainer.train()
    lengths = [h["completions/mean_length"] for h in trainer.state.log_history if "completions/mean_length" in h]
    return seconds[1:], statistics.mean(lengths[1:])


def main():
    args = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    args.add_argument("--troupe", default="./troupe")
    args.add_argument("--model", required=True)
    args.add_argument("--numerics", default="f32")
    args.add_argument("--dtype", default="float32", help="what TRL holds the model in")
    a = args.parse_args()
    threads = len(os.sched_getaffinity(0))
    with tempfile.TemporaryDirectory() as tmp:
        folder = pathlib.Path(tmp)
        ours = {}
        for kind in a.numerics.split(","):
            steps, phases, tokens, questions = troupe(a.troupe, a.model, kind, folder)
            ours[kind] = statistics.median(steps)
            parts = {p: round(statistics.median(sum(s for q, s in one.items() if q.startswith(p)) for one in phases), 3)
                     for p in ("rollout", "update", "record")}
            print(f"troupe {kind}: {ours[kind]:.2f} s a step {json.dumps(parts)}, {tokens:.1f} tokens a reply, {threads} threads", flush=True)
        steps, tokens = trl(a.model, a.dtype, questions, folder, threads)
    theirs = statistics.median(steps)
    print(f"trl {a.dtype}: {theirs:.2f} s a step {[round(s, 2) for s in steps]}, {tokens:.1f} tokens a reply, {threads} threads")
    for kind, s in ours.items():
        print(f"troupe {kind} is {theirs / s:.1f} times as fast")


if __name__ == "__main__":
    main()
