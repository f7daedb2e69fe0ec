package dxgsync

import "os"

// ErrClosed is the error of a use of something that was closed before, by itself
// or with what it belongs to. errors.Is(ErrClosed, os.ErrClosed) holds.
var ErrClosed error = closedError{}

type closedError struct{}

func (closedError) Error() string        { return "dxgsync: use of closed object" }
func (closedError) Is(target error) bool { return target == os.ErrClosed }
