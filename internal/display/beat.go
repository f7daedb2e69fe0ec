package display

// span is the time in which a target with r thousandths of a hertz has r vertical
// syncs, whatever r is: 1000 seconds, in nanoseconds.
const span = 1_000_000_000_000

// A beat is the vertical syncs of one rate: number k is at start + k·span/rate,
// rounded down to a nanosecond. Number 0 is the start itself.
type beat struct {
	start int64
	rate  int64 // in thousandths of a hertz, at most MaxRefresh: rate·span fits in 64 bits
}

// vsync is when number k is.
func (b beat) vsync(k int64) int64 {
	return b.start + k/b.rate*span + k%b.rate*span/b.rate
}

// after is the number of the first one behind now, which is not before the start.
func (b beat) after(now int64) int64 {
	d := now - b.start + 1 // the first that is at least this far: round up
	return d/span*b.rate + (d%span*b.rate+span-1)/span
}
