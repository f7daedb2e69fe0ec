package kernel

import (
	"testing"

	"github.com/dxgsync/dxgsync/abi"
	"github.com/dxgsync/dxgsync/cmdbuf"
)

// D3 takes all doorbells away and holds everything; connecting one wakes the adapter.
func TestPowerOfDoorbells(t *testing.T) {
	r := newBellRig(t, nil)
	power := func(s abi.PowerState) {
		t.Helper()
		report, st := r.k.Provoke(abi.ProvokeFault{Kind: abi.FaultPower, AdapterLuid: r.k.adapters[0].LUID, State: s})
		if r.ok(st); report.State != s.String() {
			t.Errorf("the report says %q", report.State)
		}
	}
	b, other := r.bell(), r.bell()
	r.ok(b.connect())
	b.put(cmdbuf.New().Delay(short, 0))
	r.run(1000)
	power(abi.PowerD3)
	b.want("D3", abi.DoorbellDisconnectedRetry, 0)
	other.put(cmdbuf.New())
	r.run(10_000_000_000)
	b.want("D3", abi.DoorbellDisconnectedRetry, 0)
	power(abi.PowerD0)
	r.run(2 * short)
	b.want("D0", abi.DoorbellDisconnectedRetry, 1)
	power(abi.PowerD3)
	b.put(cmdbuf.New())
	r.run(short)
	r.ok(other.connect())
	other.want("connected", abi.DoorbellConnected, 0)
	r.run(short)
	other.want("awake", abi.DoorbellConnected, 1)
	r.ok(b.connect())
	r.run(short)
	b.want("awake", abi.DoorbellConnected, 2)
	for _, f := range []abi.ProvokeFault{
		{Kind: abi.FaultPower, PID: 1, State: abi.PowerD3},
		{Kind: abi.FaultPower, AdapterLuid: r.k.adapters[0].LUID, State: 2},
		{Kind: abi.FaultReset, AdapterLuid: r.k.adapters[0].LUID, State: abi.PowerD3},
	} {
		if _, st := r.k.Provoke(f); st != abi.StatusInvalidParameter {
			t.Errorf("%+v: %v", f, st)
		}
	}
}

// An adapter without doorbells has no power states.
func TestPowerWithoutDoorbells(t *testing.T) {
	r := newRig(t, "amd")
	f := abi.ProvokeFault{Kind: abi.FaultPower, AdapterLuid: r.k.adapters[0].LUID, State: abi.PowerD3}
	if report, st := r.k.Provoke(f); st != abi.StatusNotSupported || report.State != "" {
		t.Errorf("%v, %+v", st, report)
	}
}
