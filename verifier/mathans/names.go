package mathans

// functions are the names that are read as functions, in LaTeX and in plain
// text.
var functions = set("sin", "cos", "tan", "cot", "sec", "csc", "arcsin", "arccos", "arctan", "arccot", "arcsec", "arccsc",
	"asin", "acos", "atan", "sinh", "cosh", "tanh", "coth", "arcsinh", "arccosh", "arctanh", "asinh", "acosh", "atanh",
	"log", "ln", "lg", "exp", "sqrt", "cbrt", "abs", "floor", "ceil", "max", "min", "gcd", "lcm", "arg", "det", "sgn",
	"Re", "Im", "factorial", "binom", "deg", "dim", "tg", "ctg", "cosec", "arctg", "sign", "conj", "gamma", "choose")

// aliases bring functions to one name.
var aliases = map[string]string{"asin": "arcsin", "acos": "arccos", "atan": "arctan", "asinh": "arcsinh", "acosh": "arccosh",
	"atanh": "arctanh", "tg": "tan", "ctg": "cot", "cosec": "csc", "arctg": "arctan", "sign": "sgn"}

// inverses name f^{-1} of a trigonometric function.
var inverses = map[string]string{"sin": "arcsin", "cos": "arccos", "tan": "arctan", "cot": "arccot", "sec": "arcsec",
	"csc": "arccsc", "sinh": "arcsinh", "cosh": "arccosh", "tanh": "arctanh"}

// several are the functions that take more than one argument.
var several = set("max", "min", "gcd", "lcm", "binom")

// shortWords are words of two or three letters that are no products of letters.
var shortWords = set("no", "yes", "odd", "on", "is", "of", "the", "for", "all", "any", "not", "if", "red", "men", "day",
	"way", "one", "two", "six", "ten", "both", "dne", "inf", "none", "to", "by", "as", "an", "at", "pm", "am", "per", "old", "new",
	"neither", "east", "west", "true", "false", "her", "his", "you", "can", "are", "has", "does", "was", "but", "only")

// stop reports whether a token ends an expression by itself.
func stops(t token) bool {
	if t.kind == tEnd || t.kind == tClose {
		return true
	}
	if t.kind == tWord {
		return t.text == "and" || t.text == "or"
	}
	if t.kind != tSym {
		return false
	}
	switch t.text {
	case ",", ";", ")", "]", "}", `\}`, "⟩", "⌋", "⌉", "&", "newline", ":", "∪", "∩", "∖":
		return true
	}
	return relation(t)
}

// relation reports whether a token is a relation sign.
func relation(t token) bool {
	if t.kind != tSym {
		return false
	}
	switch t.text {
	case "=", "<", ">", "≤", "≥", "≠", "≈", "≡", "∈":
		return true
	}
	return false
}
