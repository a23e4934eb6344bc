package safetensors

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"sort"
	"strings"

	"troupe/internal/readfile"
)

// The names a checkpoint's weights have in its folder.
const (
	WeightsFile = "model.safetensors"
	IndexFile   = "model.safetensors.index.json"
)

// maxIndex bounds the index; the largest published ones are below 1 MB.
const maxIndex = 64 << 20

// Checkpoint is the weights of a folder, whether they are in one file or in
// shards.
type Checkpoint struct {
	files []*File
	where map[string]*File
}

// OpenCheckpoint opens model.safetensors in dir, or else the shards that
// model.safetensors.index.json names.
func OpenCheckpoint(dir string) (*Checkpoint, error) {
	whole := filepath.Join(dir, WeightsFile)
	f, err := Open(whole)
	if err == nil {
		c := &Checkpoint{files: []*File{f}, where: map[string]*File{}}
		for _, n := range f.names {
			c.where[n] = f
		}
		return c, nil
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	index := filepath.Join(dir, IndexFile)
	text, err := readfile.AtMost(index, maxIndex)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, &Error{File: dir, Offset: -1, Fault: "neither " + WeightsFile + " nor " + IndexFile + " is there"}
	}
	if err != nil {
		return nil, err
	}
	places, err := ParseIndex(text)
	if err != nil {
		return nil, inFile(err, index)
	}
	return openShards(dir, index, places)
}

// ParseIndex reads the weight map of an index: the shard of each tensor. Shard
// names that lead out of the folder are refused.
func ParseIndex(text []byte) (map[string]string, error) {
	var x struct {
		WeightMap map[string]string `json:"weight_map"`
	}
	if err := json.Unmarshal(text, &x); err != nil {
		return nil, &Error{Offset: -1, Fault: fmt.Sprintf("the index is not valid: %v", err)}
	}
	if len(x.WeightMap) == 0 {
		return nil, &Error{Offset: -1, Fault: "the index has no weight_map"}
	}
	for tensor, shard := range x.WeightMap {
		if shard == "" || shard != filepath.Base(shard) || strings.ContainsAny(shard, `/\`) || !filepath.IsLocal(shard) {
			return nil, &Error{Tensor: tensor, Offset: -1, Fault: fmt.Sprintf("the index names %q, which is not a file of this folder", shard)}
		}
	}
	return x.WeightMap, nil
}

func openShards(dir, index string, places map[string]string) (_ *Checkpoint, err error) {
	c := &Checkpoint{where: map[string]*File{}}
	defer func() {
		if err != nil {
			c.Close()
		}
	}()
	names := make([]string, 0, len(places))
	for n := range places {
		names = append(names, n)
	}
	sort.Strings(names)
	open := map[string]*File{}
	for _, n := range names {
		shard := places[n]
		f := open[shard]
		if f == nil {
			if f, err = Open(filepath.Join(dir, shard)); err != nil {
				if errors.Is(err, fs.ErrNotExist) {
					err = &Error{File: index, Offset: -1, Fault: fmt.Sprintf("shard %s is not there", shard)}
				}
				return nil, err
			}
			open[shard] = f
			c.files = append(c.files, f)
		}
		if _, ok := f.Tensor(n); !ok {
			return nil, &Error{File: index, Tensor: n, Offset: -1, Fault: fmt.Sprintf("placed in %s, which does not hold it", shard)}
		}
		c.where[n] = f
	}
	return c, nil
}

// Close closes every file.
func (c *Checkpoint) Close() error {
	var first error
	for _, f := range c.files {
		if err := f.Close(); err != nil && first == nil {
			first = err
		}
	}
	return first
}

// Names lists all tensors in order of name.
func (c *Checkpoint) Names() []string {
	out := make([]string, 0, len(c.where))
	for n := range c.where {
		out = append(out, n)
	}
	sort.Strings(out)
	return out
}

// Find gives a tensor's entry and the file that holds it.
func (c *Checkpoint) Find(name string) (Tensor, *File, bool) {
	f := c.where[name]
	if f == nil {
		return Tensor{}, nil, false
	}
	t, ok := f.Tensor(name)
	return t, f, ok
}
