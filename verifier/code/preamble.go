package code

import "strings"

// preamble is what the lcb profile imports for a program: names that models
// tend to use without importing them. No star import, so that no built-in
// name is shadowed (math.pow is not pow). Modules come last: copy is the module.
const preamble = `from bisect import bisect, bisect_left, bisect_right, insort, insort_left, insort_right
from collections import ChainMap, Counter, OrderedDict, defaultdict, deque, namedtuple
from copy import copy, deepcopy
from fractions import Fraction
from decimal import Decimal
from functools import cache, cmp_to_key, lru_cache, partial, reduce
from heapq import heapify, heappop, heappush, heappushpop, heapreplace, merge, nlargest, nsmallest
from io import BytesIO, StringIO
from itertools import accumulate, chain, combinations, combinations_with_replacement, compress, count, cycle, dropwhile, groupby, islice, pairwise, permutations, product, repeat, starmap, takewhile, tee, zip_longest
from math import acos, asin, atan, atan2, ceil, comb, cos, degrees, dist, e, exp, fabs, factorial, floor, fmod, gcd, hypot, inf, isclose, isfinite, isinf, isnan, isqrt, lcm, log, log10, log1p, log2, nan, perm, pi, prod, radians, sin, sqrt, tan, tau, trunc
from operator import add, and_, attrgetter, floordiv, itemgetter, mul, or_, sub, truediv, xor
from random import choice, choices, randint, random, randrange, sample, shuffle, uniform
from re import findall, finditer, fullmatch, match, search, split
from statistics import mean, median, mode
from string import ascii_letters, ascii_lowercase, ascii_uppercase, digits, punctuation
from typing import Any, Callable, Deque, Dict, FrozenSet, Generator, Iterable, Iterator, List, Mapping, NamedTuple, Optional, Sequence, Set, Tuple, Type, TypeVar, Union
import array, bisect, cmath, collections, copy, datetime, decimal, fractions, functools, heapq, io, itertools, json, math, operator, os, random, re, statistics, string, sys, time, typing
sys.setrecursionlimit(50000)
`

// withPreamble puts the preamble where it changes nothing else: after comments,
// the docstring and `from __future__` lines.
func withPreamble(source string) string {
	at := preambleAt(source)
	body := source[at:]
	if at > 0 && !strings.HasSuffix(source[:at], "\n") {
		return source[:at] + "\n" + preamble + body
	}
	return source[:at] + preamble + body
}

// preambleAt is the offset of the first line that is neither a comment nor a
// docstring nor an import from __future__. Where a line is too unusual to tell
// (several statements on it, say), the offset is before it.
func preambleAt(s string) int {
	at, docstring := 0, true
	for {
		line := s[at:]
		if n := strings.IndexByte(line, '\n'); n >= 0 {
			line = line[:n+1]
		}
		trimmed := strings.TrimSpace(line)
		switch {
		case line == "":
			return at
		case trimmed == "" || trimmed[0] == '#' || at == 0 && trimmed == "\ufeff":
			at += len(line)
		case fromFuture(line):
			n := statementEnd(s[at:])
			if n == 0 {
				return at
			}
			at, docstring = at+n, false
		case docstring:
			n := stringEnd(s[at:])
			if n == 0 {
				return at
			}
			at, docstring = at+n, false
		default:
			return at
		}
	}
}

// fromFuture tells an import from __future__, whatever blanks are in it.
func fromFuture(line string) bool {
	words := strings.Fields(line)
	return len(words) > 2 && words[0] == "from" && words[1] == "__future__" && line[0] == 'f'
}

// stringEnd is the length of a string literal that is a whole logical line, 0
// if s does not start with one.
func stringEnd(s string) int {
	i := 0
	for i < len(s) && i < 2 && strings.IndexByte("rRuU", s[i]) >= 0 {
		i++
	}
	rest := s[i:]
	for _, q := range []string{`"""`, "'''", `"`, "'"} {
		if !strings.HasPrefix(rest, q) {
			continue
		}
		for j := len(q); j < len(rest); j++ {
			switch {
			case rest[j] == '\\':
				j++
			case len(q) == 1 && rest[j] == '\n':
				return 0
			case strings.HasPrefix(rest[j:], q):
				return lineEnd(s, i+j+len(q))
			}
		}
		return 0
	}
	return 0
}

// statementEnd is the length of an import statement: up to its line's end, that
// of its closing bracket, or a semicolon and the blanks after it.
func statementEnd(s string) int {
	depth := 0
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '(':
			depth++
		case c == ')':
			depth--
		case c == '\\':
			i++
		case c == ';' && depth <= 0:
			return len(s) - len(strings.TrimLeft(s[i+1:], " \t"))
		case c == '\n' && depth <= 0:
			return i + 1
		case c == '#':
			if n := strings.IndexByte(s[i:], '\n'); n >= 0 {
				i += n - 1
			} else {
				i = len(s)
			}
		}
	}
	return len(s)
}

// lineEnd is the offset after the line that holds at, if nothing but a comment
// follows there, else 0.
func lineEnd(s string, at int) int {
	n := strings.IndexByte(s[at:], '\n')
	if n < 0 {
		n = len(s) - at
	}
	if rest := strings.TrimSpace(s[at : at+n]); rest != "" && rest[0] != '#' {
		return 0
	}
	return min(at+n+1, len(s))
}
