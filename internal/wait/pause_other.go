//go:build !amd64 && !arm64

package wait

func pause() {}
