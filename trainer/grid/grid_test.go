package grid

import (
	"errors"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
)

func TestIndex(t *testing.T) {
	for name, c := range map[string]struct {
		flag int
		env  map[string]string
		want int
		bad  string
	}{
		"flag":          {flag: 3, want: 3},
		"flag wins":     {flag: 0, env: map[string]string{"SLURM_ARRAY_TASK_ID": "2"}, want: 0},
		"slurm":         {flag: -1, env: map[string]string{"SLURM_ARRAY_TASK_ID": "2"}, want: 2},
		"kubernetes":    {flag: -1, env: map[string]string{"JOB_COMPLETION_INDEX": "13"}, want: 13},
		"empty":         {flag: -1, env: map[string]string{"SLURM_ARRAY_TASK_ID": "", "JOB_COMPLETION_INDEX": "1"}, want: 1},
		"none":          {flag: -1, bad: "no index"},
		"past the end":  {flag: 14, bad: "0 to 13"},
		"slurm, past":   {flag: -1, env: map[string]string{"SLURM_ARRAY_TASK_ID": "14"}, bad: "SLURM_ARRAY_TASK_ID"},
		"not a number":  {flag: -1, env: map[string]string{"JOB_COMPLETION_INDEX": "x"}, bad: "not a whole number"},
		"negative task": {flag: -1, env: map[string]string{"JOB_COMPLETION_INDEX": "-1"}, bad: "0 to 13"},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := Index(c.flag, 14, func(k string) (string, bool) { v, ok := c.env[k]; return v, ok })
			if c.bad != "" {
				if err == nil || !strings.Contains(err.Error(), c.bad) {
					t.Fatalf("error %v, want %q", err, c.bad)
				}
				return
			}
			if err != nil || got != c.want {
				t.Fatalf("%d, %v; want %d", got, err, c.want)
			}
		})
	}
	if _, err := Index(-1, 1, func(string) (string, bool) { return "", false }); !errors.Is(err, ErrNoIndex) {
		t.Errorf("error %v", err)
	}
}

func TestDearestKeepsOrderOfEquals(t *testing.T) {
	got := Dearest([]Job{{Index: 0, Cost: 1}, {Index: 1, Cost: 5}, {Index: 2, Cost: 1}, {Index: 3, Cost: 5}})
	if !slices.Equal(got, []int{1, 3, 0, 2}) {
		t.Errorf("order %v", got)
	}
}

func batch() Batch {
	return Batch{Cells: 14, Args: []string{"--seeds", "2", "--note", "it's"}, Dir: "/data/my study", CPUs: 4, MemoryMB: 2048, Minutes: 30, Image: "troupe:1"}
}

func TestSlurmFileIsAShellScript(t *testing.T) {
	var b strings.Builder
	if err := Emit(&b, "slurm", batch()); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"#SBATCH --array=0-13\n", "#SBATCH --mem=2048M", `--note 'it'\''s' --db '/data/my study'/cell-"$SLURM_ARRAY_TASK_ID".db`} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %q in\n%s", want, b.String())
		}
	}
	sh, err := exec.LookPath("sh")
	if err != nil {
		t.Skip("no shell here")
	}
	check := exec.Command(sh, "-n")
	check.Stdin = strings.NewReader(b.String())
	if out, err := check.CombinedOutput(); err != nil {
		t.Errorf("%v: %s", err, out)
	}
}

func TestKubernetesFileIsYAML(t *testing.T) {
	var b strings.Builder
	if err := Emit(&b, "k8s", batch()); err != nil {
		t.Fatal(err)
	}
	var job struct {
		Kind string
		Spec struct {
			CompletionMode string `yaml:"completionMode"`
			Completions    int
			Template       struct {
				Spec struct {
					Containers []struct{ Command []string }
				}
			}
		}
	}
	if err := yaml.Unmarshal([]byte(b.String()), &job); err != nil {
		t.Fatalf("%v in\n%s", err, b.String())
	}
	if job.Kind != "Job" || job.Spec.CompletionMode != "Indexed" || job.Spec.Completions != 14 {
		t.Errorf("job %+v", job)
	}
	if c := job.Spec.Template.Spec.Containers; len(c) != 1 || len(c[0].Command) != 3 || !strings.Contains(c[0].Command[2], `'it'\''s'`) {
		t.Errorf("containers %+v", c)
	}
}

func TestEmitRefuses(t *testing.T) {
	var b strings.Builder
	if err := Emit(&b, "pbs", batch()); err == nil || !strings.Contains(err.Error(), "pbs") {
		t.Errorf("error %v", err)
	}
	if err := Emit(&b, "slurm", Batch{}); err == nil {
		t.Error("an empty grid was written")
	}
}
