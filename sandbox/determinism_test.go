package sandbox

import (
	"fmt"
	"strings"
	"sync"
	"testing"
)

// templates make the programs of the determinism test; @ is a small number.
// They look at all that could differ between runs: addresses, hashes, clocks,
// randomness, memory, and where exactly a limit ends them.
var templates = []string{
	"print(sum(i * @ for i in range(1000)))",
	"print({str(i) for i in range(@ + 20)})",
	"print({(i, str(i)): i for i in range(@)}, set('abcdefgh' * @))",
	"print(id(object()), id([]), [hash(str(i)) for i in range(@)])",
	"import random; print([random.random() for i in range(@)]); random.shuffle(x := list(range(20))); print(x)",
	"import os, uuid, secrets; print(os.urandom(@ + 1), uuid.uuid4(), secrets.token_hex(@ + 1))",
	"import time; print(time.time(), time.perf_counter(), time.process_time(), time.monotonic_ns())",
	"import time\nfor i in range(@): time.sleep(0.001)\nprint(time.time())",
	"x = []\nwhile True: x.append(bytes(1000 * (@ + 1)))",
	"i = 0\nwhile True:\n    i += @ + 1\n    if i % 1000 < @ + 1: print(i)",
	"import re; print(re.match('(a+)+$', 'a' * (@ + 5) + 'b'))",
	"from collections import *\nd = deque(); c = Counter('mississippi' * @)\nfor i in range(1000): d.append(i % (@ + 1))\nprint(c, sum(d))",
	"import heapq\nh = []\nfor i in range(2000): heapq.heappush(h, i * 7919 % (1000 + @))\nprint([heapq.heappop(h) for i in range(50)])",
	"import functools\nf = functools.lru_cache(None)(lambda n: n if n < 2 else f(n - 1) + f(n - 2))\nprint(f(100 + @))",
	"print(2 ** (1000 + @) % 1000000007, [pow(i, 65537, 10**9 + @ + 1) for i in range(1, 50)])",
	"class A: pass\nprint([repr(A()) for i in range(@ + 1)], sorted((A() for i in range(@)), key=id) == [])",
	"import math; print([math.sin(i + @) for i in range(50)], 0.1 * @, 1e300 * 10.0 ** @)",
	"import gc; x = [[] for i in range(1000 * @)]; print(gc.collect(), len(gc.get_objects()), gc.get_count())",
	"raise ValueError(object() if @ % 2 else @)",
	"import sys, threading\nt = threading.Thread(target=lambda: print(threading.current_thread(), sys.getsizeof([0] * @))); t.start(); t.join(); print(threading.enumerate())",
}

// TestTheSameProgramEndsTheSameWay runs 200 programs five times, with one
// worker and with two beside a busy one, and compares all that is reported.
func TestTheSameProgramEndsTheSameWay(t *testing.T) {
	type key struct{ stdout, stderr, end string }
	var programs []string
	for _, s := range templates {
		for n := range 200 / len(templates) {
			if testing.Short() && n > 0 {
				break
			}
			programs = append(programs, strings.ReplaceAll(s, "@", fmt.Sprint(n+1)))
		}
	}
	seen := make([]map[key]bool, len(programs))
	for i := range seen {
		seen[i] = map[key]bool{}
	}
	var mu sync.Mutex
	round := func(p *Pool, parallel int) {
		var wg sync.WaitGroup
		for k := range parallel {
			wg.Go(func() {
				for n := range programs {
					// Each goroutine begins elsewhere, so a worker sees the programs in
					// different orders.
					i := (n + k*len(programs)/2) % len(programs)
					if n%parallel != 0 {
						i = len(programs) - 1 - i
					}
					r := runOn(t, p, Python{Program: programs[i], Limits: Limits{TimeS: 0.02, MemoryMB: 32, OutputKB: 16}})
					mu.Lock()
					seen[i][key{string(r.Stdout), string(r.Stderr), fmt.Sprint(r.Outcome, r.ExitCode, r.Fuel, r.MemoryRefused, r.Exception)}] = true
					mu.Unlock()
				}
			})
		}
		wg.Wait()
	}
	one := open(t, 1)
	round(one, 1)
	round(one, 1)
	one.Close()
	round(open(t, 2), 3)
	for i, s := range seen {
		if len(s) != 1 {
			t.Errorf("%d different ends of\n%s", len(s), programs[i])
			for k := range s {
				t.Logf("%.300q %.200q %s", k.stdout, k.stderr, k.end)
			}
		}
	}
}
