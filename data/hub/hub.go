// Package hub downloads models and data sets from the Hugging Face hub into the
// cache that the Python tools use, so that what either has fetched is there for
// the other. Files are resumed, checked against the hub's hashes and moved into
// place when they are whole.
package hub

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"troupe/internal/fetch"
)

// Kind is what a repository holds.
type Kind string

// The kinds of repositories.
const (
	Model   Kind = "models"
	Dataset Kind = "datasets"
)

// Repo names a repository and a revision of it: a branch, tag or commit.
type Repo struct {
	Kind     Kind
	Name     string // owner/name
	Revision string // empty: main
}

func (r Repo) String() string { return r.Name + "@" + r.revision() }

func (r Repo) revision() string { return cmp.Or(r.Revision, "main") }

// page is the repository's address below the endpoint.
func (r Repo) page() string {
	if r.Kind == Dataset {
		return "datasets/" + r.Name
	}
	return r.Name
}

// ErrAccess is in the chain of errors about repositories that a token or an
// accepted licence opens.
var ErrAccess = errors.New("access refused")

// ErrNotFound is in the chain of errors about what the hub does not have.
var ErrNotFound = errors.New("not found")

// Client talks to one hub.
type Client struct {
	Endpoint string // without a slash at the end
	Token    string
	Cache    string // the folder with models--… and datasets--…
	Offline  bool   // use only what is in the cache
	// Progress is told how far a file is; total 0 means unknown.
	Progress func(file string, done, total int64)
	// Note is told in words what a person should know.
	Note func(format string, args ...any)

	http *http.Client
}

const defaultEndpoint = "https://huggingface.co"

// FromEnv is a client as the Python tools would be configured: HF_ENDPOINT,
// HF_TOKEN (or the token file of HF_HOME), HF_HOME, HF_HUB_CACHE,
// HF_HUB_OFFLINE; and TROUPE_OFFLINE.
func FromEnv() (*Client, error) {
	c := &Client{
		Endpoint: strings.TrimRight(cmp.Or(os.Getenv("HF_ENDPOINT"), defaultEndpoint), "/"),
		Token:    strings.TrimSpace(cmp.Or(os.Getenv("HF_TOKEN"), os.Getenv("HUGGING_FACE_HUB_TOKEN"))),
		Offline:  fetch.Offline() || isOn(os.Getenv("HF_HUB_OFFLINE")),
	}
	home := os.Getenv("HF_HOME")
	if home == "" {
		base := os.Getenv("XDG_CACHE_HOME")
		if base == "" {
			user, err := os.UserHomeDir()
			if err != nil {
				return nil, fmt.Errorf("hub: no home folder for the cache: %w; set HF_HOME", err)
			}
			base = filepath.Join(user, ".cache")
		}
		home = filepath.Join(base, "huggingface")
	}
	c.Cache = cmp.Or(os.Getenv("HF_HUB_CACHE"), os.Getenv("HUGGINGFACE_HUB_CACHE"), filepath.Join(home, "hub"))
	if c.Token == "" {
		if b, err := os.ReadFile(cmp.Or(os.Getenv("HF_TOKEN_PATH"), filepath.Join(home, "token"))); err == nil {
			c.Token = strings.TrimSpace(string(b))
		}
	}
	u, err := url.Parse(c.Endpoint)
	if err != nil || u.Host == "" {
		return nil, fmt.Errorf("hub: HF_ENDPOINT %q is no address", c.Endpoint)
	}
	if ip := net.ParseIP(u.Hostname()); u.Scheme != "https" && u.Hostname() != "localhost" && (ip == nil || !ip.IsLoopback()) {
		return nil, fmt.Errorf("hub: HF_ENDPOINT %q is not https", c.Endpoint)
	}
	return c, nil
}

func isOn(v string) bool {
	switch strings.ToUpper(v) {
	case "1", "ON", "YES", "TRUE":
		return true
	}
	return false
}

// Entry is a file of a repository.
type Entry struct {
	Path   string
	Size   int64
	SHA256 string // of files in large-file storage
	Git    string // SHA-1 of the git blob, of all others
}

// etag is the name of the file's blob in the cache.
func (e Entry) etag() string { return cmp.Or(e.SHA256, e.Git) }

// Listing is a repository's files at one commit.
type Listing struct {
	Commit string
	Files  []Entry
}

var (
	repoName = regexp.MustCompile(`^[A-Za-z0-9][\w.-]*(/[A-Za-z0-9][\w.-]*)?$`)
	hexName  = regexp.MustCompile(`^[0-9a-f]{40}([0-9a-f]{24})?$`)
)

// largestListing bounds the answer to a listing.
const largestListing = 64 << 20

