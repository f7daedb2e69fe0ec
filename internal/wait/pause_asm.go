//go:build amd64 || arm64

package wait

// pause tells the processor that this thread looks again and again: a sibling thread
// of the same core gets its units, and leaving the loop costs less.
func pause()
