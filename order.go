//go:build !race

package dxgsync

type order struct{}

func (*order) release()      {}
func (*order) acquire()      {}
func (*order) follow(*order) {}
