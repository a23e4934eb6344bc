//go:build !purego

package kernels

func rowDot(x, y []float32) float32 {
	if active == neon {
		return neonDot(x, y)
	}
	return dotGeneric(x, y)
}

func rowDot3(a, b, c []float32) float32 {
	if active == neon {
		return neonDot3(a, b, c)
	}
	return dot3Generic(a, b, c)
}

func rowAdd(y, x []float32) {
	if active == neon {
		neonAdd(y, x)
		return
	}
	addGeneric(y, x)
}

func rowNorm(y, x, w []float32, inv float32) {
	if active == neon {
		neonNorm(y, x, w, inv)
		return
	}
	normGeneric(y, x, w, inv)
}

func rowNormBack(dx, dy, x, w []float32, inv, c float32) {
	if active == neon {
		neonNormBack(dx, dy, x, w, inv, c)
		return
	}
	normBackGeneric(dx, dy, x, w, inv, c)
}

func rowNormGrad(dw, dy, x []float32, inv float32) {
	if active == neon {
		neonNormGrad(dw, dy, x, inv)
		return
	}
	normGradGeneric(dw, dy, x, inv)
}

func rowRotate(a, b, cos, sin []float32, sign float32) {
	if active == neon {
		neonRotate(a, b, cos, sin, sign)
		return
	}
	rotateGeneric(a, b, cos, sin, sign)
}

func rowGate(y, g, u []float32) {
	if active == neon {
		neonGate(y, g, u)
		return
	}
	gateGeneric(y, g, u)
}

func rowGateBack(dg, du, dy, g, u []float32) {
	if active == neon {
		neonGateBack(dg, du, dy, g, u)
		return
	}
	gateBackGeneric(dg, du, dy, g, u)
}

func rowMax(x []float32) float32 {
	if active == neon {
		return neonMax(x)
	}
	return maxGeneric(x)
}

func rowExpSum(y, x []float32, scale, m float32) float32 {
	if active == neon {
		return neonExpSum(y, x, scale, m)
	}
	return expSumGeneric(y, x, scale, m)
}

func rowEntropy(x []float32, scale, m float32) (float32, float32) {
	if active == neon {
		return neonEntropy(x, scale, m)
	}
	return entropyGeneric(x, scale, m)
}

func rowHeadBack(x []float32, scale, m, inv, a, b float32) {
	if active == neon {
		neonHeadBack(x, scale, m, inv, a, b)
		return
	}
	headBackGeneric(x, scale, m, inv, a, b)
}

func rowSoftmaxBack(s, g []float32, scale, m, inv, d float32) {
	if active == neon {
		neonSoftmaxBack(s, g, scale, m, inv, d)
		return
	}
	softmaxBackGeneric(s, g, scale, m, inv, d)
}

func rowAxpy(y []float32, a float32, x []float32) {
	if active == neon {
		neonAxpy(y, x, a)
		return
	}
	axpyGeneric(y, a, x)
}

func rowScale(y []float32, a float32, x []float32) {
	if active == neon {
		neonScale(y, x, a)
		return
	}
	scaleGeneric(y, a, x)
}

func rowAdam(p, g, m, v []float32, a *AdamW) {
	if active == neon {
		neonAdam(p, g, m, v, a.Decay, a.Rate, a.Root, a.B1, a.C1, a.B2, a.C2, a.Eps)
		return
	}
	adamGeneric(p, g, m, v, a)
}
