//go:build race

package sim

const programs = 300
