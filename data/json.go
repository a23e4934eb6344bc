package data

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"
)

// Unmarshal is json.Unmarshal whose errors speak of the JSON and not of the Go
// types it was meant for: "limits.time_s: a string where a number belongs".
// The decoder's own error is wrapped.
func Unmarshal(text []byte, v any) error {
	err := json.Unmarshal(text, v)
	var wrong *json.UnmarshalTypeError
	if errors.As(err, &wrong) {
		return &misfit{wrong}
	}
	return err
}

// misfit is a JSON value of another kind than the one that belongs there.
type misfit struct{ *json.UnmarshalTypeError }

func (m *misfit) Unwrap() error { return m.UnmarshalTypeError }

func (m *misfit) Error() string {
	is, literal, isNumber := strings.Cut(m.Value, " ") // "number 1e400": one that does not fit
	if isNumber {
		is = "the number " + literal
	} else {
		is = article(is)
	}
	text := fmt.Sprintf("%s where %s belongs", is, article(kindOf(m.Type)))
	if m.Field != "" {
		text = m.Field + ": " + text
	}
	return text
}

// kindOf names the JSON value that a Go type takes.
func kindOf(t reflect.Type) string {
	switch t.Kind() {
	case reflect.String:
		return "string"
	case reflect.Bool:
		return "bool"
	case reflect.Slice, reflect.Array:
		return "array"
	case reflect.Struct, reflect.Map:
		return "object"
	case reflect.Float32, reflect.Float64:
		return "number"
	}
	return "whole number"
}

func article(noun string) string {
	if strings.ContainsRune("aeiou", rune(noun[0])) {
		return "an " + noun
	}
	return "a " + noun
}

// eachItem calls f for the items of a JSON list, numbered from 1, one at a time:
// the short items of a long list would take many times the room of its text.
// An error of the JSON itself is a *listError, one of f is handed on.
func eachItem(list []byte, f func(n int, item json.RawMessage) error) error {
	d := json.NewDecoder(bytes.NewReader(list))
	if t, err := d.Token(); err != nil || t != json.Delim('[') {
		return &listError{cmp.Or(err, errors.New("not a list"))}
	}
	for n := 1; d.More(); n++ {
		var item json.RawMessage
		if err := d.Decode(&item); err != nil {
			return &listError{err}
		}
		if err := f(n, item); err != nil {
			return err
		}
	}
	if _, err := d.Token(); err != nil {
		return &listError{err}
	}
	if _, err := d.Token(); err != io.EOF {
		return &listError{errors.New("something follows the list")}
	}
	return nil
}

// listError is what is wrong with a JSON list.
type listError struct{ fault error }

func (e *listError) Error() string {
	if errors.Is(e.fault, io.ErrUnexpectedEOF) || errors.Is(e.fault, io.EOF) {
		return "unexpected end of JSON input"
	}
	return e.fault.Error()
}

func (e *listError) Unwrap() error { return e.fault }

// items are the inputs or the outputs of a record, one for each test.
func items(list []byte) ([]json.RawMessage, error) {
	var all []json.RawMessage
	err := eachItem(list, func(n int, item json.RawMessage) error {
		if n > mostTests {
			return tooMany()
		}
		all = append(all, item)
		return nil
	})
	var bad *listError
	if errors.As(err, &bad) {
		err = fmt.Errorf("tests: inputs and outputs must both be lists: %w", err)
	}
	return all, err
}
