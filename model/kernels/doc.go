// Package kernels is the arithmetic under the models: matrix products, norms,
// rotary embedding, gates, attention, the fused head and the optimizer's inner
// loop, each with its backward next to it. It is the only package with assembly.
//
// # Shapes
//
// Everything is a row-major slice of float32 with explicit sizes. A row stride
// is called ld and is counted in elements; it is at least the row's length. A
// weight W of a linear layer has shape [N, K] (outputs, inputs), as checkpoints
// store it, and is packed once into a [Matrix].
//
// # Aliasing
//
// Outputs must not overlap inputs unless a function says "in place" or names
// the operands that may be equal.
//
// # Order of sums
//
// Every result is defined bit for bit, and every implementation (generic Go,
// AVX2, AVX-512, AMX, NEON) gives those bits for every batch height, every split of
// the work over workers and every blocking:
//
//   - Products (MatMul, MatMulT, GradW, the scores, the sums over values in
//     attention) are one chain of fused multiply-adds per output, from zero or
//     from the old output, in the order of the summed index: acc = fma(a, b, acc).
//   - Products with a frozen bfloat16 weight may be of another kind ([Numerics]),
//     which has its own order.
//   - Sums along a row (RMSNorm, softmax, Dot, SumSquares) run in sixteen lanes:
//     lane l takes the elements l, l+16, l+32, … in order, then the lanes are
//     folded l+8, l+4, l+2, l+1 (foldLanes). The index is the absolute position
//     in the row, so a longer row extends a shorter one.
//   - exp is one polynomial (Exp); division and square root are IEEE.
//   - A sum of zeros may come out as either zero inside a kernel; where that
//     could depend on the batch the result is brought to +0 (attention).
//
// So a row's result does not depend on the batch it is computed in: the sampler,
// one row at a time against its cache, and the trainer, whole sequences at once,
// agree exactly.
//
// # Workers
//
// A [Pool] holds parked goroutines. All methods of *Pool work on a nil pool too,
// which means: on the calling goroutine. With tiny models it is faster to give
// each worker its own sequences and call the methods of a nil pool in it than to
// split products of a few microseconds.
//
// # Choice of implementation
//
// The best usable implementation is chosen at start from CPU feature bits; the
// environment variable TROUPE_KERNELS names another one, and tests switch with
// [Use]. Build tag purego leaves the assembly out.
//
// AMX also needs the operating system to keep tile state and to permit it, and a
// self-test against the portable order ([AMX] says what is missing). No tile
// instruction runs before. A call of an AMX kernel configures tiles, computes and
// releases them without a return to Go in between, so that no goroutine moves to
// another thread with tiles in use, and takes some tens of microseconds, so that
// it doesn't hold up the collector.
package kernels
