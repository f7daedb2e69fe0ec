package vidmm

import (
	"bytes"
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/dxgsync/dxgsync/abi"
)

// The model of a space: for each page what it is for, and what each engine sees there.
const (
	modelPages   = 48
	modelEngines = 2
	modelSteps   = 400
)

type modelPage struct {
	use  int // 0 free, 1 reserved, 2 allotted
	seen [modelEngines]modelSeen
}

type modelSeen struct {
	what     int // 0 nothing, 1 zeros, 2 memory
	memory   int
	page     int
	writable bool
}

type model struct {
	t      *testing.T
	s      *Space
	rng    *rand.Rand
	pages  [modelPages]modelPage
	memory [3]*plain
	shadow [3][]byte
}

func (m *model) va(page int) uint64 { return HeapBase + uint64(page)*PageSize }

// any returns whether one of the pages is like that.
func (m *model) any(at, n int, like func(p *modelPage) bool) bool {
	for i := at; i < at+n; i++ {
		if like(&m.pages[i]) {
			return true
		}
	}
	return false
}

func (m *model) set(at, n int, engines uint32, see func(i int) modelSeen) {
	for i := range n {
		for e := range modelEngines {
			if engines>>e&1 != 0 {
				m.pages[at+i].seen[e] = see(i)
			}
		}
	}
}

func (m *model) step() {
	at := m.rng.IntN(modelPages)
	n := 1 + m.rng.IntN(modelPages-at)
	if n > 6 {
		n = 1 + n%6
	}
	engines := uint32(1 + m.rng.IntN(1<<modelEngines-1))
	va, size := m.va(at), uint64(n)*PageSize
	taken := func(p *modelPage) bool { return p.use != 0 }
	free := func(p *modelPage) bool { return p.use == 0 }
	expect := func(name string, got abi.Status, ok bool) bool {
		m.t.Helper()
		if got.OK() != ok {
			m.t.Fatalf("%s pages %d+%d: %v, the model says %v", name, at, n, got, ok)
		}
		return ok
	}
	switch m.rng.IntN(8) {
	case 0:
		at &^= 15 // addresses to reserve have a granule
		n = min(n, modelPages-at)
		zeros := m.rng.IntN(2) == 0
		_, st := m.s.Reserve(Place{Base: m.va(at)}, uint64(n)*PageSize, zeros)
		if expect("reserve", st, !m.any(at, n, taken)) {
			for i := range n {
				m.pages[at+i] = modelPage{use: 1}
			}
			if zeros {
				m.set(at, n, 3, func(int) modelSeen { return modelSeen{what: 1} })
			}
		}
	case 1:
		if expect("free", m.s.Free(va, size), !m.any(at, n, free)) {
			for i := range n {
				m.pages[at+i] = modelPage{}
			}
		}
	case 2, 3, 4:
		if _, st := m.s.Allot(Place{Base: va}, size, true); !st.OK() {
			m.t.Fatalf("allot: %v", st)
		}
		for i := range n {
			if p := &m.pages[at+i]; p.use == 0 {
				p.use = 2
			}
		}
		k, page, writable := m.rng.IntN(len(m.memory)), m.rng.IntN(4), m.rng.IntN(2) == 0
		m.s.Map(engines, va, size, Mapping{m.memory[k], uint64(page) * PageSize, writable, k})
		m.set(at, n, engines, func(i int) modelSeen { return modelSeen{2, k, page + i, writable} })
	case 5:
		zeros := m.rng.IntN(2) == 0
		_, st := m.s.Allot(Place{Base: va}, size, false)
		if !expect("allot nothing", st, !m.any(at, n, func(p *modelPage) bool { return p.use == 2 })) {
			return
		}
		for i := range n {
			if p := &m.pages[at+i]; p.use == 0 {
				p.use = 2
			}
		}
		m.s.Unmap(engines, va, size, zeros)
		m.set(at, n, engines, func(int) modelSeen {
			if zeros {
				return modelSeen{what: 1}
			}
			return modelSeen{}
		})
	case 6:
		to := m.rng.IntN(modelPages - n + 1)
		if m.any(to, n, free) {
			return // who copies asks Has first
		}
		old := m.pages
		if st := m.s.Copy(engines, va, m.va(to), size); !st.OK() {
			m.t.Fatalf("copy: %v", st)
		}
		for i := range n {
			for e := range modelEngines {
				if engines>>e&1 != 0 {
					m.pages[to+i].seen[e] = old[at+i].seen[e]
				}
			}
		}
	case 7:
		k := m.rng.IntN(len(m.memory))
		m.s.Forget(func(owner any) bool { return owner == k })
		for i := range m.pages {
			for e := range modelEngines {
				if s := &m.pages[i].seen[e]; s.what == 2 && s.memory == k {
					*s = modelSeen{}
				}
			}
		}
	}
}

// look reads and writes over a few pages and compares.
func (m *model) look() {
	engine := m.rng.IntN(modelEngines)
	page := m.rng.IntN(modelPages - 3)
	off := m.rng.IntN(PageSize)
	got := make([]byte, 1+m.rng.IntN(2*PageSize))
	write := m.rng.IntN(2) == 0
	if write {
		for i := range got {
			got[i] = byte(m.rng.Uint32())
		}
	}
	want, moved := bytes.Clone(got), 0
	for ; moved < len(got); moved++ {
		at := off + moved
		seen := m.pages[page+at/PageSize].seen[engine]
		if seen.what == 0 || write && seen.what == 2 && !seen.writable {
			break
		}
		switch {
		case seen.what == 2 && write:
			m.shadow[seen.memory][seen.page*PageSize+at%PageSize] = got[moved]
		case seen.what == 2:
			want[moved] = m.shadow[seen.memory][seen.page*PageSize+at%PageSize]
		case !write:
			want[moved] = 0
		}
	}
	va := m.va(page) + uint64(off)
	fault := m.s.Read
	if write {
		fault = m.s.Write
	}
	f := fault(uint32(engine), va, got)
	if (f != nil) != (moved < len(got)) || f != nil && f.Address != va+uint64(moved) {
		m.t.Fatalf("%d bytes at page %d + %d, write %v: fault %+v, the model says after %d", len(got), page, off, write, f, moved)
	}
	if !write && !bytes.Equal(got[:moved], want[:moved]) {
		m.t.Fatalf("page %d + %d: other bytes than the model's", page, off)
	}
}

// TestModel: random changes and accesses agree with a table of pages.
func TestModel(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %#x", seed)
	rng := rand.New(rand.NewPCG(seed, 0))
	for range 50 {
		m := &model{t: t, s: NewSpace(&sync.Mutex{}, modelEngines, 48, true), rng: rng}
		for i := range m.memory {
			m.memory[i] = &plain{bytes: make([]byte, 16*PageSize)}
			m.shadow[i] = make([]byte, 16*PageSize)
		}
		for range modelSteps {
			m.step()
			m.look()
		}
		for i, p := range m.memory {
			if !bytes.Equal(p.bytes, m.shadow[i]) || p.held != 0 {
				t.Fatalf("memory %d differs, or is held %d times", i, p.held)
			}
		}
	}
}
