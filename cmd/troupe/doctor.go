package main

import (
	"fmt"

	"troupe/internal/doctor"
	"troupe/model"
	"troupe/sandbox/python"
	"troupe/trainer"
)

type doctorCmd struct {
	NoMeasure bool `help:"Do not measure the machine's speed (saves two seconds)."`
	JSON      bool `name:"json" help:"One JSON object."`

	PythonWasm string `placeholder:"FILE" env:"TROUPE_PYTHON_WASM" help:"Python guest to look at."`
	PythonLib  string `placeholder:"FILE" env:"TROUPE_PYTHON_LIB" help:"Its standard library."`

	Model    string `placeholder:"DIR" help:"A checkpoint to look at; with --workflow, forecast a run of it."`
	Workflow string `placeholder:"NAME" help:"Forecast time and memory of training: single, voting, evalopt or orch."`
	Profile  string `enum:"clean,paper" default:"clean" help:"Where the settings below come from unless given: clean or paper."`
	Policy   string `default:"shared" placeholder:"NAME" help:"shared, or one parameter set a role."`
	Task     string `enum:"math,code" default:"math" help:"math or code."`
	Params   string `enum:"lora,full" default:"lora" help:"lora or full."`
	Numerics string `enum:"auto,f32,f32x3,bf16" default:"auto" help:"How products with the weights are computed: auto, f32, f32x3 or bf16."`

	Rank         int `placeholder:"N" help:"Rank of the adapters."`
	Tasks        int `placeholder:"N" help:"Tasks of an iteration."`
	Rollouts     int `placeholder:"N" help:"Rollouts of a task."`
	Iterations   int `placeholder:"N" help:"Iterations."`
	MaxTokens    int `placeholder:"N" help:"Longest reply."`
	PromptTokens int `default:"256" placeholder:"N" help:"Tokens of a prompt, on average."`
	ReplyTokens  int `placeholder:"N" help:"Tokens of a reply, on average (half of the longest)."`
}

// Help is the long text of `troupe doctor --help`.
func (doctorCmd) Help() string {
	return `Shows the processor, the kernels in use and why, measured speed and bandwidth,
the Python guest, and with --model a checkpoint. With --workflow too, it runs the
model for about two seconds and forecasts what a training run takes:

  troupe doctor --model DIR --workflow voting --policy isolated --rollouts 8`
}

// Run examines, and forecasts if asked to.
func (c *doctorCmd) Run(env *environment) error {
	if c.Workflow != "" && c.Model == "" {
		return usagef("--workflow needs --model")
	}
	var plan doctor.Plan
	if c.Workflow != "" {
		var err error
		if plan, err = c.plan(); err != nil {
			return err
		}
	}
	var out struct {
		doctor.Report
		Model    *modelInfo       `json:"model,omitempty"`
		Forecast *doctor.Forecast `json:"forecast,omitempty"`
	}
	out.Report = doctor.Examine(env.Ctx, doctor.Options{
		Cache: env.Cache, Guest: python.Source{Wasm: c.PythonWasm, Lib: c.PythonLib}, Measure: !c.NoMeasure,
	})
	var err error
	if c.Model != "" {
		if out.Model, err = inspect(c.Model); err != nil {
			return inputf("%w", err)
		}
		m, err := c.loadModel(&out.Report, out.Model.Bytes, plan)
		if err != nil {
			return err
		}
		if c.Workflow != "" && m != nil {
			f, err := doctor.Predict(env.Ctx, m, plan, out.Machine.Available)
			if err != nil {
				return err
			}
			out.Forecast = &f
		}
	}
	if c.JSON {
		return newJSONWriter(env.Stdout).write(out)
	}
	lines := out.Report.Lines()
	if out.Model != nil {
		lines = append(append(lines, ""), out.Model.lines()...)
	}
	if out.Forecast != nil {
		lines = append(append(lines, ""), out.Forecast.Lines()...)
	}
	for _, l := range lines {
		fmt.Fprintln(env.Stdout, l)
	}
	return nil
}

// plan takes what is not given from the profile, as train does.
func (c *doctorCmd) plan() (doctor.Plan, error) {
	d, err := trainer.Profile(c.Profile)
	if err != nil {
		return doctor.Plan{}, usagef("%w", err)
	}
	or := func(given, otherwise int) int {
		if given != 0 {
			return given
		}
		return otherwise
	}
	p := doctor.Plan{
		Workflow: c.Workflow, Policy: c.Policy, Kind: c.Task, Full: c.Params == "full", Rank: or(c.Rank, d.Rank),
		Tasks: or(c.Tasks, d.Tasks), Rollouts: or(c.Rollouts, d.Rollouts), Iterations: or(c.Iterations, d.Iterations),
		MaxTokens: or(c.MaxTokens, d.MaxTokens), PromptTokens: c.PromptTokens,
	}
	p.ReplyTokens = or(c.ReplyTokens, max(1, p.MaxTokens/2))
	if err := p.Check(); err != nil {
		return p, usagef("%w", err)
	}
	return p, nil
}

// loadModel reads the whole checkpoint, which finds every fault in it. Where
// memory does not suffice that is a problem to report, and the model is nil.
func (c *doctorCmd) loadModel(r *doctor.Report, bytes int64, plan doctor.Plan) (*model.Model, error) {
	if free := r.Machine.Available; free > 0 && bytes > free {
		r.Problems = append(r.Problems, fmt.Sprintf("the weights take %d MiB, %d MiB are available: not loaded", bytes>>20, free>>20))
		return nil, nil
	}
	m, err := model.Load(c.Model, model.LoadOptions{Numerics: c.Numerics, Trainable: plan.Full, ActivationBytes: frugal(c.Model)})
	if err != nil {
		return nil, inputf("%w", err)
	}
	r.Problems = append(r.Problems, m.Warnings...)
	return m, nil
}
