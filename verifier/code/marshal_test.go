package code

import (
	"math/big"
	"strings"
	"testing"
)

func TestMarshal(t *testing.T) {
	for in, want := range map[string]string{
		"null": "N", "true": "T", "false": "F", "1": "i\x01\x00\x00\x00", "-1": "i\xff\xff\xff\xff",
		"4294967296": "l\x03\x00\x00\x00\x00\x00\x00\x00\x04\x00", "-32769000000": "l\xfd\xff\xff\xff@B^B\x1e\x00",
		`"\u00fc"`: "u\x02\x00\x00\x00\xc3\xbc", "[]": "[\x00\x00\x00\x00", `{"a": null}`: "{u\x01\x00\x00\x00aN0",
		"0.5": "g\x00\x00\x00\x00\x00\x00\xe0\x3f",
	} {
		v, err := parseJSON(in)
		if err != nil {
			t.Fatal(err)
		}
		if got := string(appendMarshal(nil, v)); got != want {
			t.Errorf("%s: %q, want %q", in, got, want)
		}
	}
	for _, in := range []string{"", "x", "i\x01", "l\x05\x00\x00\x00", "u\xff\xff\xff\xffa", "[\xff\xff\xff\xff", "{N0", "NN", "R\x00\x00\x00\x00",
		strings.Repeat("[\x01\x00\x00\x00", 3000)} {
		if v, err := parseMarshal([]byte(in), 1<<20); err == nil {
			t.Errorf("%.20q: read as %s", in, v)
		}
	}
	for in, want := range map[string]string{"<\x01\x00\x00\x00N": "<set>", "s\x01\x00\x00\x00N": "<bytes>", "(\x01\x00\x00\x00N": "(None)"} {
		if v, err := parseMarshal([]byte(in), 1<<20); err != nil || v.String() != want {
			t.Errorf("%q: %s %v, want %s", in, v, err, want)
		}
	}
}

// Integers of every length come back as they went.
func TestMarshalIntegers(t *testing.T) {
	c := valueComparison{Comparison{Profile: Strict}}
	n := big.NewInt(1)
	for range 700 {
		n.Mul(n, big.NewInt(3)).Add(n, big.NewInt(1))
		for _, x := range []*big.Int{n, new(big.Int).Neg(n)} {
			v := value{kind: integer, int: x}
			got, err := parseMarshal(appendMarshal(nil, v), 1<<20)
			if err != nil || !c.same(got, v) {
				t.Fatalf("%s became %s, %v", v, got, err)
			}
		}
	}
}

func FuzzParseMarshal(f *testing.F) {
	f.Add([]byte("[\x02\x00\x00\x00i\x01\x00\x00\x00{u\x01\x00\x00\x00aT0"))
	f.Add([]byte("l\xfe\xff\xff\xff\x01\x00\x02\x00"))
	f.Fuzz(func(t *testing.T, b []byte) {
		v, err := parseMarshal(b, 1<<20)
		if err != nil {
			return
		}
		_ = v.String()
		again, err := parseMarshal(appendMarshal(nil, v), 1<<20)
		if err != nil {
			t.Fatalf("%q: %v", b, err)
		}
		_ = again
	})
}
