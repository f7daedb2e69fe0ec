package bench

import "time"

// enough is how long a loop must take to be believed.
const enough = 40 * time.Millisecond

// loop calls body with growing n until it takes long enough, and returns
// nanoseconds for one of n.
func loop(body func(n int)) float64 {
	for n := 1; ; {
		begin := time.Now()
		body(n)
		took := time.Since(begin)
		switch {
		case took >= enough:
			return float64(took.Nanoseconds()) / float64(n)
		case took < enough/16:
			n *= 8
		default:
			n = int(float64(n)*1.25*float64(enough)/float64(took)) + 1
		}
	}
}
