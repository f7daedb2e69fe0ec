//go:build !race

package torture

const defaultRounds = 1000
