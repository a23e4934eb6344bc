package grid

import (
	"embed"
	"fmt"
	"io"
	"strings"
	"text/template"
)

//go:embed templates
var templates embed.FS

// Batch is what a job file says.
type Batch struct {
	Cells    int
	Args     []string // of `troupe grid` but for the index and the database
	Dir      string   // shared folder for databases, checkpoints and the cache
	CPUs     int
	MemoryMB int
	Minutes  int
	Image    string // container image, Kubernetes only
}

// Last is the index of the last cell.
func (b Batch) Last() int { return b.Cells - 1 }

// Seconds is the time limit in the unit of Kubernetes.
func (b Batch) Seconds() int { return 60 * b.Minutes }

// Command is the line that runs the cell a scheduler names. Index is the
// scheduler's variable as a shell sees it.
func (b Batch) Command(index string) string {
	words := []string{"troupe", "grid"}
	for _, a := range b.Args {
		words = append(words, quote(a))
	}
	dir := quote(strings.TrimSuffix(b.Dir, "/"))
	return strings.Join(words, " ") + fmt.Sprintf(` --db %[1]s/cell-"$%[2]s".db --out %[1]s/runs --cache %[1]s/cache`, dir, index)
}

// YAML is s as a YAML scalar on one line.
func (Batch) YAML(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" }

// Quote is s as one word of a shell.
func (Batch) Quote(s string) string { return quote(s) }

func quote(s string) string {
	if s != "" && strings.Trim(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./=:,") == "" {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// Formats lists the kinds of job files.
func Formats() []string { return []string{"slurm", "k8s"} }

// Emit writes a job file.
func Emit(w io.Writer, format string, b Batch) error {
	switch {
	case format != "slurm" && format != "k8s":
		return fmt.Errorf("format %q is neither slurm nor k8s", format)
	case b.Cells < 1:
		return fmt.Errorf("a grid of %d cells has no jobs", b.Cells)
	}
	t, err := template.ParseFS(templates, "templates/"+format+".tmpl")
	if err != nil {
		return err
	}
	return t.Execute(w, b)
}
