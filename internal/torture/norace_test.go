//go:build !race

package torture

const (
	defaultRounds = 1000
	defaultCycles = 1_000_000
)
