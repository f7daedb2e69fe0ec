package main

import (
	"strings"
	"testing"
	"time"

	"github.com/dxgsync/dxgsync/internal/kernel"
)

func TestAge(t *testing.T) {
	tests := []struct {
		age  time.Duration
		want string
	}{
		{0, "0s"},
		{1234, "1µs"},
		{1234567, "1.2ms"},
		{999 * time.Millisecond, "999ms"},
		{1234 * time.Millisecond, "1.2s"},
		{12345 * time.Millisecond, "12s"},
		{249600 * time.Millisecond, "4m10s"},
		{26*time.Hour + 1, "26h0m0s"},
	}
	for _, tt := range tests {
		if got := age(int64(tt.age)); got != tt.want {
			t.Errorf("age(%v) = %q, want %q", tt.age, got, tt.want)
		}
	}
}

func TestTableKeepsTheCursor(t *testing.T) {
	var b strings.Builder
	tab := newTable(&b, "NAME", "N")
	tab.row("evil\x1b[2J\tname\n", 1)
	if err := tab.flush(); err != nil {
		t.Fatal(err)
	}
	const want = "NAME            N\nevil?[2J?name?  1\n"
	if got := b.String(); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestPoints(t *testing.T) {
	point := kernel.PointRow{Object: 7, Value: 5, Target: 8}
	lost := kernel.PointRow{Object: 9, Value: 1<<64 - 1, Target: 1}
	many := make([]kernel.PointRow, 10)
	tests := []struct {
		wait kernel.WaitRow
		want string
	}{
		{kernel.WaitRow{Mode: "all", Points: []kernel.PointRow{point}}, "#7 5→8"},
		{kernel.WaitRow{Mode: "any", Points: []kernel.PointRow{point, lost}}, "any of #7 5→8, #9 max→1"},
		{kernel.WaitRow{Mode: "all", Points: many}, "all of " + strings.Repeat("#0 0→0, ", 8) + "2 more"},
		{kernel.WaitRow{Mode: "all"}, "all"},
	}
	for _, tt := range tests {
		if got := points(tt.wait); got != tt.want {
			t.Errorf("got %q, want %q", got, tt.want)
		}
	}
}
