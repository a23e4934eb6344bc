package api

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"time"
)

// problem is the body of every error.
type problem struct {
	Error string `json:"error"`
}

// fail answers with an error.
func fail(w http.ResponseWriter, status int, format string, args ...any) {
	reply(w, status, problem{fmt.Sprintf(format, args...)})
}

// reply answers with JSON. HTML-special characters are escaped, so a program's
// output can't become markup in a careless viewer.
func reply(w http.ResponseWriter, status int, body any) {
	b, err := json.Marshal(body)
	if err != nil {
		status, b = http.StatusInternalServerError, []byte(`{"error":"the answer can't be written as JSON"}`)
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	w.Write(append(b, '\n'))
}

// A body must come with at least bodyRate bytes a second after bodyGrace.
const (
	bodyGrace = 5 * time.Second
	bodyRate  = 128 << 10
)

// paced reads a body that must keep up a rate.
type paced struct {
	body    io.Reader
	control *http.ResponseController
	began   time.Time
	n       int64
}

// Read implements io.Reader.
func (p *paced) Read(b []byte) (int, error) {
	allowed := bodyGrace + time.Duration(float64(p.n)/bodyRate*float64(time.Second))
	if err := p.control.SetReadDeadline(p.began.Add(allowed)); err != nil {
		return 0, err
	}
	n, err := p.body.Read(b)
	p.n += int64(n)
	return n, err
}

// read decodes a body that holds exactly one JSON value into v; on a fault it
// has answered and reports false. Fields that v does not have are ignored, as
// they are in the records of the command line.
func read(w http.ResponseWriter, r *http.Request, v any) bool {
	control := http.NewResponseController(w)
	text, err := io.ReadAll(&paced{body: r.Body, control: control, began: time.Now()})
	if err == nil {
		setBusy(r, true)
		// From here on the client may only leave.
		err = control.SetReadDeadline(time.Time{})
	}
	if err == nil {
		err = decode(text, v)
	}
	var large *http.MaxBytesError
	switch {
	case err == nil:
		return true
	case errors.As(err, &large):
		fail(w, http.StatusRequestEntityTooLarge, "the body is larger than %d bytes", large.Limit)
	case errors.Is(err, os.ErrDeadlineExceeded):
		w.Header().Set("Connection", "close")
		fail(w, http.StatusRequestTimeout, "the body came too slowly")
	default:
		fail(w, http.StatusBadRequest, "read the body: %v", err)
	}
	return false
}

// decode is json.Unmarshal, which also refuses more than one value, for a body
// that may be kept as it is.
func decode(text []byte, v any) error {
	if raw, ok := v.(*json.RawMessage); ok {
		if !json.Valid(text) {
			return json.Unmarshal(text, &struct{}{})
		}
		*raw = bytes.TrimSpace(text)
		return nil
	}
	return json.Unmarshal(text, v)
}
