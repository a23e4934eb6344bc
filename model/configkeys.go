package model

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"
)

// keys reads values of a JSON object by name and keeps the first fault.
type keys struct {
	values map[string]json.RawMessage
	prefix string
	err    error
}

func newKeys(text []byte) (*keys, error) {
	k := &keys{}
	if err := json.Unmarshal(text, &k.values); err != nil {
		var syn *json.SyntaxError
		if errors.As(err, &syn) {
			// What stands before the fault holds the key the reader looks for.
			at := int(min(max(syn.Offset, 0), int64(len(text))))
			near := bytes.ToValidUTF8(text[max(at-40, 0):at], nil)
			return nil, fmt.Errorf("not valid JSON at offset %d, after %q: %w", syn.Offset, near, err)
		}
		return nil, fmt.Errorf("not a JSON object: %w", err)
	}
	if k.values == nil {
		return nil, errors.New("not a JSON object")
	}
	return k, nil
}

func (k *keys) fail(format string, args ...any) {
	if k.err == nil {
		k.err = fmt.Errorf(k.prefix+format, args...)
	}
}

// has tells whether the key is there and not null.
func (k *keys) has(name string) bool {
	v, ok := k.values[name]
	return ok && string(v) != "null"
}

// into decodes the key if it is there, and tells whether it is.
func (k *keys) into(name string, dst any) bool {
	if !k.has(name) {
		return false
	}
	if err := json.Unmarshal(k.values[name], dst); err != nil {
		k.fail("%s: %s is not what belongs there (%T)", name, shorten(k.values[name]), dst)
		return false
	}
	return true
}

func shorten(b []byte) string {
	s := string(b[:min(len(b), 40)])
	return strings.Join(strings.Fields(s), " ")
}

func (k *keys) text(name, missing string) string {
	v := missing
	k.into(name, &v)
	return v
}

func (k *keys) flag(name string, missing bool) bool {
	v := missing
	k.into(name, &v)
	return v
}

// size reads an integer in 1..top; missing 0 means that it must be there.
func (k *keys) size(name string, top, missing int) int {
	v := int64(missing)
	if !k.has(name) {
		if missing == 0 {
			k.fail("%s is missing", name)
			return 1
		}
		return missing
	}
	if k.into(name, &v) && (v < 1 || v > int64(top)) {
		k.fail("%s is %d, not in 1..%d", name, v, top)
	}
	if k.err != nil {
		return 1
	}
	return int(v)
}

// positive reads a positive finite number; missing 0 means that it must be
// there.
func (k *keys) positive(name string, missing float64) float64 {
	v := missing
	if !k.has(name) {
		if missing == 0 {
			k.fail("%s is missing", name)
		}
		return missing
	}
	if k.into(name, &v) && (!(v > 0) || math.IsInf(v, 0)) {
		k.fail("%s %v is not a positive finite number", name, v)
	}
	return v
}

// ids reads a token id or a list of them.
func (k *keys) ids(name string) []int32 {
	if !k.has(name) {
		return nil
	}
	var one int32
	if json.Unmarshal(k.values[name], &one) == nil {
		return []int32{one}
	}
	var many []int32
	k.into(name, &many)
	return many
}

// object opens a nested object, nil if it is not there.
func (k *keys) object(name string) *keys {
	if !k.has(name) {
		return nil
	}
	o := &keys{prefix: k.prefix + name + ": "}
	if !k.into(name, &o.values) {
		return nil
	}
	return o
}
