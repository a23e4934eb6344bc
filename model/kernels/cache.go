package kernels

import "fmt"

// KVCache holds the keys and values of the first Len positions of one sequence in
// one layer, in float32 or in bfloat16. The trainer and the sampler use the same.
//
//	K    [KVHeads][Cap/32][HeadDim][32]             V    [KVHeads][Cap][HeadDim]
//	K16  [KVHeads][Cap/32][ceil(HeadDim/2)][32][2]  V16  [KVHeads][ceil(HeadDim/32)][Cap/2][32][2]
//
// So panels of 32 keys are what a product with queries reads, and pairs of
// bfloat16 are neighbours along what that product sums.
type KVCache struct {
	K, V     []float32
	K16, V16 []uint16 // in place of K and V
	// Tail, [KVHeads][32][HeadDim], keeps the keys of the last panel in rows until
	// it is full. It is for caches that grow by single positions: a key written to
	// its place in a panel touches a cache line for each of its values.
	Tail []float32
	// Rounded makes a cache of float32 round what it stores to bfloat16, and so
	// equal to one of bfloat16.
	Rounded  bool
	Cap, Len int
	// Row is the row of position 0 in the gradients dk and dv of Backward, which
	// takes caches of float32 without a Tail.
	Row int
}

// CacheLen returns the lengths of K and V for a cache of the given capacity,
// which is rounded up to a multiple of 32.
func (a Attention) CacheLen(capacity int) (k, v, rounded int) {
	rounded = panels(capacity) * panel
	n := a.KVHeads * rounded * a.HeadDim
	return n, n, rounded
}

// CacheLen16 returns the same for K16 and V16.
func (a Attention) CacheLen16(capacity int) (k, v, rounded int) {
	rounded = panels(capacity) * panel
	n := a.KVHeads * rounded
	return n * ((a.HeadDim + 1) &^ 1), n * panels(a.HeadDim) * panel, rounded
}

// TailLen returns the length of a Tail.
func (a Attention) TailLen() int { return a.KVHeads * panel * a.HeadDim }

// NewCache returns an empty cache for at least capacity positions.
func (a Attention) NewCache(capacity int) *KVCache {
	k, v, c := a.CacheLen(capacity)
	return &KVCache{K: alignedF32(k), V: alignedF32(v), Cap: c}
}

// AppendSpans stores the rows of every span at the end of its own cache. Row r of k
// and v belongs to row r of the queries.
func (a Attention) AppendSpans(p *Pool, spans []Span, k []float32, ldk int, v []float32, ldv int) {
	rows := 0
	for i := range spans {
		rows += spans[i].Rows
	}
	values := 2 * rows * a.KVHeads * a.HeadDim
	// A value stored costs about as much as four multiply-adds.
	p.weighed(len(spans)*a.KVHeads, 4*values, 4*values, func(_, i int) {
		s, h := &spans[i/a.KVHeads], i%a.KVHeads
		a.appendHead(s.Own, h, k[s.Row*ldk:], ldk, v[s.Row*ldv:], ldv, s.Rows)
	})
	for i := range spans {
		spans[i].Own.grow(spans[i].Rows)
	}
}

// Append stores rows of keys (already rotated) and values, KVHeads·HeadDim each,
// at the end of the cache.
func (a Attention) Append(c *KVCache, k []float32, ldk int, v []float32, ldv, rows int) {
	for h := range a.KVHeads {
		a.appendHead(c, h, k, ldk, v, ldv, rows)
	}
	c.Len += rows
}

// grow makes the cache rows longer.
func (c *KVCache) grow(rows int) {
	c.checkRoom(rows)
	c.Len += rows
}

func (c *KVCache) checkRoom(rows int) {
	if c.Len+rows > c.Cap {
		panic(fmt.Sprintf("kernels: key-value cache of %d positions is full", c.Cap))
	}
}

// appendHead is Append for one key-value head, without the new length.
func (a Attention) appendHead(c *KVCache, h int, k []float32, ldk int, v []float32, ldv, rows int) {
	c.checkRoom(rows)
	for r := range rows {
		a.putHead(c, h, c.Len+r, k[r*ldk:], v[r*ldv:])
	}
}

// putHead stores head h of a row's keys and values at position j.
func (a Attention) putHead(c *KVCache, h, j int, k, v []float32) {
	d := a.HeadDim
	a.putValue(c, h, j, v[h*d:][:d])
	if key := k[h*d:][:d]; c.Tail == nil {
		a.putKey(c, h, j, key)
	} else {
		a.putTail(c, h, j, key)
	}
}

// putTail writes a key to the tail, and the tail to its panel when it is full.
func (a Attention) putTail(c *KVCache, h, j int, key []float32) {
	d := a.HeadDim
	tail := c.Tail[h*panel*d:][:panel*d]
	c.copy(tail[j%panel*d:][:d], key)
	if j%panel < panel-1 {
		return
	}
	for i := range panel {
		a.putKey(c, h, j&^(panel-1)+i, tail[i*d:][:d])
	}
}

// putKey writes a key to its place in a panel.
func (a Attention) putKey(c *KVCache, h, j int, key []float32) {
	d := a.HeadDim
	if c.K16 != nil {
		pairs := (d + 1) / 2 * 2
		p := c.K16[(h*c.Cap+j/panel*panel)*pairs+j%panel*2:]
		for i, x := range key {
			p[i/2*2*panel+i&1] = BF16(x)
		}
		return
	}
	p := c.K[(h*c.Cap+j/panel*panel)*d+j%panel:]
	if c.Rounded {
		for i, x := range key {
			p[i*panel] = FromBF16(BF16(x))
		}
		return
	}
	for i, x := range key {
		p[i*panel] = x
	}
}

func (a Attention) putValue(c *KVCache, h, j int, value []float32) {
	d := a.HeadDim
	if c.V16 == nil {
		c.copy(c.V[(h*c.Cap+j)*d:][:d], value)
		return
	}
	for i := 0; i < d; i += panel {
		p := c.V16[((h*panels(d)+i/panel)*c.Cap+j&^1)*panel+j&1:]
		for n, x := range value[i:min(i+panel, d)] {
			p[2*n] = BF16(x)
		}
	}
}

// copy sets y to x as the cache keeps it.
func (c *KVCache) copy(y, x []float32) {
	if !c.Rounded && c.K16 == nil {
		copy(y, x)
		return
	}
	for i, v := range x {
		y[i] = FromBF16(BF16(v))
	}
}
