package grid

import (
	"embed"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strconv"
	"strings"
	"text/template"
	"unicode/utf8"
)

//go:embed templates
var templates embed.FS

// Batch is what a job file says. Its jobs are the stages of one study: prepare
// the guest and the bases, train the cells, merge their databases.
type Batch struct {
	Cells    int
	Args     []string // of `troupe grid`, those that choose the cells
	Dir      string   // see Folder
	CPUs     int
	MemoryMB int
	Minutes  int
	Image    string // container image, Kubernetes only
}

// Study names the study.
func (b Batch) Study() string { return StudyID(b.Args) }

// Last is the index of the last cell.
func (b Batch) Last() int { return b.Cells - 1 }

// Seconds is the time limit in the unit of Kubernetes.
func (b Batch) Seconds() int { return 60 * b.Minutes }

// Grace is how many seconds before its time limit a job is told to stop. An
// iteration takes seconds, so that two minutes are plenty; a job of a few
// minutes still has most of its time.
func (b Batch) Grace() int { return min(120, b.Seconds()/4) }

// Command are the words that run a stage: prepare, cell or merge. The index of
// a cell comes from the scheduler.
func (b Batch) Command(stage string) []string {
	f := Folder{Dir: filepath.Clean(b.Dir)}
	words := append([]string{"troupe", "grid"}, b.Args...)
	return append(words, "--stage", stage, "--dir", f.Dir, "--cache", f.Cache())
}

// Shell is a stage's command for a shell.
func (b Batch) Shell(stage string) string {
	words := b.Command(stage)
	for i, w := range words {
		words[i] = quote(w)
	}
	return strings.Join(words, " ")
}

// Waiting is a stage's command as a list in YAML; the job waits for those
// before it.
func (b Batch) Waiting(stage string) string {
	words := append(b.Command(stage), "--wait")
	for i, w := range words {
		words[i] = b.YAML(strings.ReplaceAll(w, "$", "$$")) // $(NAME) is a variable there, $$ a dollar
	}
	return "[" + strings.Join(words, ", ") + "]"
}

// YAML is s as a YAML scalar on one line.
func (Batch) YAML(s string) string {
	if strings.ContainsFunc(s, func(r rune) bool { return !strconv.IsPrint(r) }) {
		return strconv.Quote(s)
	}
	return "'" + strings.ReplaceAll(s, "'", "''") + "'"
}

// Logs is the folder of the jobs' logs in sbatch's patterns of file names.
func (b Batch) Logs() string { return strings.ReplaceAll(filepath.Join(b.Dir, "logs"), "%", "%%") }

// Quote is s as one word of a shell.
func (Batch) Quote(s string) string { return quote(s) }

func quote(s string) string {
	if s != "" && strings.Trim(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./=:,") == "" {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// ErrBatch is in the chain of errors about a batch that no job file can say.
var ErrBatch = errors.New("no such jobs")

// Emit writes a job file.
func Emit(w io.Writer, format string, b Batch) error {
	switch {
	case format != "slurm" && format != "k8s":
		return fmt.Errorf("%w: format %q is neither slurm nor k8s", ErrBatch, format)
	case b.Cells < 1:
		return fmt.Errorf("%w: a grid of %d cells", ErrBatch, b.Cells)
	case strings.ContainsAny(b.Dir, "\x00\n\r"):
		return fmt.Errorf("%w: folder %q has a line break in its name", ErrBatch, b.Dir)
	case format == "slurm" && strings.Contains(b.Dir, `\`):
		return fmt.Errorf("%w: folder %q: a backslash has a meaning of its own in names of logs", ErrBatch, b.Dir)
	case format == "k8s" && (!filepath.IsAbs(b.Dir) || strings.Contains(b.Dir, ":") || !utf8.ValidString(b.Dir)):
		return fmt.Errorf("%w: folder %q: a volume is mounted at an absolute path of UTF-8 without a colon", ErrBatch, b.Dir)
	}
	t, err := template.ParseFS(templates, "templates/"+format+".tmpl")
	if err != nil {
		return err
	}
	return t.Execute(w, b)
}
