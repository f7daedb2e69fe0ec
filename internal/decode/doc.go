// Package decode explains numbers and bytes that a person found in a debugger: flag
// words, statuses, handles, and the records of calls. Everything it knows of them it
// takes from package abi; every error says what was wrong and what to do.
package decode
