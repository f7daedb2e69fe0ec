//go:build !race

package sim

// programs is how many a test runs.
const programs = 10_000
