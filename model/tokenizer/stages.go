package tokenizer

import (
	"encoding/json"
	"fmt"
)

// stage is a normaliser, pre-tokenizer or decoder of the file.
type stage struct {
	Type           string          `json:"type"`
	Normalizers    []stage         `json:"normalizers"`
	PreTokenizers  []stage         `json:"pretokenizers"`
	Pattern        json.RawMessage `json:"pattern"`
	Behavior       string          `json:"behavior"`
	Invert         bool            `json:"invert"`
	AddPrefixSpace bool            `json:"add_prefix_space"`
	UseRegex       *bool           `json:"use_regex"`
	Individual     bool            `json:"individual_digits"`
}

const (
	exprHead = `(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|`
	exprTail = `| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+`
)

// scanners is the split expressions we know.
var scanners = map[string]scanner{
	exprHead + `\p{N}` + exprTail:                                                wordQwen,
	exprHead + `\p{N}{1,3}` + exprTail:                                           wordLlama,
	`'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+`: wordGPT2,
}

// normalizerOf reports whether the file asks for NFC.
func normalizerOf(s *stage) (nfc bool, err error) {
	switch {
	case s == nil:
		return false, nil
	case s.Type == "NFC":
		return true, nil
	case s.Type == "Sequence":
		for i := range s.Normalizers {
			one, err := normalizerOf(&s.Normalizers[i])
			if err != nil {
				return false, err
			}
			nfc = nfc || one
		}
		return nfc, nil
	}
	return false, fmt.Errorf("normalizer %q is not supported, only NFC", s.Type)
}

// splittersOf turns the pre-tokenizer into scanners, and makes sure that the
// byte-level alphabet is part of it.
func splittersOf(s *stage) ([]splitter, error) {
	if s == nil {
		return nil, fmt.Errorf("no pre_tokenizer: not a byte-level file")
	}
	stages := []stage{*s}
	if s.Type == "Sequence" {
		stages = s.PreTokenizers
	}
	var out []splitter
	byteLevel := false
	for _, st := range stages {
		if byteLevel {
			return nil, fmt.Errorf("pre_tokenizer: %q after ByteLevel is not supported", st.Type)
		}
		switch st.Type {
		case "Split":
			scan, err := st.split()
			if err != nil {
				return nil, err
			}
			out = append(out, splitter{scan: scan})
		case "Digits":
			if !st.Individual {
				return nil, fmt.Errorf("pre_tokenizer: Digits without individual_digits is not supported")
			}
			out = append(out, splitter{scan: wordDigits})
		case "ByteLevel":
			byteLevel = true
			var sp splitter
			if st.UseRegex == nil || *st.UseRegex {
				sp.scan = wordGPT2
			}
			sp.prefixSpace = st.AddPrefixSpace
			if sp.scan != nil || sp.prefixSpace {
				out = append(out, sp)
			}
		default:
			return nil, fmt.Errorf("pre_tokenizer %q is not supported", st.Type)
		}
	}
	if !byteLevel {
		return nil, fmt.Errorf("pre_tokenizer: no ByteLevel stage: not a byte-level file")
	}
	return out, nil
}

// split is the scanner of a Split stage.
func (s stage) split() (scanner, error) {
	var p struct {
		Regex  string
		String *string
	}
	if err := json.Unmarshal(s.Pattern, &p); err != nil {
		return nil, fmt.Errorf("pre_tokenizer: Split: pattern: %w", describe(err))
	}
	if s.Behavior != "Isolated" && s.Behavior != "Removed" || s.Behavior == "Removed" && !s.Invert || s.Behavior == "Isolated" && s.Invert {
		return nil, fmt.Errorf("pre_tokenizer: Split: behavior %q with invert %v is not supported", s.Behavior, s.Invert)
	}
	scan := scanners[p.Regex]
	if scan == nil {
		return nil, fmt.Errorf("pre_tokenizer: Split: expression %q is not known", p.Regex)
	}
	return scan, nil
}
