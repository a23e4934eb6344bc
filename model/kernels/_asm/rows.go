package main

// rowKernel is one row kernel: a loop over n elements, sixteen at a time, whose
// body is written once for all instruction sets.
type rowKernel struct {
	name    string   // rowXxx is its wrapper, xxxGeneric its definition
	slices  []string // operands of one length
	scalars []string // float32 arguments
	lanes   []string // sums in sixteen lanes, returned folded
	doc     string
	body    func(v *vec)
}

// rowKernels are all row kernels; rows_generic.go defines what they compute.
var rowKernels = []rowKernel{
	{name: "Dot", lanes: []string{"s"}, slices: []string{"x", "y"}, doc: "s = Σ x·y", body: func(v *vec) {
		x, y := v.load("x"), v.load("y")
		v.fma(v.lane("s"), x, y, v.lane("s"))
	}},
	{name: "Dot3", lanes: []string{"s"}, slices: []string{"a", "b", "c"}, doc: "s = Σ (a·b)·c", body: func(v *vec) {
		a, b, c := v.load("a"), v.load("b"), v.load("c")
		v.mul(a, a, b)
		v.fma(v.lane("s"), a, c, v.lane("s"))
	}},
	{name: "Axpy", slices: []string{"y", "x"}, scalars: []string{"a"}, doc: "y += a·x", body: func(v *vec) {
		y, x := v.load("y"), v.load("x")
		v.fma(y, v.scalar("a"), x, y)
		v.store("y", y)
	}},
	{name: "Scale", slices: []string{"y", "x"}, scalars: []string{"a"}, doc: "y = a·x + 0", body: func(v *vec) {
		x, zero := v.load("x"), v.zero()
		v.mul(x, v.scalar("a"), x)
		v.add(x, x, zero)
		v.store("y", x)
	}},
	{name: "Add", slices: []string{"y", "x"}, doc: "y += x", body: func(v *vec) {
		y, x := v.load("y"), v.load("x")
		v.add(y, y, x)
		v.store("y", y)
	}},
	{name: "Norm", slices: []string{"y", "x", "w"}, scalars: []string{"inv"}, doc: "y = (x·inv)·w", body: func(v *vec) {
		x, w := v.load("x"), v.load("w")
		v.mul(x, x, v.scalar("inv"))
		v.mul(x, x, w)
		v.store("y", x)
	}},
	{name: "NormBack", slices: []string{"dx", "dy", "x", "w"}, scalars: []string{"inv", "c"},
		doc: "dx += inv·(dy·w - (x·inv)·c)", body: func(v *vec) {
			dx, dy, x, w := v.load("dx"), v.load("dy"), v.load("x"), v.load("w")
			v.mul(x, x, v.scalar("inv"))
			v.mul(dy, dy, w)
			v.fnma(dy, x, v.scalar("c"), dy)
			v.fma(dx, v.scalar("inv"), dy, dx)
			v.store("dx", dx)
		}},
	{name: "NormGrad", slices: []string{"dw", "dy", "x"}, scalars: []string{"inv"}, doc: "dw += dy·(x·inv)", body: func(v *vec) {
		dw, dy, x := v.load("dw"), v.load("dy"), v.load("x")
		v.mul(x, x, v.scalar("inv"))
		v.fma(dw, dy, x, dw)
		v.store("dw", dw)
	}},
	{name: "Rotate", slices: []string{"a", "b", "cos", "sin"}, scalars: []string{"sign"},
		doc: "(a, b) = (a·cos - b·s, b·cos + a·s), s = sin·sign", body: func(v *vec) {
			a, b, c, s := v.load("a"), v.load("b"), v.load("cos"), v.load("sin")
			v.mul(s, s, v.scalar("sign"))
			t, u := v.temp(), v.temp()
			v.mul(t, b, s)
			v.fms(t, a, c, t)
			v.mul(u, a, s)
			v.fma(u, b, c, u)
			v.store("a", t)
			v.store("b", u)
		}},
	{name: "Gate", slices: []string{"y", "gate", "u"}, doc: "y = (g·sigmoid(g))·u", body: func(v *vec) {
		g := v.load("gate")
		s := v.sigmoid(g)
		v.mul(g, g, s)
		u := v.load("u")
		v.mul(g, g, u)
		v.store("y", g)
	}},
	{name: "GateBack", slices: []string{"dg", "du", "dy", "gate", "u"},
		doc: "du = dy·(g·s), dg = (dy·u)·(s·(1 + g·(1-s))), s = sigmoid(g)", body: func(v *vec) {
			g := v.load("gate")
			s := v.sigmoid(g)
			slope := v.constant("one")
			v.sub(slope, slope, s)
			one := v.constant("one")
			v.fma(slope, g, slope, one)
			v.mul(slope, s, slope)
			v.mul(g, g, s)
			dy, u := v.load("dy"), v.load("u")
			v.mul(g, dy, g)
			v.mul(u, dy, u)
			v.mul(u, u, slope)
			v.store("du", g)
			v.store("dg", u)
		}},
	{name: "Max", lanes: []string{"s"}, slices: []string{"x"}, doc: "s = max x", body: func(v *vec) {
		v.max(v.lane("s"), v.load("x"))
	}},
	{name: "ExpSum", lanes: []string{"s"}, slices: []string{"y", "x"}, scalars: []string{"scale", "m"},
		doc: "y = exp(x·scale - m), s = Σ y", body: func(v *vec) {
			x := v.load("x")
			v.mul(x, x, v.scalar("scale"))
			v.sub(x, x, v.scalar("m"))
			e := v.exp(x)
			v.store("y", e)
			v.valid(e)
			v.add(v.lane("s"), v.lane("s"), e)
		}},
	{name: "Entropy", lanes: []string{"s", "t"}, slices: []string{"x"}, scalars: []string{"scale", "m"},
		doc: "s = Σ e, t = Σ e·d, d = x·scale - m, e = exp(d)", body: func(v *vec) {
			x := v.load("x")
			v.mul(x, x, v.scalar("scale"))
			v.sub(x, x, v.scalar("m"))
			e := v.exp(x)
			v.valid(e)
			v.add(v.lane("s"), v.lane("s"), e)
			v.fma(v.lane("t"), e, x, v.lane("t"))
		}},
	{name: "HeadBack", slices: []string{"x"}, scalars: []string{"scale", "m", "inv", "a", "b"},
		doc: "x = (exp(d)·inv)·(b·d + a), d = x·scale - m", body: func(v *vec) {
			x := v.load("x")
			v.mul(x, x, v.scalar("scale"))
			v.sub(x, x, v.scalar("m"))
			e := v.exp(x)
			v.mul(e, e, v.scalar("inv"))
			v.fma(x, x, v.scalar("b"), v.scalar("a"))
			v.mul(x, e, x)
			v.store("x", x)
		}},
	{name: "SoftmaxBack", slices: []string{"s", "grad"}, scalars: []string{"scale", "m", "inv", "d"},
		doc: "s = exp(s·scale - m)·inv, g = (s·(g-d))·scale", body: func(v *vec) {
			x := v.load("s")
			v.mul(x, x, v.scalar("scale"))
			v.sub(x, x, v.scalar("m"))
			e := v.exp(x)
			v.mul(e, e, v.scalar("inv"))
			v.store("s", e)
			g := v.load("grad")
			v.sub(g, g, v.scalar("d"))
			v.mul(g, e, g)
			v.mul(g, g, v.scalar("scale"))
			v.store("grad", g)
		}},
	{name: "Adam", slices: []string{"p", "grad", "m", "v"},
		scalars: []string{"decay", "rate", "root", "b1", "c1", "b2", "c2", "eps"},
		doc:     "one AdamW step; see adamGeneric", body: func(v *vec) {
			g, m := v.load("grad"), v.load("m")
			t := v.temp()
			v.mul(m, v.scalarHere("b1"), m)
			v.mul(t, v.scalarHere("c1"), g)
			v.add(m, m, t)
			v.store("m", m)
			w := v.load("v")
			v.mul(w, v.scalarHere("b2"), w)
			v.mul(t, v.scalarHere("c2"), g)
			v.mul(t, t, g)
			v.add(w, w, t)
			v.store("v", w)
			v.sqrt(w, w)
			v.div(w, w, v.scalarHere("root"))
			v.add(w, w, v.scalarHere("eps"))
			v.mul(m, v.scalarHere("rate"), m)
			v.div(m, m, w)
			p := v.load("p")
			v.mul(p, v.scalarHere("decay"), p)
			v.sub(p, p, m)
			v.store("p", p)
		}},
}
