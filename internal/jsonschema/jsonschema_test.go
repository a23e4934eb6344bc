package jsonschema

import (
	"strings"
	"testing"
)

func TestCheck(t *testing.T) {
	d, err := Parse([]byte(`{"schemas": {
		"Name": {"type": "string", "enum": ["a", "b"]},
		"Thing": {"type": "object", "properties": {"name": {"$ref": "#/schemas/Name"}, "n": {"type": ["integer", "null"]},
			"list": {"type": "array", "items": {"type": "number"}}, "either": {"anyOf": [{"const": 1}, {"type": "boolean"}]}},
			"required": ["name"], "additionalProperties": false},
		"Odd": {"type": "string", "pattern": "x"}, "Lost": {"$ref": "#/schemas/None"}}}`))
	if err != nil {
		t.Fatal(err)
	}
	cases := []struct{ schema, text, want string }{
		{"Thing", `{"name": "a", "n": 3, "list": [1, 2.5], "either": 1}`, ""},
		{"Thing", `{"name": "b", "n": null, "list": [], "either": true}`, ""},
		{"Thing", `{"n": 1}`, "$: field name is missing"},
		{"Thing", `{"name": "c"}`, "$.name: c is none of"},
		{"Thing", `{"name": 1}`, "$.name: 1 is no string"},
		{"Thing", `{"name": "a", "n": 1.5}`, "$.n: 1.5 is no"},
		{"Thing", `{"name": "a", "list": [1, "2"]}`, "$.list[1]: 2 is no number"},
		{"Thing", `{"name": "a", "either": 2}`, "$.either: 2 is not 1"},
		{"Thing", `{"name": "a", "more": 2}`, "field more is not in the schema"},
		{"Thing", `[]`, "is no object"},
		{"Odd", `"x"`, "keyword pattern is not known"},
		{"Lost", `1`, "no schema #/schemas/None"},
		{"Thing", `{`, "unexpected end"},
		{"Nothing", `1`, "no object"},
	}
	for _, c := range cases {
		err := d.Check(d.At("schemas", c.schema), []byte(c.text))
		switch {
		case c.want == "" && err != nil:
			t.Errorf("%s %s: %v", c.schema, c.text, err)
		case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)):
			t.Errorf("%s %s: %v, want %q", c.schema, c.text, err, c.want)
		}
	}
	if _, err := Parse([]byte("{")); err == nil {
		t.Error("half a document was read")
	}
}
