package bench

import (
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// Every target of ours that is compared with a floor of ours can be measured, and
// the floors program has every floor of the machine that it names.
func TestTargetsCanBeMeasured(t *testing.T) {
	program := filepath.Join(t.TempDir(), "floors")
	if out, err := exec.Command("cc", "-std=gnu11", "-O2", "-Wall", "-Wextra", "-Werror", "-o", program, "../../bench/floors.c").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	out, err := exec.Command(program).Output()
	if err != nil {
		t.Fatal(err)
	}
	floors := strings.Fields(string(out))
	wanted := strings.Fields(`P.value P.signal_none P.signal_none_shared P.signal_daemon.same.rtt P.wait_satisfied
		P.pingpong_proc.same.rtt P.pingpong_spin_proc.diff.rtt P.pingpong_goroutine.rtt P.wait_any32_satisfied
		P.wait_any32_proc.same.rtt P.waiters10k.signal P.waiters10k.until_ran P.waiters10k_proc.same.until_ran_rtt
		P.queue_chain_512 P.create_destroy P.create_destroy_shared P.share_open.same.rtt P.memory_private P.memory_waiter P.million_private
		P.native.signal_no_waiter P.native.gpu_chain P.native.gpu_chain_buffers P.native.interrupts P.native.interrupts_waited P.doorbell.submit
		P.vsync60.jitter.p99 P.vsync240.jitter.p99`)
	compared := map[string]bool{}
	for _, target := range Targets() {
		here := slices.Contains(floors, target.Reference) || goFloors[target.Reference] != nil ||
			local[target.Reference] != nil || pairs[target.Reference].measure != nil
		if here {
			compared[target.Metric] = true
		}
	}
	for _, name := range wanted {
		if local[name] == nil && pairs[name].measure == nil {
			t.Errorf("%s is not measured", name)
		}
		if !compared[name] && name != "P.memory_private" { // its only reference is a peer
			t.Errorf("%s is compared with nothing that is measured here", name)
		}
	}
}

func TestRatiosAreMediansWithinARound(t *testing.T) {
	r := Results{
		"P.value": {2, 30, 4},
		"A1.load": {1, 10, 4},
	}
	if m, ok := r.Median("P.value"); m != 4 || !ok {
		t.Errorf("Median = %v, %v", m, ok)
	}
	if ratio, ok := r.Ratio("P.value", "A1.load"); ratio != 2 || !ok {
		t.Errorf("Ratio = %v, %v; want the median of 2, 3 and 1", ratio, ok)
	}
	rows := r.Rows()
	i := slices.IndexFunc(rows, func(row Row) bool { return row.Reference == "A1.load" })
	if i < 0 || rows[i].Met || !rows[i].Measured || rows[i].Max != 1 {
		t.Errorf("rows: %+v", rows)
	}
	var b strings.Builder
	if err := r.WriteTable(&b); err != nil || !strings.Contains(b.String(), "MISSED") {
		t.Errorf("the table says %q, %v", b.String(), err)
	}
	b.Reset()
	if err := r.WriteTSV(&b); err != nil || b.String() != "A1.load\t4\tns\nP.value\t4\tns\n" {
		t.Errorf("the lines are %q, %v", b.String(), err)
	}
}

func TestFormsOfAmounts(t *testing.T) {
	for _, c := range []struct {
		v          float64
		unit, want string
	}{{0.5, "ns", "0.5 ns"}, {1234, "ns", "1.2 µs"}, {250_000, "ns", "250 µs"}, {64, "bytes", "64 B"}, {12.34, "ms", "12.3 ms"}, {1000, "interrupts", "1000"}} {
		if got := amount(c.v, c.unit); got != c.want {
			t.Errorf("amount(%v, %s) = %q, want %q", c.v, c.unit, got, c.want)
		}
	}
}

func TestPercentile(t *testing.T) {
	var hundred, tenThousand []float64
	for i := range 10_000 {
		tenThousand = append(tenThousand, float64(10_000-i))
	}
	hundred = tenThousand[9_900:]
	for _, c := range []struct {
		values []float64
		want   float64
	}{{[]float64{7}, 7}, {[]float64{2, 1}, 2}, {hundred, 99}, {tenThousand, 9900}} {
		if got := percentile(c.values, 99); got != c.want {
			t.Errorf("of %d values: %v, want %v", len(c.values), got, c.want)
		}
	}
}
