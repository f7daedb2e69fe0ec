// Package model holds spin models of the lock-free protocols, and the test that
// checks them: the protocol as it is must hold in every interleaving, and each
// mutant, which leaves out or spoils one step, must fail. A mutant that passes
// means that the model does not see what the step is for.
//
// The models cover orders of steps, not of memory: every step is sequentially
// consistent in them. docs/protocol-pages.md says what else they leave out.
package model
