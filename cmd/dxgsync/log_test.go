package main

import (
	"bytes"
	"testing"

	"github.com/dxgsync/dxgsync/abi"
	"github.com/dxgsync/dxgsync/internal/kernel"
)

func TestPrintLog(t *testing.T) {
	report := kernel.FenceLogReport{
		Queues: []kernel.FenceLogRow{{Queue: 0x40000240, PID: 7}, {Queue: 0x40000380, PID: 8, Lost: 3, Wrong: 1}},
		Events: []kernel.FenceEventRow{
			{PID: 7, Queue: 0x40000240, Operation: "SIGNAL_EXECUTED", Fence: 0x400001c0, Value: 1<<64 - 1},
			{PID: 8, Queue: 0x40000380, Operation: "SIGNAL_EXECUTED", Object: 2, Fence: 0x400001c0, Value: 7, End: 100307420, Time: 1003074200},
			{PID: 7, Queue: 0x40000240, Operation: "WAIT_UNBLOCKED", Object: 2, Fence: 0x400001c0, Value: 7, Observed: 1, End: 100307421, Time: 1003074210, Waited: 3_074_200},
		},
	}
	var w, messages bytes.Buffer
	if err := printLog(&w, &messages, report, true); err != nil {
		t.Fatal(err)
	}
	const want = `TIME                 PROCESS    QUEUE       WHAT       FENCE       VALUE                WAITED    TICKS
-                    7          0x40000240  signal     0x400001c0  max                  -         0
1.003074200          8          0x40000380  signal     #2          7                    -         100307420
1.003074210          7          0x40000240  unblocked  #2          7                    3.1ms     100307421
`
	if w.String() != want {
		t.Errorf("got\n%swant\n%s", w.String(), want)
	}
	const said = `3 events of 0x40000380 of process 8 were written over before anybody read them; --entries makes its logs larger
the log of 0x40000380 of process 8 had 1 times what no GPU writes; the program writes there itself
`
	if messages.String() != said {
		t.Errorf("said\n%swant\n%s", messages.String(), said)
	}
	w.Reset()
	report.Events = report.Events[2:]
	if err := printLog(&w, &messages, report, false); err != nil || messages.String() != said || bytes.Count(w.Bytes(), []byte("\n")) != 1 {
		t.Errorf("later: %q, %q, %v", w.String(), messages.String(), err)
	}
}

func TestCheckLog(t *testing.T) {
	found := foundKernel{place{Address: "/a"}, &kernel.Snapshot{
		Processes: []kernel.ProcessRow{{PID: 7}, {PID: 8}},
		Queues: []kernel.QueueRow{
			{PID: 7, Handle: 0x40, Kind: "context"},
			{PID: 7, Handle: 0x80, Kind: "hw-queue", Log: true},
			{PID: 8, Handle: 0x40, Kind: "hw-queue"},
		},
	}}
	for _, c := range []struct {
		pid    uint32
		handle abi.Handle
		want   string
	}{
		{0, 0, ""},
		{7, 0, ""},
		{7, 0x80, ""},
		{9, 0, "the kernel at /a has no process 9; dxgsync ls processes shows those it has"},
		{7, 0x40, "0x40 of process 7 is a context that the kernel fills, so it knows what happens there and the GPU keeps no log; dxgsync ls queues shows what it waits for"},
		{7, 0xC0, "process 7 has no hardware queue 0xc0; those with logs are 0x80"},
		{8, 0xC0, "process 8 has no hardware queue 0xc0, and none that it fills by itself"},
	} {
		got := ""
		if err := (target{ProvokeFault: abi.ProvokeFault{PID: c.pid, Handle: c.handle}}).checkLog(found); err != nil {
			got = err.Error()
		}
		if got != c.want {
			t.Errorf("%d/%v: %q, want %q", c.pid, c.handle, got, c.want)
		}
	}
}
