//go:build purego || !amd64

package kernels

import "unsafe"

func usable(f family) bool { return f == generic }

func pause() {}

func tileNN(h, width int, t tile, a, b, c unsafe.Pointer) { tileNNGeneric(h, width, t, a, b, c) }

func tileTN(h, width int, t tile, a, b, c unsafe.Pointer) { tileTNGeneric(h, width, t, a, b, c) }

func tileW16(h, width int, t tile, a, b, c unsafe.Pointer) { tileW16Generic(h, width, t, a, b, c) }

func peak(int) int { return 0 }

func read(x unsafe.Pointer, n int) { readGeneric(x, n) }
