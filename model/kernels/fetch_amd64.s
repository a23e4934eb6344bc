//go:build !purego

#include "textflag.h"

// func fetch(x unsafe.Pointer, n int)
// Brings the cache lines of n bytes at x to the second-level cache, in the background.
TEXT ·fetch(SB), NOSPLIT, $0-16
	MOVQ x+0(FP), SI
	MOVQ n+8(FP), CX
	TESTQ CX, CX
	JLE done
loop:
	PREFETCHT1 (SI)
	ADDQ $64, SI
	SUBQ $64, CX
	JG loop
done:
	RET
