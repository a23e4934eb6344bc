package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"troupe/data"
	"troupe/data/dapo"
	"troupe/data/deepcoder"
	"troupe/data/jsonl"
	"troupe/data/parquet"
)

// loadTasks reads the tasks of a file, or of a folder with the parts of one
// data set. The kind of file is told by its content: DAPO and DeepCoder in
// their own parquet files, everything else by the names of its columns.
func loadTasks(ctx context.Context, path string) ([]data.Task, data.Report, error) {
	files, err := dataFiles(path)
	if err != nil {
		return nil, data.Report{}, err
	}
	if !isParquet(files[0]) {
		if len(files) > 1 {
			return nil, data.Report{}, fmt.Errorf("read tasks: %s has %d files; name one of them", path, len(files))
		}
		return loadJSON(ctx, files[0])
	}
	schema, err := parquet.Inspect(ctx, files[0])
	if err != nil {
		return nil, data.Report{}, err
	}
	switch {
	case deepcoder.Is(schema):
		return deepcoder.Read(ctx, files...)
	case len(files) > 1:
		return nil, data.Report{}, fmt.Errorf("read tasks: %s has %d files; name one of them", path, len(files))
	case dapo.IsRaw(schema), dapo.IsProcessed(schema) && !schema.Has("answer"):
		return dapo.Read(ctx, files[0])
	}
	c := jsonl.NewCollector(setName(files[0]))
	err = parquet.Rows(ctx, files[0], jsonl.Columns(), func(row int, raw []byte, rowErr error) error {
		c.Add(row, raw, rowErr)
		return nil
	})
	if err != nil {
		return nil, c.Report, err
	}
	tasks, err := c.Finish(files[0])
	return tasks, c.Report, err
}

// loadJSON reads JSON rows; those of DAPO are told by their reward_model.
func loadJSON(ctx context.Context, path string) ([]data.Task, data.Report, error) {
	c := jsonl.NewCollector(setName(path))
	first := true
	err := jsonl.Rows(ctx, path, func(line int, raw []byte, rowErr error) error {
		if first && rowErr == nil && bytes.Contains(raw, []byte(`"reward_model"`)) && !bytes.Contains(raw, []byte(`"answer"`)) {
			c = jsonl.NewCollectorOf(dapo.Task)
		}
		first = false
		c.Add(line, raw, rowErr)
		return nil
	})
	if err != nil {
		return nil, c.Report, err
	}
	tasks, err := c.Finish(path)
	return tasks, c.Report, err
}

// dataFiles is the file itself, or the data files of a folder in their order.
func dataFiles(path string) ([]string, error) {
	st, err := os.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("read tasks: %w", err)
	}
	if !st.IsDir() {
		return []string{path}, nil
	}
	var files []string
	for _, pattern := range []string{"*.parquet", "*.jsonl", "*.json"} {
		found, err := filepath.Glob(filepath.Join(escapeGlob(path), pattern))
		if err != nil {
			return nil, fmt.Errorf("read tasks: %s: %w", path, err)
		}
		if len(found) > 0 {
			files = found
			break
		}
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("read tasks: the folder %s has no .parquet, .jsonl or .json file", path)
	}
	slices.Sort(files)
	return files, nil
}

func escapeGlob(path string) string {
	return strings.NewReplacer(`[`, `\[`, `*`, `\*`, `?`, `\?`).Replace(path)
}

// isParquet goes by the name, else by the first bytes; a pipe's are not taken.
func isParquet(path string) bool {
	if strings.EqualFold(filepath.Ext(path), ".parquet") {
		return true
	}
	if st, err := os.Stat(path); err != nil || !st.Mode().IsRegular() {
		return false
	}
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	var mark [4]byte
	_, err = io.ReadFull(f, mark[:])
	return err == nil && string(mark[:]) == "PAR1"
}

func setName(path string) string {
	return strings.TrimSuffix(filepath.Base(path), filepath.Ext(path))
}
