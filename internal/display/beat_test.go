package display

import (
	"fmt"
	"math/big"
	"testing"
)

// Rates in thousandths of a hertz: the ends, the common ones, and some that divide
// nothing.
var rates = []uint32{MinRefresh, 23_976, 24_000, 50_000, 59_940, 60_000, 144_000, 165_001, 240_000, 999_983, MaxRefresh}

// exact is start + k·10¹²/rate, rounded down, by numbers of any length.
func exact(start, k int64, rate uint32) int64 {
	n := new(big.Int).Mul(big.NewInt(k), big.NewInt(span))
	n.Div(n, big.NewInt(int64(rate)))
	return n.Add(n, big.NewInt(start)).Int64()
}

func TestVSyncsDoNotDrift(t *testing.T) {
	const century = 100 * 365 * 86_400
	for _, rate := range rates {
		t.Run(fmt.Sprint(rate), func(t *testing.T) {
			b := beat{start: 12_345, rate: int64(rate)}
			last := century * int64(rate) / 1000
			for _, from := range []int64{0, int64(rate) - 3, last - 3} {
				for k := from; k < from+1000; k++ {
					at := b.vsync(k)
					if want := exact(12_345, k, rate); at != want {
						t.Fatalf("number %d is at %d, want %d", k, at, want)
					}
					for now, want := range map[int64]int64{at - 1: k, at: k + 1, at + 1: k + 1} {
						if got := b.after(now); now >= b.start && got != want {
							t.Fatalf("behind %d comes number %d, want %d", now, got, want)
						}
					}
				}
			}
			if got := b.vsync(century / 1000 * int64(rate)); got != 12_345+century*1e9 {
				t.Errorf("after a century it is %d ns off", got-12_345-century*1e9)
			}
		})
	}
}
