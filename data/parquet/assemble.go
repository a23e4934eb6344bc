package parquet

import (
	"encoding/base64"
	"fmt"
	"math"
	"strconv"
	"unicode/utf8"

	parquetgo "github.com/parquet-go/parquet-go"
)

// assembler puts records together again from columns, as the Dremel paper has
// it (Melnik and others, 2010), and writes them as JSON.
type assembler struct {
	leaves map[int]*leaf // by column index
	order  []*leaf
	out    []byte
}

// badCell is a value that has no JSON form: the row is left out, not the file.
type badCell struct{ reason, detail string }

func (b badCell) Error() string { return b.reason + ": " + b.detail }

func (a *assembler) open(c *parquetgo.Column, chunks []parquetgo.ColumnChunk) error {
	if !c.Leaf() {
		for _, child := range c.Columns() {
			if err := a.open(child, chunks); err != nil {
				return err
			}
		}
		return nil
	}
	if c.Index() >= len(chunks) {
		return fmt.Errorf("column %s: the row group has no such column", c.Name())
	}
	if a.leaves[c.Index()] != nil {
		return nil // named twice
	}
	l := &leaf{name: c.Name(), pages: chunks[c.Index()].Pages(), buf: make([]parquetgo.Value, 0, 256)}
	a.leaves[c.Index()] = l
	a.order = append(a.order, l)
	return nil
}

func (a *assembler) close() {
	for _, l := range a.order {
		l.pages.Close()
	}
}

// next goes to the next record in every column.
func (a *assembler) next() error {
	for _, l := range a.order {
		if err := l.next(); err != nil {
			return err
		}
	}
	return nil
}

// object is the current record with the given fields.
func (a *assembler) object(fields []*parquetgo.Column) ([]byte, error) {
	a.out = a.out[:0]
	part := map[int][]parquetgo.Value{}
	for i, l := range a.leaves {
		part[i] = l.record
	}
	if err := a.fields(fields, part); err != nil {
		return nil, err
	}
	return a.out, nil
}

func (a *assembler) fields(fields []*parquetgo.Column, part map[int][]parquetgo.Value) error {
	a.out = append(a.out, '{')
	for i, c := range fields {
		if i > 0 {
			a.out = append(a.out, ',')
		}
		a.out = append(appendString(a.out, c.Name()), ':')
		if err := a.value(c, part); err != nil {
			return err
		}
	}
	a.out = append(a.out, '}')
	return nil
}

// value writes a field: null, a list, or what content writes.
func (a *assembler) value(c *parquetgo.Column, part map[int][]parquetgo.Value) error {
	first := firstLeaf(c)
	values := part[first.Index()]
	if len(values) == 0 {
		return fmt.Errorf("column %s: levels that don't fit", c.Name())
	}
	switch {
	case c.Optional() && values[0].DefinitionLevel() < c.MaxDefinitionLevel():
		a.out = append(a.out, "null"...)
		return nil
	case c.Repeated():
		return a.list(c, c, part)
	}
	return a.content(c, part)
}

// content writes a field that is there. A group around one repeated field is a
// list, in either of the two ways in which files write them.
func (a *assembler) content(c *parquetgo.Column, part map[int][]parquetgo.Value) error {
	if c.Leaf() {
		return a.scalar(c, part[c.Index()][0])
	}
	children := c.Columns()
	if len(children) == 1 && children[0].Repeated() {
		return a.list(children[0], element(children[0]), part)
	}
	return a.fields(children, part)
}

// element is what a list's items are: the repeated field itself, or the one
// field inside it.
func element(repeated *parquetgo.Column) *parquetgo.Column {
	if repeated.Leaf() || len(repeated.Columns()) != 1 || repeated.Name() == "array" {
		return repeated
	}
	return repeated.Columns()[0]
}

// list writes the items of a repeated field.
func (a *assembler) list(repeated, item *parquetgo.Column, part map[int][]parquetgo.Value) error {
	a.out = append(a.out, '[')
	items, err := split(repeated, part)
	if err != nil {
		return err
	}
	for i, p := range items {
		if i > 0 {
			a.out = append(a.out, ',')
		}
		if item == repeated {
			err = a.content(item, p)
		} else {
			err = a.value(item, p)
		}
		if err != nil {
			return err
		}
	}
	a.out = append(a.out, ']')
	return nil
}

