package main

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"strings"

	"troupe/data/store"
	"troupe/internal/api"
	"troupe/internal/atomicfile"
)

type serveCmd struct {
	DB        string   `name:"db" default:"runs.db" placeholder:"FILE" help:"Run database to show."`
	Listen    string   `default:"127.0.0.1:7411" placeholder:"HOST:PORT" help:"Address to listen on. One that other machines can reach needs --token-file."`
	TokenFile string   `placeholder:"FILE" help:"File with the token that callers must send. Without it a random one is made beside the database."`
	Name      []string `placeholder:"HOST" help:"Host name under which clients may call, besides localhost; repeatable."`
}

// Help is the long text of `troupe serve --help`.
func (serveCmd) Help() string {
	return `Read-only JSON for dashboards and scripts:
  GET /api/runs                  all runs
  GET /api/runs/ID               one run with its evaluations
  GET /api/runs/ID/metrics       its metrics, by iteration and role
  GET /healthz                   is it up`
}

// Run serves until a signal.
func (c *serveCmd) Run(env *environment) error {
	db, err := store.OpenReadOnly(c.DB)
	if err != nil {
		return inputf("%w", err)
	}
	defer db.Close()
	token, err := c.token()
	if err != nil {
		return err
	}
	s, err := api.Listen(api.Options{
		Addr: c.Listen, Token: token, Names: c.Name, DB: db,
		Log: slog.New(slog.NewTextHandler(env.Stderr, nil)),
	})
	if errors.Is(err, api.ErrOpenBind) {
		return usagef("%w", err)
	}
	if err != nil {
		return err
	}
	fmt.Fprintf(env.Stderr, "serving %s on http://%s (Ctrl-C stops)\n", c.DB, s.Addr())
	return s.Serve(env.Ctx)
}

// token is what --token-file holds. Without the flag it is a random one, kept
// beside the database where only this user can read it.
func (c *serveCmd) token() (string, error) {
	path := c.TokenFile
	if path == "" {
		if host, _, ok := strings.Cut(c.Listen, ":"); ok && host != "127.0.0.1" && host != "localhost" {
			return "", nil // api.Listen decides whether that is safe
		}
		path = c.DB + ".token"
		if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
			if err := atomicfile.WriteFile(path, []byte(rand.Text()+rand.Text()+"\n"), 0o600); err != nil {
				return "", err
			}
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