// List asks the hub for a repository's files.
func (c *Client) List(ctx context.Context, r Repo) (Listing, error) {
	var l Listing
	if !repoName.MatchString(r.Name) || strings.Contains(r.Name, "..") {
		return l, fmt.Errorf("hub: %q is no repository name; it should be owner/name", r.Name)
	}
	address := fmt.Sprintf("%s/api/%s/%s/revision/%s?blobs=true", c.Endpoint, r.Kind, r.Name, url.PathEscape(r.revision()))
	body, err := c.get(ctx, r, address)
	if err != nil {
		return l, err
	}
	return parseListing(r, body)
}

// parseListing checks what the hub says: names stay in the folder, hashes are
// hashes.
func parseListing(r Repo, body []byte) (Listing, error) {
	var l Listing
	var answer struct {
		SHA      string
		Siblings []struct {
			Name   string `json:"rfilename"`
			Size   int64
			BlobID string
			LFS    *struct {
				SHA256 string
				Size   int64
			}
		}
	}
	if err := json.Unmarshal(body, &answer); err != nil {
		return l, fmt.Errorf("hub: %s: the answer is no listing: %w", r, err)
	}
	if !hexName.MatchString(answer.SHA) {
		return l, fmt.Errorf("hub: %s: the answer names no commit", r)
	}
	l.Commit = answer.SHA
	for _, s := range answer.Siblings {
		e := Entry{Path: s.Name, Size: s.Size, Git: s.BlobID}
		if s.LFS != nil {
			e = Entry{Path: s.Name, Size: s.LFS.Size, SHA256: s.LFS.SHA256}
		}
		if !filepath.IsLocal(filepath.FromSlash(e.Path)) {
			return l, fmt.Errorf("hub: %s: the file name %q leaves the folder", r, e.Path)
		}
		if e.Size < 0 || !hexName.MatchString(e.etag()) {
			return l, fmt.Errorf("hub: %s: the listing has no size or hash for %s", r, e.Path)
		}
		l.Files = append(l.Files, e)
	}
	return l, nil
}

// get reads a small answer; a server in trouble is asked again.
func (c *Client) get(ctx context.Context, r Repo, address string) ([]byte, error) {
	var last error
	for try := range 3 {
		if try > 0 {
			select {
			case <-ctx.Done():
				return nil, ctx.Err()
			case <-time.After(time.Duration(try) * 300 * time.Millisecond):
			}
		}
		body, again, err := c.getOnce(ctx, r, address)
		if err == nil {
			return body, nil
		}
		if last = err; !again {
			break
		}
	}
	return nil, last
}

func (c *Client) getOnce(ctx context.Context, r Repo, address string) (body []byte, again bool, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, false, fmt.Errorf("hub: %s: %w", r, err)
	}
	req.Header = c.header()
	client := c.http
	if client == nil {
		client = &http.Client{Timeout: time.Minute}
	}
	res, err := client.Do(req)
	if err != nil {
		return nil, true, fmt.Errorf("hub: %s: %w", r, err)
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		again := res.StatusCode >= 500 || res.StatusCode == http.StatusTooManyRequests
		return nil, again, c.refusal(r, res)
	}
	body, err = io.ReadAll(io.LimitReader(res.Body, largestListing+1))
	if err != nil {
		return nil, true, fmt.Errorf("hub: %s: %w", r, err)
	}
	if len(body) > largestListing {
		return nil, false, fmt.Errorf("hub: %s: the listing is larger than %d MiB", r, largestListing>>20)
	}
	return body, false, nil
}

func (c *Client) header() http.Header {
	h := http.Header{"User-Agent": {"troupe"}}
	if c.Token != "" {
		h.Set("Authorization", "Bearer "+c.Token)
	}
	return h
}

// refusal says what a person can do about a status. The hub answers 401 for
// what does not exist too, so as not to tell.
func (c *Client) refusal(r Repo, res *http.Response) error {
	page := c.Endpoint + "/" + r.page()
	switch res.StatusCode {
	case http.StatusUnauthorized:
		if c.Token == "" {
			return fmt.Errorf("hub: %s: %w: it is private, gated, or does not exist; set HF_TOKEN if it should be yours to read", r, ErrAccess)
		}
		return fmt.Errorf("hub: %s: %w: the token is not valid there, or the repository does not exist", r, ErrAccess)
	case http.StatusForbidden:
		return fmt.Errorf("hub: %s: %w: accept its terms at %s first", r, ErrAccess, page)
	case http.StatusNotFound:
		return fmt.Errorf("hub: %s: %w: %s has no such repository or revision", r, ErrNotFound, c.Endpoint)
	}
	return fmt.Errorf("hub: %s: %s answers %s", r, c.Endpoint, res.Status)
}

func (c *Client) note(format string, args ...any) {
	if c.Note != nil {
		c.Note(format, args...)
	}
}