// split cuts the values of all leaves under a repeated field into its items.
func split(repeated *parquetgo.Column, part map[int][]parquetgo.Value) ([]map[int][]parquetgo.Value, error) {
	first := firstLeaf(repeated)
	if part[first.Index()][0].DefinitionLevel() < repeated.MaxDefinitionLevel() {
		return nil, nil // empty
	}
	var items []map[int][]parquetgo.Value
	var err error
	eachLeaf(repeated, func(l *parquetgo.Column) {
		values, n, start := part[l.Index()], 0, 0
		for i := 1; i <= len(values); i++ {
			if i < len(values) && values[i].RepetitionLevel() > repeated.MaxRepetitionLevel() {
				continue
			}
			if l == first {
				items = append(items, map[int][]parquetgo.Value{})
			}
			if n >= len(items) {
				err = fmt.Errorf("column %s: lists of different lengths in one struct", repeated.Name())
				return
			}
			items[n][l.Index()] = values[start:i]
			n, start = n+1, i
		}
		if n != len(items) {
			err = fmt.Errorf("column %s: lists of different lengths in one struct", repeated.Name())
		}
	})
	return items, err
}

func firstLeaf(c *parquetgo.Column) *parquetgo.Column {
	for !c.Leaf() && len(c.Columns()) > 0 {
		c = c.Columns()[0]
	}
	return c
}

func eachLeaf(c *parquetgo.Column, f func(*parquetgo.Column)) {
	if c.Leaf() {
		f(c)
		return
	}
	for _, child := range c.Columns() {
		eachLeaf(child, f)
	}
}

// scalar writes one value.
func (a *assembler) scalar(c *parquetgo.Column, v parquetgo.Value) error {
	if v.IsNull() {
		a.out = append(a.out, "null"...)
		return nil
	}
	switch v.Kind() {
	case parquetgo.Boolean:
		a.out = strconv.AppendBool(a.out, v.Boolean())
	case parquetgo.Int32:
		a.out = strconv.AppendInt(a.out, int64(v.Int32()), 10)
	case parquetgo.Int64:
		a.out = strconv.AppendInt(a.out, v.Int64(), 10)
	case parquetgo.Float:
		a.out = appendFloat(a.out, float64(v.Float()), 32)
	case parquetgo.Double:
		a.out = appendFloat(a.out, v.Double(), 64)
	case parquetgo.ByteArray, parquetgo.FixedLenByteArray:
		b := v.ByteArray()
		if len(a.out)+len(b) > largestRow {
			return badCell{"too long", fmt.Sprintf("more than %d MiB", largestRow>>20)}
		}
		if isText(c) && !utf8.Valid(b) {
			return badCell{"not UTF-8", "column " + c.Name()}
		}
		if utf8.Valid(b) {
			a.out = appendString(a.out, string(b))
		} else {
			a.out = appendString(a.out, base64.StdEncoding.EncodeToString(b))
		}
	default:
		return badCell{"value without a JSON form", "column " + c.Name() + " of type " + v.Kind().String()}
	}
	if len(a.out) > largestRow {
		return badCell{"too long", fmt.Sprintf("more than %d MiB", largestRow>>20)}
	}
	return nil
}

func isText(c *parquetgo.Column) bool {
	t := c.Type().LogicalType()
	return t != nil && t.String() == "STRING"
}

func appendFloat(b []byte, v float64, bits int) []byte {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return append(b, "null"...)
	}
	return strconv.AppendFloat(b, v, 'g', -1, bits)
}

// appendString writes a JSON string; s is valid UTF-8.
func appendString(b []byte, s string) []byte {
	const hex = "0123456789abcdef"
	b = append(b, '"')
	start := 0
	for i := range len(s) {
		c := s[i]
		if c >= ' ' && c != '"' && c != '\\' {
			continue
		}
		b = append(b, s[start:i]...)
		start = i + 1
		switch c {
		case '"', '\\':
			b = append(b, '\\', c)
		case '\n':
			b = append(b, '\\', 'n')
		case '\r':
			b = append(b, '\\', 'r')
		case '\t':
			b = append(b, '\\', 't')
		default:
			b = append(b, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
		}
	}
	return append(append(b, s[start:]...), '"')
}
