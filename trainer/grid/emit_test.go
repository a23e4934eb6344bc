package grid

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
)

func batch() Batch {
	return Batch{Cells: 14, Args: []string{"--seeds", "2", "--note", "it's"}, Dir: "/data/my study", CPUs: 4, MemoryMB: 2048, Minutes: 30, Image: "troupe:1"}
}

func emitted(t *testing.T, format string) string {
	t.Helper()
	var b strings.Builder
	if err := Emit(&b, format, batch()); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// A stand-in for sbatch, on PATH, keeps what it is told: the job file itself
// runs in a real shell.
const sbatch = `#!/bin/sh
n=$(($(ls "$OUT" | wc -l) + 1))
{ printf '%s\n' "$@"; echo --script--; cat; } >"$OUT/$n"
echo "$n;cluster"
`

func TestSlurmFileSubmitsThreeStages(t *testing.T) {
	sh, err := exec.LookPath("sh")
	if err != nil {
		t.Skip("no shell here")
	}
	bin, out, work := t.TempDir(), t.TempDir(), t.TempDir()
	if err := os.WriteFile(filepath.Join(bin, "sbatch"), []byte(sbatch), 0o755); err != nil {
		t.Fatal(err)
	}
	b := batch()
	b.Dir = filepath.Join(work, "it's 100%j \"$HOME\" study")
	var file strings.Builder
	if err := Emit(&file, "slurm", b); err != nil {
		t.Fatal(err)
	}
	c := exec.Command(sh)
	c.Stdin = strings.NewReader(file.String())
	c.Env = append(os.Environ(), "OUT="+out, "PATH="+bin+string(os.PathListSeparator)+os.Getenv("PATH"))
	said, err := c.CombinedOutput()
	if err != nil || !strings.HasPrefix(string(said), "prepare 1, cells 2, merge 3;") {
		t.Fatalf("%v: %s", err, said)
	}
	for i, want := range [][]string{
		{"--job-name=troupe-prepare", "--mem=2048M", "--cpus-per-task=4", "--time=30", "--requeue", "--stage prepare"},
		{"--job-name=troupe-cell", "--array=0-13", "--dependency=afterok:1", "--signal=B:USR1@120",
			"--output=" + strings.ReplaceAll(b.Dir, "%", "%%") + "/logs/cell-%a-%A.log", `--note 'it'\''s' --stage cell --dir ` + quote(b.Dir), "scontrol requeue"},
		{"--job-name=troupe-merge", "--dependency=afterok:2", "--stage merge"},
	} {
		job, err := os.ReadFile(filepath.Join(out, fmt.Sprint(i+1)))
		if err != nil {
			t.Fatal(err)
		}
		for _, w := range want {
			if !strings.Contains(string(job), w) {
				t.Errorf("job %d: no %q in\n%s", i+1, w, job)
			}
		}
		_, script, _ := strings.Cut(string(job), "--script--\n")
		check := exec.Command(sh, "-n")
		check.Stdin = strings.NewReader(script)
		if out, err := check.CombinedOutput(); err != nil {
			t.Errorf("job %d: %v: %s", i+1, err, out)
		}
	}
}

// The fields of Kubernetes' batch/v1 that the file uses, and no others:
// decoding is strict.
type (
	k8sJob struct {
		APIVersion string `yaml:"apiVersion"`
		Kind       string
		Metadata   struct{ Name string }
		Spec       k8sSpec
	}
	k8sSpec struct {
		CompletionMode       string `yaml:"completionMode"`
		Completions          int
		Parallelism          int
		BackoffLimit         int                       `yaml:"backoffLimit"`
		BackoffLimitPerIndex int                       `yaml:"backoffLimitPerIndex"`
		PodFailurePolicy     struct{ Rules []k8sRule } `yaml:"podFailurePolicy"`
		Template             struct{ Spec k8sPod }
	}
	k8sRule struct {
		Action          string
		OnPodConditions []struct{ Type string } `yaml:"onPodConditions"`
		OnExitCodes     struct {
			ContainerName string `yaml:"containerName"`
			Operator      string
			Values        []int
		} `yaml:"onExitCodes"`
	}
	k8sPod struct {
		ActiveDeadlineSeconds         int    `yaml:"activeDeadlineSeconds"`
		RestartPolicy                 string `yaml:"restartPolicy"`
		AutomountServiceAccountToken  bool   `yaml:"automountServiceAccountToken"`
		TerminationGracePeriodSeconds int    `yaml:"terminationGracePeriodSeconds"`
		Volumes                       []struct {
			Name                  string
			PersistentVolumeClaim struct {
				ClaimName string `yaml:"claimName"`
			} `yaml:"persistentVolumeClaim"`
			EmptyDir struct{} `yaml:"emptyDir"`
		}
		Containers []struct {
			Name         string
			Image        string
			Command      []string
			Env          []struct{ Name, Value string }
			VolumeMounts []struct {
				Name      string
				MountPath string `yaml:"mountPath"`
			} `yaml:"volumeMounts"`
			Resources struct{ Requests, Limits struct{ CPU, Memory string } }
		}
	}
)

func TestKubernetesFileHasThreeJobs(t *testing.T) {
	d := yaml.NewDecoder(strings.NewReader(emitted(t, "k8s")), yaml.Strict())
	var jobs []k8sJob
	for {
		var j k8sJob
		if err := d.Decode(&j); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		jobs = append(jobs, j)
	}
	if len(jobs) != 3 {
		t.Fatalf("%d documents", len(jobs))
	}
	for i, stage := range []string{"prepare", "cell", "merge"} {
		j := jobs[i]
		if j.APIVersion != "batch/v1" || j.Kind != "Job" || j.Metadata.Name != "troupe-"+batch().Study()+"-"+stage {
			t.Errorf("job %d: %s %s %s", i, j.APIVersion, j.Kind, j.Metadata.Name)
		}
		pod := j.Spec.Template.Spec
		if pod.RestartPolicy != "Never" || pod.TerminationGracePeriodSeconds != 120 || len(pod.Containers) != 1 || len(pod.Volumes) != 2 {
			t.Fatalf("job %d: pod %+v", i, pod)
		}
		c := pod.Containers[0]
		want := append(append([]string{"troupe", "grid"}, batch().Args...), "--stage", stage, "--dir", "/data/my study", "--cache", "/data/my study/cache", "--wait")
		if !slices.Equal(c.Command, want) {
			t.Errorf("job %d: command %q, want %q", i, c.Command, want)
		}
		if c.Image != "troupe:1" || c.VolumeMounts[0].MountPath != "/data/my study" || c.Resources.Limits.Memory != "2048Mi" {
			t.Errorf("job %d: container %+v", i, c)
		}
	}
	cell := jobs[1].Spec
	if cell.CompletionMode != "Indexed" || cell.Completions != 14 || cell.BackoffLimitPerIndex != 3 || cell.Template.Spec.ActiveDeadlineSeconds != 1800 {
		t.Errorf("the cells' job: %+v", cell)
	}
	if rules := cell.PodFailurePolicy.Rules; len(rules) != 2 || rules[1].OnExitCodes.ContainerName != cell.Template.Spec.Containers[0].Name {
		t.Errorf("rules %+v", rules)
	}
}

// $(NAME) in a command is a variable of the container; a folder may be called so.
func TestKubernetesTakesNoFolderForAVariable(t *testing.T) {
	b := batch()
	b.Dir = "/it's $(GOMAXPROCS) $$\u0085"
	var file strings.Builder
	if err := Emit(&file, "k8s", b); err != nil {
		t.Fatal(err)
	}
	var j k8sJob
	if err := yaml.NewDecoder(strings.NewReader(file.String())).Decode(&j); err != nil {
		t.Fatal(err)
	}
	c := j.Spec.Template.Spec.Containers[0]
	if i := slices.Index(c.Command, "--dir"); c.Command[i+1] != "/it's $$(GOMAXPROCS) $$$$\u0085" || c.VolumeMounts[0].MountPath != b.Dir {
		t.Errorf("command %q, mounted at %q", c.Command, c.VolumeMounts[0].MountPath)
	}
}

func TestEmitRefuses(t *testing.T) {
	for name, c := range map[string]struct {
		format string
		change func(*Batch)
		want   string
	}{
		"format":          {"pbs", func(*Batch) {}, "pbs"},
		"no cells":        {"slurm", func(b *Batch) { b.Cells = 0 }, "0 cells"},
		"line break":      {"slurm", func(b *Batch) { b.Dir = "a\nb" }, "line break"},
		"backslash":       {"slurm", func(b *Batch) { b.Dir = `a\b` }, "backslash"},
		"colon":           {"k8s", func(b *Batch) { b.Dir = "/a:b" }, "colon"},
		"relative volume": {"k8s", func(b *Batch) { b.Dir = "study" }, "absolute"},
	} {
		b := batch()
		c.change(&b)
		var out strings.Builder
		if err := Emit(&out, c.format, b); !errors.Is(err, ErrBatch) || !strings.Contains(err.Error(), c.want) || out.Len() > 0 {
			t.Errorf("%s: error %v, wrote %q", name, err, out.String())
		}
	}
}
