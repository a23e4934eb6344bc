package main

import (
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"troupe/data/hub"
	"troupe/internal/nearest"
)

// knownSet is a data set that has a short name.
type knownSet struct {
	name, repo, files string // files is a pattern of path.Match
	help              string
}

var knownSets = []knownSet{
	{"dapo", "open-r1/DAPO-Math-17k-Processed", "en/*.parquet", "the paper's math problems, 14.1 k"},
	{"dapo-all", "open-r1/DAPO-Math-17k-Processed", "all/*.parquet", "the same with the Chinese ones"},
	{"dapo-raw", "BytedTsinghua-SIA/DAPO-Math-17k", "data/*.parquet", "DAPO's own file, every problem about 100 times"},
	{"deepcoder", "agentica-org/DeepCoder-Preview-Dataset", "primeintellect/*.parquet", "the paper's code problems, 1.2 GB"},
	{"deepcoder-taco", "agentica-org/DeepCoder-Preview-Dataset", "taco/*.parquet", "code, 0.9 GB"},
	{"deepcoder-lcbv5", "agentica-org/DeepCoder-Preview-Dataset", "lcbv5/*.parquet", "code, several GB"},
	{"deepcoder-codeforces", "agentica-org/DeepCoder-Preview-Dataset", "codeforces/*.parquet", "code, a test set"},
	{"gsm8k", "openai/gsm8k", "main/*.parquet", "grade-school math"},
	{"math500", "HuggingFaceH4/MATH-500", "*.jsonl", "500 competition problems"},
	{"aime2024", "HuggingFaceH4/aime_2024", "data/*.parquet", "30 competition problems"},
	{"aime2025", "MathArena/aime_2025", "data/*.parquet", "30 competition problems"},
}

type dataFetchCmd struct {
	Name     string `arg:"" placeholder:"NAME" help:"A known data set (see below), or any owner/name of the hub."`
	Files    string `placeholder:"PATTERN" help:"Which files, as in en/*.parquet (default: the known set's, else all .parquet, .jsonl and .json)."`
	Revision string `placeholder:"REV" help:"Branch, tag or commit (default main)."`
}

// Help is the long text of `troupe data fetch --help`.
func (dataFetchCmd) Help() string {
	var b strings.Builder
	b.WriteString("Known data sets:\n")
	for _, k := range knownSets {
		fmt.Fprintf(&b, "  %-21s %s\n", k.name, k.help)
	}
	return b.String() + hubHelp
}

const hubHelp = `
Files go into the cache of the Hugging Face tools, and what is there already is
used. HF_ENDPOINT, HF_TOKEN, HF_HOME, HF_HUB_CACHE and HF_HUB_OFFLINE count.
The paths are printed on standard output, one a line.`

// Run fetches the files and prints where they are.
func (c *dataFetchCmd) Run(env *environment) error {
	repo := hub.Repo{Kind: hub.Dataset, Name: c.Name, Revision: c.Revision}
	pattern := c.Files
	if !strings.Contains(c.Name, "/") {
		i := slices.IndexFunc(knownSets, func(k knownSet) bool { return k.name == c.Name })
		if i < 0 {
			var names []string
			for _, k := range knownSets {
				names = append(names, k.name)
			}
			if near := nearest.Word(c.Name, names); near != "" {
				return usagef("data fetch: no known data set %q, did you mean %q?", c.Name, near)
			}
			return usagef("data fetch: no known data set %q; known are %s, and any owner/name", c.Name, strings.Join(names, ", "))
		}
		repo.Name = knownSets[i].repo
		if pattern == "" {
			pattern = knownSets[i].files
		}
	}
	if _, err := path.Match(pattern, ""); err != nil {
		return usagef("data fetch: --files %q is no pattern", pattern)
	}
	dir, files, err := fetchRepo(env, repo, func(p string) bool {
		if pattern == "" {
			return slices.Contains([]string{".parquet", ".jsonl", ".json"}, path.Ext(p))
		}
		ok, _ := path.Match(pattern, p)
		return ok
	})
	if err != nil {
		return err
	}
	for _, f := range files {
		fmt.Fprintln(env.Stdout, filepath.Join(dir, filepath.FromSlash(f)))
	}
	return nil
}

type modelFetchCmd struct {
	Name     string `arg:"" placeholder:"OWNER/NAME" help:"A model on the hub, such as Qwen/Qwen3-0.6B."`
	Revision string `placeholder:"REV" help:"Branch, tag or commit (default main)."`
}

// Help is the long text of `troupe model fetch --help`.
func (modelFetchCmd) Help() string {
	return `Fetches what this program reads: safetensors, configuration and tokenizer. The
folder is printed on standard output; give it to --model.` + "\n" + hubHelp
}

// Run fetches a checkpoint and prints its folder.
func (c *modelFetchCmd) Run(env *environment) error {
	dir, _, err := fetchRepo(env, hub.Repo{Kind: hub.Model, Name: c.Name, Revision: c.Revision}, func(p string) bool {
		if strings.Contains(p, "/") {
			return false // other formats have folders of their own
		}
		switch path.Ext(p) {
		case ".safetensors", ".json", ".jinja", ".txt", ".model":
			return true
		}
		return false
	})
	if err != nil {
		return err
	}
	fmt.Fprintln(env.Stdout, dir)
	return nil
}

func fetchRepo(env *environment, repo hub.Repo, want func(string) bool) (string, []string, error) {
	client, err := hub.FromEnv()
	if err != nil {
		return "", nil, usagef("%w", err)
	}
	show := &progressLine{w: env.Stderr, terminal: isTerminal(env.Stderr)}
	client.Progress = show.update
	client.Note = func(format string, args ...any) { fmt.Fprintf(env.Stderr, "troupe: "+format+"\n", args...) }
	dir, files, err := client.Fetch(env.Ctx, repo, want)
	show.end()
	if err != nil {
		if errors.Is(err, env.Ctx.Err()) && env.Ctx.Err() != nil {
			return "", nil, err
		}
		return "", nil, inputf("%w", err)
	}
	return dir, files, nil
}
