package mathans

import "math/big"

type tokenKind uint8

const (
	tEnd   tokenKind = iota
	tNum             // a number; rat is its value
	tWord            // a run of letters
	tCmd             // a LaTeX command, without its backslash
	tSym             // an operator, bracket or relation, in one spelling
	tText            // words in a text command
	tBegin           // \begin{text}
	tClose           // \end{text}
)

type token struct {
	kind  tokenKind
	text  string
	rat   *big.Rat
	space bool // white space stands before it
	mark  bool // for numbers: has a decimal point; for text: from a text command
}

// Limits of the reader. An answer beyond them is compared as text only.
const (
	maxText   = 1 << 13 // bytes of one answer
	maxTokens = 1 << 11
	maxDepth  = 64
	maxDigits = 4096 // of one number
)

// symbols gives signs and commands their one spelling.
var symbols = map[string]string{
	"le": "≤", "leq": "≤", "leqslant": "≤", "leqq": "≤", "ge": "≥", "geq": "≥", "geqslant": "≥", "geqq": "≥",
	"ne": "≠", "neq": "≠", "lt": "<", "gt": ">", "cdot": "*", "times": "*", "ast": "*", "div": "/", "pm": "±",
	"mp": "∓", "cup": "∪", "cap": "∩", "bigcup": "∪", "bigcap": "∩", "setminus": "∖", "backslash": "∖", "in": "∈",
	"approx": "≈", "simeq": "≈", "thickapprox": "≈", "doteq": "≈", "equiv": "≡", "langle": "⟨", "rangle": "⟩",
	"lvert": "|", "rvert": "|", "vert": "|", "mid": "|", "lbrack": "[", "rbrack": "]", "lparen": "(", "rparen": ")",
	"lbrace": `\{`, "rbrace": `\}`, "colon": ":", "prime": "'", "circ": "∘", "degree": "°", "ldots": "…", "dots": "…",
	"cdots": "…", "dotsc": "…", "land": "and", "wedge": "and", "lor": "or", "vee": "or", "euro": "cur", "pounds": "cur",
	"lfloor": "⌊", "rfloor": "⌋", "lceil": "⌈", "rceil": "⌉", "sim": "≈", "to": "→", "rightarrow": "→",
	"Rightarrow": "⇒", "implies": "⇒", "Longrightarrow": "⇒", "iff": "⇔", "Leftrightarrow": "⇔",
	"×": "*", "·": "*", "⋅": "*", "∙": "*", "÷": "/", "−": "-", "–": "-", "—": "-", "∕": "/", "⁄": "/", "±": "±", "∓": "∓", "≤": "≤",
	"≥": "≥", "⩽": "≤", "⩾": "≥", "≠": "≠", "≈": "≈", "≡": "≡", "∪": "∪", "∩": "∩", "∖": "∖", "∈": "∈", "°": "°", "º": "°", "˚": "°",
	"′": "'", "’": "'", "″": "''", "…": "…", "∣": "|", "⟨": "⟨", "⟩": "⟩", "⌊": "⌊", "⌋": "⌋", "⌈": "⌈", "⌉": "⌉",
	"€": "cur", "£": "cur", "¥": "cur", "₹": "cur", "，": ",", "：": ":", "；": ";", "（": "(", "）": ")",
	"→": "→", "⇒": "⇒", "∧": "and", "∨": "or",
}

// runes are characters that stand for a command.
var runes = map[rune]string{
	'√': "sqrt", '∛': "cbrt", '∞': "infty", '∅': "emptyset", 'Ø': "emptyset", 'π': "pi", 'θ': "theta", 'α': "alpha",
	'β': "beta", 'γ': "gamma", 'δ': "delta", 'λ': "lambda", 'μ': "mu", 'φ': "phi", 'ϕ': "phi", 'ω': "omega",
	'σ': "sigma", 'ρ': "rho", 'τ': "tau", 'ε': "epsilon", 'Δ': "Delta", 'Ω': "Omega", 'ℝ': "RR", 'ℤ': "ZZ",
	'ℕ': "NN", 'ℚ': "QQ", 'ℂ': "CC", '∠': "angle", '△': "triangle", 'ℓ': "ell", '∑': "sum", '∏': "prod",
}

// skipped commands say how something looks and nothing of what it is.
var skipped = set("left", "right", "big", "Big", "bigg", "Bigg", "bigl", "bigr", "Bigl", "Bigr", "biggl", "biggr",
	"middle", "displaystyle", "textstyle", "scriptstyle", "limits", "nolimits", "quad", "qquad", "hfill", "thinspace",
	"mathbf", "boldsymbol", "bm", "mathit", "mathsf", "mathtt", "mathcal", "mathscr", "mathfrak", "underline",
	"cancel", "strut", "nonumber", "bf", "rm", "it", "sf", "mathop", "mathord", "mathstrut", "enspace", "space",
	"ensuremath", "large", "Large", "small", "normalsize", "boxed", "fbox", "hline", "centering", "mathbin", "mathrel")

// dropped commands take an argument in braces that is dropped with them.
var dropped = set("hspace", "vspace", "color", "phantom", "hphantom", "vphantom", "label", "tag", "textcolor", "hskip", "mspace")

// textual commands take text.
var textual = set("text", "mbox", "textbf", "textit", "textrm", "textnormal", "textsf", "texttt", "mathrm", "operatorname",
	"hbox", "textup", "emph", "textsc", "rm")

func set(names ...string) map[string]bool {
	m := make(map[string]bool, len(names))
	for _, n := range names {
		m[n] = true
	}
	return m
}
