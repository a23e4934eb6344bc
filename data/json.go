package data

import (
	"encoding/json"
	"errors"
	"fmt"
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
