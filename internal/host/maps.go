package host

import (
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync/atomic"

	"github.com/dxgsync/dxgsync/internal/page"
)

// defaultMaps is what Linux allows a process to map unless told otherwise.
const defaultMaps = 65530

// A mapLimit keeps the process from using up its mappings, which would end it: the
// Go runtime needs new ones. Three quarters are for fences.
type mapLimit struct {
	most int
	left *atomic.Int64 // memories freed, but left to the collector to unmap
}

func newMapLimit() mapLimit {
	allowed := defaultMaps
	if text, err := os.ReadFile("/proc/sys/vm/max_map_count"); err == nil {
		if n, err := strconv.Atoi(strings.TrimSpace(string(text))); err == nil && n > 0 {
			allowed = n
		}
	}
	return mapLimit{allowed / 4 * 3, new(atomic.Int64)}
}

// room reports whether one more memory may be mapped.
func (l mapLimit) room() bool { return page.Mapped() < l.most }

// leave tells that a freed memory stays mapped until the collector finds that nobody
// can reach it. Now and then it is told to look: the mappings weigh nothing on its
// scales.
func (l mapLimit) leave() {
	if l.left.Add(1)%int64(l.most/8+1) == 0 {
		runtime.GC()
	}
}
