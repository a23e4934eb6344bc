//go:build purego || (!amd64 && !arm64)

package kernels

func rowDot(x, y []float32) float32                    { return dotGeneric(x, y) }
func rowDot3(a, b, c []float32) float32                { return dot3Generic(a, b, c) }
func rowAxpy(y []float32, a float32, x []float32)      { axpyGeneric(y, a, x) }
func rowScale(y []float32, a float32, x []float32)     { scaleGeneric(y, a, x) }
func rowAdd(y, x []float32)                            { addGeneric(y, x) }
func rowNorm(y, x, w []float32, inv float32)           { normGeneric(y, x, w, inv) }
func rowNormGrad(dw, dy, x []float32, inv float32)     { normGradGeneric(dw, dy, x, inv) }
func rowRotate(a, b, cos, sin []float32, sign float32) { rotateGeneric(a, b, cos, sin, sign) }
func rowGate(y, g, u []float32)                        { gateGeneric(y, g, u) }
func rowGateBack(dg, du, dy, g, u []float32)           { gateBackGeneric(dg, du, dy, g, u) }
func rowMax(x []float32) float32                       { return maxGeneric(x) }
func rowAdam(p, g, m, v []float32, a *AdamW)           { adamGeneric(p, g, m, v, a) }
func rowHeadBack(x []float32, scale, m, inv, a, b float32) {
	headBackGeneric(x, scale, m, inv, a, b)
}
func rowNormBack(dx, dy, x, w []float32, inv, c float32) {
	normBackGeneric(dx, dy, x, w, inv, c)
}
func rowExpSum(y, x []float32, scale, m float32) float32 {
	return expSumGeneric(y, x, scale, m)
}
func rowEntropy(x []float32, scale, m float32) (float32, float32) {
	return entropyGeneric(x, scale, m)
}
func rowSoftmaxBack(s, g []float32, scale, m, inv, d float32) {
	softmaxBackGeneric(s, g, scale, m, inv, d)
}
