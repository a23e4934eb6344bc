package api

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strconv"
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
	send(w, status, append(b, '\n'), writeAll)
}

// piece is how much of an answer is written at once.
const piece = 64 << 10

// send writes an answer of JSON. However long the request was allowed to take,
// its reader must keep up bodyRate after grace, and never take nothing for as
// long as grace, or it loses its place: the deadline moves with what it took.
func send(w http.ResponseWriter, status int, body []byte, grace time.Duration) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	control := http.NewResponseController(w)
	began := time.Now()
	for sent := 0; sent < len(body); {
		until := time.Now().Add(grace)
		if pace := began.Add(grace + transfer(sent)); pace.Before(until) {
			until = pace
		}
		// An error here means that the client is gone already, as Write will say.
		_ = control.SetWriteDeadline(until)
		if sent == 0 {
			w.WriteHeader(status)
		}
		n, err := w.Write(body[sent:min(sent+piece, len(body))])
		if sent += n; err != nil {
			return
		}
	}
}

// A body must come with at least bodyRate bytes a second after bodyGrace, and
// an answer be taken as fast after writeAll.
const (
	bodyGrace = 5 * time.Second
	bodyRate  = 128 << 10
)

// transfer is how long so many bytes may take.
func transfer(n int) time.Duration { return seconds(float64(n) / bodyRate) }

// paced reads a body that must keep up a rate.
type paced struct {
	body    io.Reader
	control *http.ResponseController
	began   time.Time
	n       int
}

// Read implements io.Reader.
func (p *paced) Read(b []byte) (int, error) {
	if err := p.control.SetReadDeadline(p.began.Add(bodyGrace + transfer(p.n))); err != nil {
		return 0, err
	}
	n, err := p.body.Read(b)
	p.n += n
	return n, err
}

// read decodes a body that holds exactly one JSON value into v; on a fault it
// has answered and reports false. Fields that v does not have are ignored, as
// they are in the records of the command line.
func read(w http.ResponseWriter, r *http.Request, v any) bool {
	status, err := receive(w, r, v)
	if err != nil {
		fail(w, status, "%v", err)
	}
	return err == nil
}

// receive is read without its answer, for routes whose errors look as another
// server's: status is what to answer with. Of a body that could be read and is
// not what v asks for it is 400.
func receive(w http.ResponseWriter, r *http.Request, v any) (status int, err error) {
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
		return http.StatusOK, nil
	case errors.As(err, &large):
		return http.StatusRequestEntityTooLarge, fmt.Errorf("the body is larger than %d bytes", large.Limit)
	case errors.Is(err, os.ErrDeadlineExceeded):
		w.Header().Set("Connection", "close")
		return http.StatusRequestTimeout, errors.New("the body came too slowly")
	}
	return http.StatusBadRequest, fmt.Errorf("read the body: %w", err)
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
