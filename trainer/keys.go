package trainer

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml"

	"troupe/internal/nearest"
)

// field finds the struct field of a key. For a map such as budget, the key is
// the map's name, a dot and the role.
func (c *Config) field(key string) (v reflect.Value, sub string, ok bool) {
	s := reflect.ValueOf(c).Elem()
	for i := range s.NumField() {
		name := s.Type().Field(i).Tag.Get("key")
		if name == key {
			return s.Field(i), "", true
		}
		if rest, found := strings.CutPrefix(key, name+"."); found && s.Field(i).Kind() == reflect.Map {
			return s.Field(i), rest, true
		}
	}
	return reflect.Value{}, "", false
}

// Keys lists all keys in their order in the config.
func Keys() []string {
	t := reflect.TypeFor[Config]()
	keys := make([]string, t.NumField())
	for i := range keys {
		keys[i] = t.Field(i).Tag.Get("key")
	}
	return keys
}

// UnknownKeyError names a key that is not ours and the nearest that is.
type UnknownKeyError struct{ Key, Nearest string }

func (e *UnknownKeyError) Error() string {
	if e.Nearest == "" {
		return fmt.Sprintf("unknown key %q", e.Key)
	}
	return fmt.Sprintf("unknown key %q, did you mean %q?", e.Key, e.Nearest)
}

// Set gives a key a value in text form. verl's names are understood for the
// settings that exist here too.
func (c *Config) Set(key, value string) error {
	if own, ok := verlKeys[key]; ok {
		return c.setVerl(own, value)
	}
	f, sub, ok := c.field(key)
	if !ok {
		return &UnknownKeyError{key, nearestKey(key)}
	}
	if err := setValue(f, sub, strings.TrimSpace(value)); err != nil {
		return fmt.Errorf("%s: %w", key, err)
	}
	return nil
}

func setValue(f reflect.Value, sub, value string) error {
	switch f.Kind() {
	case reflect.String:
		f.SetString(value)
	case reflect.Bool:
		b, err := strconv.ParseBool(value)
		if err != nil {
			return fmt.Errorf("%q is neither true nor false", value)
		}
		f.SetBool(b)
	case reflect.Int:
		n, err := strconv.Atoi(value)
		if err != nil {
			return fmt.Errorf("%q is not a whole number", value)
		}
		f.SetInt(int64(n))
	case reflect.Uint64:
		n, err := strconv.ParseUint(value, 0, 64)
		if err != nil {
			return fmt.Errorf("%q is not a whole number from 0", value)
		}
		f.SetUint(n)
	case reflect.Float64:
		x, err := strconv.ParseFloat(value, 64)
		if err != nil {
			return fmt.Errorf("%q is not a number", value)
		}
		f.SetFloat(x)
	case reflect.Map:
		return setRole(f, sub, value)
	}
	return nil
}

// setRole sets one role's value of a map, or several written role=value.
func setRole(f reflect.Value, role, value string) error {
	if role == "" {
		for pair := range strings.SplitSeq(value, ",") {
			r, v, ok := strings.Cut(pair, "=")
			if !ok {
				return fmt.Errorf("%q is not a list of role=value", value)
			}
			if err := setRole(f, strings.TrimSpace(r), strings.TrimSpace(v)); err != nil {
				return err
			}
		}
		return nil
	}
	v := reflect.New(f.Type().Elem()).Elem()
	if err := setValue(v, "", value); err != nil {
		return err
	}
	if f.IsNil() {
		f.Set(reflect.MakeMap(f.Type()))
	}
	f.SetMapIndex(reflect.ValueOf(role), v)
	return nil
}

// Bounds on a config file, far above any that makes sense: the YAML reader
// takes time that grows with the square of the nesting.
const (
	maxConfig  = 1 << 20
	maxNesting = 8
	maxOpened  = 1000 // brackets and braces
)

// Merge reads a YAML config: keys of ours, written flat ("lr.warmup: 5") or
// nested, each once. Anything else in it is an error.
func (c *Config) Merge(text []byte) error {
	if len(text) > maxConfig || bytes.Count(text, []byte("{"))+bytes.Count(text, []byte("[")) > maxOpened {
		return fmt.Errorf("too large for a config: %d bytes", len(text))
	}
	var top yaml.MapSlice
	if err := yaml.UnmarshalWithOptions(text, &top, yaml.UseOrderedMap(), yaml.Strict()); err != nil {
		return fmt.Errorf("not YAML: %s", strings.ReplaceAll(yaml.FormatError(err, false, false), "\n", " "))
	}
	return c.merge("", top, map[string]bool{})
}

func (c *Config) merge(prefix string, node yaml.MapSlice, seen map[string]bool) error {
	for _, item := range node {
		key := prefix + fmt.Sprint(item.Key)
		if strings.Count(key, ".") > maxNesting {
			return fmt.Errorf("%.60s: nested too deeply", key)
		}
		if seen[key] {
			return fmt.Errorf("%s: given twice", key)
		}
		switch v := item.Value.(type) {
		case yaml.MapSlice:
			if err := c.merge(key+".", v, seen); err != nil {
				return err
			}
		case nil, []any:
			return fmt.Errorf("%s: a single value is needed", key)
		default:
			seen[key] = true
			if err := c.Set(key, fmt.Sprint(v)); err != nil {
				return err
			}
		}
	}
	return nil
}

// String is the whole config as YAML that Merge reads, one key a line.
func (c *Config) String() string { return c.lines(func(reflect.StructField) bool { return true }) }

// identity is the part of the config that decides what is computed.
func (c *Config) identity() string {
	return c.lines(func(f reflect.StructField) bool { return f.Tag.Get("hash") != "-" })
}

// Resolved is the config as it is stored with a run: without paths of this
// machine.
func (c *Config) Resolved() string { return c.identity() }

// ID is the run's name: what is trained how, and a hash of the config without
// paths and log options.
func (c *Config) ID() string {
	h := sha256.Sum256([]byte(c.identity()))
	name := strings.Map(func(r rune) rune {
		if strings.ContainsRune("=,!", r) {
			return '_'
		}
		return r
	}, fmt.Sprintf("%s-%s-%s", c.Workflow, c.Policy, c.Task))
	return name + "-" + hex.EncodeToString(h[:6])
}

func (c *Config) lines(keep func(reflect.StructField) bool) string {
	var b strings.Builder
	s := reflect.ValueOf(c).Elem()
	for i := range s.NumField() {
		f, key := s.Field(i), s.Type().Field(i).Tag.Get("key")
		switch {
		case !keep(s.Type().Field(i)) || f.IsZero() && f.Kind() == reflect.Map:
		case f.Kind() == reflect.Map:
			roles := f.MapKeys()
			slices.SortFunc(roles, func(a, b reflect.Value) int { return strings.Compare(a.String(), b.String()) })
			for _, r := range roles {
				fmt.Fprintf(&b, "%s.%s: %v\n", key, r, f.MapIndex(r))
			}
		case f.Kind() == reflect.String:
			fmt.Fprintf(&b, "%s: %q\n", key, f.String())
		default:
			fmt.Fprintf(&b, "%s: %v\n", key, f)
		}
	}
	return b.String()
}

// nearestKey is the key that a mistyped one most likely means.
func nearestKey(word string) string {
	known := slices.AppendSeq(Keys(), maps.Keys(verlKeys))
	slices.Sort(known)
	return nearest.Word(word, known)
}
