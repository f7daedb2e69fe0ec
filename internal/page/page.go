// Package page holds the memory that processes share to signal and to wait without
// asking anybody: the 64-byte cell with a fence's value, the bells on which
// sleepers sleep, and the memfds they live in.
//
// The protocol is written down in docs/protocol-pages.md, and model/ proves it.
// In one breath: a signaller raises the value and then reads the want word; a
// sleeper reads its bell, writes the want word and then reads the value. Whoever
// comes second sees the other.
//
// Two sides use a cell. A holder (holder.go) raises the value and sleeps. The
// kernel (kernel.go), one per cell and always under its own lock, is the only one
// that lowers the value, and trusts nothing that it reads there: a holder may be
// wrong or hostile, so each word is read once, checked, and used.
//
// All operations on shared words are sequentially consistent; sync/atomic offers
// nothing weaker. There are no locks here.
package page
