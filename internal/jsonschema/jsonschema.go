// Package jsonschema checks values against JSON Schemas: the part of the
// language that our OpenAPI document uses, and an error for any other keyword,
// so that no rule of the document is passed over in silence. Only tests use it,
// those that hold the server's answers against its document. It is this small
// because it knows eight keywords; the libraries that know all of them take
// an unknown one for an annotation, as the standard asks.
package jsonschema

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
)

// Document is a JSON document that holds schemas.
type Document struct{ root any }

// Parse reads a document.
func Parse(text []byte) (*Document, error) {
	d := &Document{}
	if err := json.Unmarshal(text, &d.root); err != nil {
		return nil, fmt.Errorf("read schemas: %w", err)
	}
	return d, nil
}

// At is the value at a path of keys; nil if there is none.
func (d *Document) At(keys ...string) any {
	v := d.root
	for _, k := range keys {
		m, ok := v.(map[string]any)
		if !ok {
			return nil
		}
		v = m[k]
	}
	return v
}

// Check tells in what a JSON text is not as a schema of the document wants it.
func (d *Document) Check(schema any, text []byte) error {
	var v any
	if err := json.Unmarshal(text, &v); err != nil {
		return err
	}
	return d.check(schema, v, "$")
}

func (d *Document) check(schema, v any, at string) error {
	s, ok := schema.(map[string]any)
	if !ok {
		return fmt.Errorf("%s: its schema is %T, no object", at, schema)
	}
	var errs []error
	for keyword, rule := range s {
		if err := d.keyword(s, keyword, rule, v, at); err != nil {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

func (d *Document) keyword(schema map[string]any, keyword string, rule, v any, at string) error {
	switch keyword {
	case "description", "additionalProperties": // the latter is read with properties
		return nil
	case "properties":
		return d.properties(schema, v, at)
	case "items":
		return d.items(rule, v, at)
	case "$ref":
		name, ok := strings.CutPrefix(fmt.Sprint(rule), "#/")
		if target := d.At(strings.Split(name, "/")...); ok && target != nil {
			return d.check(target, v, at)
		}
		return fmt.Errorf("%s: no schema %v", at, rule)
	case "type":
		types, isList := rule.([]any)
		if !isList {
			types = []any{rule}
		}
		if !slices.ContainsFunc(types, func(t any) bool { return hasType(v, t) }) {
			return fmt.Errorf("%s: %v is no %v", at, v, rule)
		}
		return nil
	case "enum":
		if values, _ := rule.([]any); !slices.ContainsFunc(values, func(x any) bool { return reflect.DeepEqual(x, v) }) {
			return fmt.Errorf("%s: %v is none of %v", at, v, rule)
		}
		return nil
	case "const":
		if !reflect.DeepEqual(rule, v) {
			return fmt.Errorf("%s: %v is not %v", at, v, rule)
		}
		return nil
	case "required":
		return required(rule, v, at)
	case "anyOf":
		return d.anyOf(rule, v, at)
	}
	return fmt.Errorf("%s: keyword %s is not known here", at, keyword)
}

func hasType(v, name any) bool {
	switch v := v.(type) {
	case nil:
		return name == "null"
	case bool:
		return name == "boolean"
	case string:
		return name == "string"
	case float64:
		return name == "number" || name == "integer" && v == math.Trunc(v)
	case []any:
		return name == "array"
	}
	return name == "object"
}

func (d *Document) properties(schema map[string]any, v any, at string) error {
	m, ok := v.(map[string]any)
	if !ok {
		return nil
	}
	known, _ := schema["properties"].(map[string]any)
	var errs []error
	for key, x := range m {
		if s, ok := known[key]; ok {
			errs = append(errs, d.check(s, x, at+"."+key))
		} else if schema["additionalProperties"] == false {
			errs = append(errs, fmt.Errorf("%s: field %s is not in the schema", at, key))
		}
	}
	return errors.Join(errs...)
}

func required(rule, v any, at string) error {
	m, ok := v.(map[string]any)
	if !ok {
		return nil
	}
	names, _ := rule.([]any)
	for _, n := range names {
		if _, ok := m[fmt.Sprint(n)]; !ok {
			return fmt.Errorf("%s: field %v is missing", at, n)
		}
	}
	return nil
}

func (d *Document) items(rule, v any, at string) error {
	list, _ := v.([]any)
	for i, x := range list {
		if err := d.check(rule, x, fmt.Sprintf("%s[%d]", at, i)); err != nil {
			return err
		}
	}
	return nil
}

func (d *Document) anyOf(rule, v any, at string) error {
	choices, _ := rule.([]any)
	var errs []error
	for _, c := range choices {
		err := d.check(c, v, at)
		if err == nil {
			return nil
		}
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}
