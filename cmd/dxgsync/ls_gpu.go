package main

import (
	"fmt"
	"strings"

	"github.com/dxgsync/dxgsync/internal/kernel"
)

var (
	engineTitles   = []string{"ENGINE", "ADAPTER", "NODE", "STATE", "RUNS", "FOR", "AT-GPU", "READY"}
	deviceTitles   = []string{"DEVICE", "OWNER", "NAME", "ADAPTER", "STATE", "CONTEXTS", "AGE"}
	queueTitles    = []string{"QUEUE", "OWNER", "KIND", "ENGINE", "PRIORITY", "PACKETS", "AT-GPU", "WAITS-FOR", "AGE"}
	nativeTitles   = []string{"OBJECT", "TYPE", "ADAPTER", "VALUE", "STORED", "MONITORED", "STORED", "ADAPTERS", "OPENS"}
	incidentTitles = []string{"AGO", "ADAPTER", "WHAT", "CODE", "ENGINE", "BY"}
)

func engineRows(t *table, rows []kernel.EngineRow) {
	for _, e := range rows {
		runs, since := "-", "-"
		if e.PID != 0 {
			runs = fmt.Sprintf("pid:%d/%v", e.PID, e.Queue)
		}
		if e.Age != 0 {
			since = age(e.Age)
		}
		t.row(e.Engine, e.Adapter, e.Node, e.State, runs, since, e.AtGPU, e.Ready)
	}
}

func deviceRows(t *table, rows []kernel.DeviceRow) {
	for _, d := range rows {
		state := d.State
		if d.FaultAddress != 0 {
			state += fmt.Sprintf(" at %#x", d.FaultAddress)
		}
		t.row(d.Handle, d.PID, d.Name, d.Adapter, state, d.Contexts, age(d.Age))
	}
}

func queueRows(t *table, rows []kernel.QueueRow) {
	for _, q := range rows {
		priority := fmt.Sprint(q.Priority)
		if q.InFront {
			priority += " in front"
		}
		packets, atGPU := fmt.Sprint(q.Packets), fmt.Sprint(q.AtGPU)
		if q.Kind == "hw-context" {
			packets, atGPU = "-", "-" // its queues have them
		}
		kind := q.Kind
		if q.Kind == "user-queue" { // how far it has come, of what its program has promised
			if packets, atGPU = fmt.Sprint(q.Progress), "-"; q.Doorbell != nil {
				packets += fmt.Sprintf("/%d", q.Doorbell.LastQueued)
				kind += " " + q.Doorbell.Status
			}
		}
		t.row(q.Handle, q.PID, kind, q.Engine, priority, packets, atGPU, queuePoints(q.Waits), age(q.Age))
	}
}

// queuePoints says what a queue waits for: "#7 5→8" is a fence, number 7, at 5, waited for
// at 8; "#9 mutex" one of the kinds without a target.
func queuePoints(points []kernel.QueuePointRow) string {
	var list []string
	for _, p := range points {
		switch p.Kind {
		case "native-fence":
			point := fmt.Sprintf("#%d %s→%s", p.Object, value(p.Value), value(p.Target))
			if p.AtGPU {
				point += " at the GPU"
			}
			list = append(list, point)
		case "mutex", "semaphore", "cpu-notification":
			list = append(list, fmt.Sprintf("#%d %s", p.Object, p.Kind))
		default:
			list = append(list, fmt.Sprintf("#%d %s→%s", p.Object, value(p.Value), value(p.Target)))
		}
	}
	return dash(strings.Join(list, ", "))
}

// nativeRows are native fences: where the current and the monitored value are stored, and
// which. max as the monitored value: no CPU waits.
func nativeRows(t *table, rows []kernel.NativeRow) {
	for _, n := range rows {
		adapters := "one"
		switch {
		case n.Direct:
			adapters = "several, direct"
		case n.Crosses:
			adapters = "several"
		}
		t.row(fmt.Sprintf("#%d", n.Object), n.Type, n.Adapter, value(n.Value), n.CurrentStored, value(n.Monitored), n.MonitoredStored, adapters, n.Opens)
	}
}

func incidentRows(t *table, rows []kernel.IncidentRow) {
	for _, i := range rows {
		code, by := "-", "-"
		if i.Code != 0 {
			code = fmt.Sprintf("%#x", i.Code)
		}
		if i.PID != 0 {
			by = fmt.Sprintf("%d %s", i.PID, i.Name)
		}
		t.row(age(i.Age), i.Adapter, i.What, code, dash(i.Engine), by)
	}
}
