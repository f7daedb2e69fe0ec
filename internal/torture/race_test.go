//go:build race

package torture

// An actor takes a tenth of a second to start with the race detector.
const (
	defaultRounds = 100
	defaultCycles = 10_000
	defaultResets = 100
	defaultDeaths = 60
	defaultTurns  = 200
)
