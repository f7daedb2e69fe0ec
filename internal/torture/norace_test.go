//go:build !race

package torture

const (
	defaultRounds = 1000
	defaultResets = 1000
	defaultDeaths = 500
	defaultTurns  = 3000
	defaultCycles = 100_000 // half a minute; DXGSYNC_CYCLES=1000000 for the million
)
