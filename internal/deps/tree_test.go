package deps

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const root = "../.."

// top is what may stand at the top of the tree.
var top = []string{"cmd", "trainer", "sandbox", "verifier", "model", "data", "go.mod", "go.sum", "README.md",
	"docs", "internal", ".ci", "LICENSE", ".gitignore", ".gitattributes", ".git"}

func TestTopLevelIsFixed(t *testing.T) {
	es, err := os.ReadDir(root)
	if err != nil {
		t.Fatal(err)
	}
	ignored := []string{"runs", "runs.db", "runs.db-wal", "runs.db-shm", "report.html", "troupe"}
	for _, e := range es {
		if !slices.Contains(top, e.Name()) && !slices.Contains(ignored, e.Name()) {
			t.Errorf("%s does not belong at the top level", e.Name())
		}
	}
}

// A file of the tree must make sense on any machine.
func TestNothingSpeaksOfOneMachine(t *testing.T) {
	words := []string{"/wo" + "rk/", "/ro" + "ot/", "registry.npm" + "js.org", "proxy.go" + "lang.org", "pypi." + "org"}
	walk(t, func(path string, body string) {
		for _, w := range words {
			if strings.Contains(body, w) {
				t.Errorf("%s contains %q", path, w)
			}
		}
	})
}

func TestExportedNamesAreDocumented(t *testing.T) {
	fset := token.NewFileSet()
	walk(t, func(path, body string) {
		if !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") || strings.Contains(path, "testdata/") {
			return
		}
		f, err := parser.ParseFile(fset, path, body, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			t.Errorf("%s: %v", path, err)
			return
		}
		if f.Name.Name == "main" || ast.IsGenerated(f) {
			return
		}
		for _, d := range f.Decls {
			for _, name := range undocumented(d) {
				t.Errorf("%s: %s has no doc comment", path, name)
			}
		}
	})
}

// undocumented lists the exported names of a declaration that no comment
// covers. A comment over a group covers the group.
func undocumented(d ast.Decl) []string {
	var bad []string
	switch d := d.(type) {
	case *ast.FuncDecl:
		if d.Name.IsExported() && d.Doc == nil && exportedReceiver(d) && !isErrorMethod(d) {
			bad = append(bad, d.Name.Name)
		}
	case *ast.GenDecl:
		for _, s := range d.Specs {
			switch s := s.(type) {
			case *ast.TypeSpec:
				if s.Name.IsExported() && d.Doc == nil && s.Doc == nil && s.Comment == nil {
					bad = append(bad, s.Name.Name)
				}
			case *ast.ValueSpec:
				for _, n := range s.Names {
					if n.IsExported() && d.Doc == nil && s.Doc == nil && s.Comment == nil {
						bad = append(bad, n.Name)
					}
				}
			}
		}
	}
	return bad
}

// isErrorMethod knows the methods of the error interfaces and of fmt.Stringer,
// which document themselves.
func isErrorMethod(d *ast.FuncDecl) bool {
	return d.Recv != nil && slices.Contains([]string{"Error", "Unwrap", "Is", "String"}, d.Name.Name)
}

func exportedReceiver(d *ast.FuncDecl) bool {
	if d.Recv == nil {
		return true
	}
	t := d.Recv.List[0].Type
	if s, ok := t.(*ast.StarExpr); ok {
		t = s.X
	}
	if x, ok := t.(*ast.IndexExpr); ok {
		t = x.X
	}
	id, ok := t.(*ast.Ident)
	return ok && id.IsExported()
}

// maxFile is the budget for the lines of a source file that people write.
const maxFile = 450

func TestFilesAreShort(t *testing.T) {
	walk(t, func(path, body string) {
		if strings.HasSuffix(path, ".go") && !strings.HasSuffix(path, "_test.go") &&
			!strings.Contains(body[:min(len(body), 300)], "DO NOT EDIT") {
			if n := strings.Count(body, "\n"); n > maxFile {
				t.Errorf("%s has %d lines; %d is the budget", path, n, maxFile)
			}
		}
	})
}

// walk gives every text file of the tree that is ours to write.
func walk(t *testing.T, f func(path, body string)) {
	t.Helper()
	err := filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(root, path)
		if e.IsDir() {
			if rel == ".git" || rel == "runs" {
				return filepath.SkipDir
			}
			return nil
		}
		switch filepath.Ext(path) {
		case ".go", ".s", ".md", ".txt", ".py", ".sql", ".sh", ".mod", ".html", ".js", ".css", ".yaml", ".yml", "":
		default:
			return nil
		}
		b, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		f(rel, string(b))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
