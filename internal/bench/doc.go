// Package bench measures dxgsync against floors: what the machine itself allows,
// taken in the same run and interleaved round by round, so that a ratio means
// something though absolute times do not travel.
//
// A measurement runs in a process of its own, started from the same program, so
// that neither heaps nor threads of one disturb the next. Measurements pinned to
// one processor ("same") run both sides on processor 0; "diff" puts the second
// side on processor 1.
package bench
