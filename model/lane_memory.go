package model

import "troupe/model/kernels"

// caches makes kv hold n positions a layer, in its old memory if that is
// large enough.
func (l *lane) caches(kv []kernels.KVCache, n int) []kernels.KVCache {
	if kv == nil {
		kv = make([]kernels.KVCache, len(l.p.m.layers))
	}
	if l.p.m.kv16 {
		return l.caches16(kv, n)
	}
	k, v, c := l.p.att.CacheLen(n)
	if len(kv) > 0 && cap(kv[0].K) < k {
		mem := make([]float32, len(kv)*(k+v))
		for i := range kv {
			kv[i].K, kv[i].V = mem[:k:k], mem[k:k+v:k+v]
			mem = mem[k+v:]
		}
	}
	for i := range kv {
		kv[i] = kernels.KVCache{K: kv[i].K[:cap(kv[i].K)][:k], V: kv[i].V[:cap(kv[i].V)][:v], Tail: kv[i].Tail, Cap: c}
	}
	return kv
}

// caches16 is caches in bfloat16.
func (l *lane) caches16(kv []kernels.KVCache, n int) []kernels.KVCache {
	k, v, c := l.p.att.CacheLen16(n)
	if len(kv) > 0 && cap(kv[0].K16) < k {
		mem := make([]uint16, len(kv)*(k+v))
		for i := range kv {
			kv[i].K16, kv[i].V16 = mem[:k:k], mem[k:k+v:k+v]
			mem = mem[k+v:]
		}
	}
	for i := range kv {
		kv[i] = kernels.KVCache{K16: kv[i].K16[:cap(kv[i].K16)][:k], V16: kv[i].V16[:cap(kv[i].V16)][:v], Tail: kv[i].Tail, Cap: c}
	}
	return kv
}

// tails gives caches that grow by single positions a tail each.
func (l *lane) tails(kv []kernels.KVCache) {
	if kv[0].Tail != nil {
		return
	}
	n := l.p.att.TailLen()
	mem := make([]float32, len(kv)*n)
	for i := range kv {
		kv[i].Tail = mem[i*n : (i+1)*n : (i+1)*n]
	}
}

func (l *lane) newSlot(n int) *slot {
	s := &slot{}
	if k := len(l.idle); k > 0 {
		s, l.idle = l.idle[k-1], l.idle[:k-1]
	}
	s.kv = l.caches(s.kv, max(n, 1))
	if !l.p.m.small() {
		l.tails(s.kv)
	}
	return s
}

func (l *lane) newPrefix(n int) *prefix {
	pre := &prefix{}
	if k := len(l.free); k > 0 {
		pre, l.free = l.free[k-1], l.free[:k-1]
	}
	pre.kv, pre.users, pre.bytes, pre.done = l.caches(pre.kv, n), 0, l.g.bytes(n), 0
	return pre
}
