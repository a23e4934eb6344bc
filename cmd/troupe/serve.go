package main

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"runtime"
	"strings"

	"troupe/data/store"
	"troupe/internal/api"
	"troupe/internal/atomicfile"
	"troupe/sandbox"
	"troupe/verifier"
	"troupe/verifier/verdict"
)

type serveCmd struct {
	DB        string `name:"db" default:"runs.db" placeholder:"FILE" help:"Run database to show."`
	Listen    string `default:"127.0.0.1:7411" placeholder:"HOST:PORT" help:"Address to listen on. One that other machines can reach needs --token-file."`
	TokenFile string `placeholder:"FILE" help:"File with the token that callers must send. Without it a random one is made beside the database."`
	Workers   int    `placeholder:"N" help:"Sandbox workers for verification (default: one per CPU)."`
	NoVerify  bool   `name:"no-verify" help:"Only show runs; start no sandbox."`
	DropIn    bool   `name:"drop-in" help:"Let callers on this machine use the SandboxFusion and Piston routes without the token, as verl's and open-r1's clients do."`
	guestFlags
	Name []string `sep:"none" placeholder:"HOST" help:"Host name under which clients may call, besides localhost; repeatable."`
}

// Help is the long text of `troupe serve --help`.
func (serveCmd) Help() string {
	return `A dashboard at / and read-only JSON:
  GET /api/runs                  all runs
  GET /api/runs/ID               one run with its evaluations
  GET /api/runs/ID/metrics       its metrics, by iteration and role
  GET /api/runs/ID/stream        what it adds while it trains, as server-sent events
  GET /metrics                   the server's own, for Prometheus
  GET /openapi.json              all routes
  GET /healthz                   is it up

Verification for trainers (Authorization: Bearer TOKEN; the records of troupe verify, one or an array):
  POST /v1/verify/code
  POST /v1/verify/math
and, with the token or --drop-in, the routes of other reward servers:
  POST /run_code, /submit        SandboxFusion, as verl calls it
  POST /api/v2/execute           Piston, as open-r1 calls it
  POST /test_program, /test_program_stdio
                                 open-instruct`
}

// Run serves until a signal.
func (c *serveCmd) Run(env *environment) error {
	if c.Workers < 0 {
		return usagef("--workers must be 0 or more")
	}
	local, err := api.Local(c.Listen)
	if err != nil {
		return usagef("%w", err)
	}
	if !local && c.TokenFile == "" {
		return usagef("listen on %q: %w", c.Listen, api.ErrOpenBind)
	}
	opt := api.Options{Addr: c.Listen, Names: c.Name, OpenDropIn: c.DropIn, Version: version, Log: slog.New(slog.NewTextHandler(env.Stderr, nil))}
	if err := c.openRuns(env, &opt); err != nil {
		return err
	}
	if opt.DB != nil {
		defer opt.DB.Close()
	}
	if opt.Token, err = c.token(); err != nil {
		return err
	}
	if !c.NoVerify {
		pool, err := c.openVerifiers(env, &opt)
		if err != nil {
			return err
		}
		defer pool.Close()
	}
	s, err := api.Listen(opt)
	if err != nil {
		return err
	}
	fmt.Fprintf(env.Stderr, "serving on http://%s (Ctrl-C stops)\n", s.Addr())
	return s.Serve(env.Ctx)
}

// openRuns opens the database. A verifier needs none: where the file is missing,
// there are simply no runs to show.
func (c *serveCmd) openRuns(env *environment, opt *api.Options) error {
	if _, err := os.Stat(c.DB); errors.Is(err, fs.ErrNotExist) && !c.NoVerify {
		fmt.Fprintf(env.Stderr, "there is no %s: only the verifiers are served\n", c.DB)
		return nil
	}
	db, err := store.OpenReadOnly(c.DB)
	if err != nil {
		return inputf("%w", err)
	}
	opt.DB = db
	return nil
}

// openVerifiers starts the sandbox and makes the judges of the command line
// answer over HTTP too.
func (c *serveCmd) openVerifiers(env *environment, opt *api.Options) (*sandbox.Pool, error) {
	opt.Workers = c.Workers
	if opt.Workers <= 0 {
		opt.Workers = runtime.GOMAXPROCS(0)
	}
	pool, err := openSandbox(env, c.guestFlags, opt.Workers)
	if err != nil {
		return nil, err
	}
	opt.Pool = pool
	code := &verifyCodeCmd{Profile: "strict", limitFlags: limitFlags{TimeS: sandbox.DefaultTimeS, MemoryMB: sandbox.DefaultMemoryMB, OutputKB: sandbox.DefaultOutputKB}}
	most := api.MaxLimits()
	opt.Judge = verifier.New(verifier.Options{Pool: pool, Code: code.options()})
	programs := &codeJudge{cmd: code, pool: pool, judge: opt.Judge, most: &most}
	engine, err := verifier.NewMathGuest(pool)
	if err != nil {
		return nil, errors.Join(err, pool.Close())
	}
	answers := &mathJudge{cmd: &verifyMathCmd{Mode: "math"}, engine: engine}
	record := func(judge func(context.Context, int, []byte) (judgement, error)) api.Record {
		return func(ctx context.Context, n int, raw json.RawMessage) (any, verdict.Code, error) {
			j, err := judge(ctx, n, raw)
			return j.out, j.v.Code, err
		}
	}
	opt.VerifyCode, opt.VerifyMath = record(programs.line), record(answers.line)
	return pool, nil
}

// token is what --token-file holds. Without the flag it is a random one, kept
// beside the database where only this user can read it.
func (c *serveCmd) token() (string, error) {
	path := c.TokenFile
	if path == "" {
		path = c.DB + ".token"
		if err := ownToken(path); err != nil {
			return "", err
		}
	}
	b, err := os.ReadFile(path)
	if err != nil {
		return "", inputf("%w", err)
	}
	token := strings.TrimSpace(string(b))
	if token == "" {
		return "", inputf("read %s: the file holds no token", path)
	}
	return token, nil
}

// ownToken makes the token file beside the database if there is none. One that
// others can read, or that is a link to somewhere else, may have been put there
// by them.
func ownToken(path string) error {
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if err := atomicfile.WriteFile(path, []byte(rand.Text()+rand.Text()+"\n"), 0o600); err != nil {
			return inputf("the token is kept beside the database: %w", err)
		}
		return nil
	case err != nil:
		return inputf("%w", err)
	case !info.Mode().IsRegular():
		return inputf("read the token %s: it is no regular file", path)
	case runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0:
		return inputf("read the token %s: others can read or change it (mode %04o); chmod 600 it, or remove it for a new one", path, info.Mode().Perm())
	}
	return nil
}
