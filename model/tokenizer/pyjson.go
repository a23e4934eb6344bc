package tokenizer

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"unicode/utf16"
)

// pythonJSON is JSON as Python's json.dumps spells it: keys in the order
// given, ", " and ": " between, floats in their shortest form, and with ascii
// every other character escaped.
func pythonJSON(raw json.RawMessage, ascii bool) (string, error) {
	if len(bytes.TrimSpace(raw)) == 0 {
		return "null", nil
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var b strings.Builder
	if err := pythonValue(&b, d, ascii); err != nil {
		return "", err
	}
	if _, err := d.Token(); err != io.EOF {
		return "", errors.New("more than one JSON value")
	}
	return b.String(), nil
}

func pythonValue(b *strings.Builder, d *json.Decoder, ascii bool) error {
	tok, err := d.Token()
	if err != nil {
		return fmt.Errorf("JSON: %w", err)
	}
	switch v := tok.(type) {
	case json.Delim:
		return pythonNested(b, d, v, ascii)
	case string:
		b.WriteString(pythonString(v, ascii))
	case json.Number:
		b.WriteString(pythonNumber(string(v)))
	case bool:
		b.WriteString(strconv.FormatBool(v))
	default:
		b.WriteString("null")
	}
	return nil
}

// pythonNested writes an object or a list, of which open was read.
func pythonNested(b *strings.Builder, d *json.Decoder, open json.Delim, ascii bool) error {
	b.WriteString(open.String())
	for first := true; d.More(); first = false {
		if !first {
			b.WriteString(", ")
		}
		if open == '{' {
			key, err := d.Token()
			if err != nil {
				return fmt.Errorf("JSON: %w", err)
			}
			b.WriteString(pythonString(fmt.Sprint(key), ascii))
			b.WriteString(": ")
		}
		if err := pythonValue(b, d, ascii); err != nil {
			return err
		}
	}
	end, err := d.Token()
	if err != nil {
		return fmt.Errorf("JSON: %w", err)
	}
	fmt.Fprint(b, end)
	return nil
}

func pythonString(s string, ascii bool) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\r':
			b.WriteString(`\r`)
		case r == '\t':
			b.WriteString(`\t`)
		case r == '\b':
			b.WriteString(`\b`)
		case r == '\f':
			b.WriteString(`\f`)
		case r < 0x20 || ascii && r >= 0x7f && r <= 0xffff && r != 0x7f:
			fmt.Fprintf(&b, `\u%04x`, r)
		case ascii && r > 0xffff:
			hi, lo := utf16.EncodeRune(r)
			fmt.Fprintf(&b, `\u%04x\u%04x`, hi, lo)
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte('"')
	return b.String()
}

// pythonNumber is an integer as it is and a float as repr writes it.
func pythonNumber(s string) string {
	if !strings.ContainsAny(s, ".eE") {
		return s
	}
	f, err := strconv.ParseFloat(s, 64)
	if err != nil {
		return s
	}
	if f == 0 || math.Abs(f) >= 1e-4 && math.Abs(f) < 1e16 {
		out := strconv.FormatFloat(f, 'f', -1, 64)
		if !strings.Contains(out, ".") {
			out += ".0"
		}
		return out
	}
	return strconv.FormatFloat(f, 'e', -1, 64)
}
