package main

import (
	"fmt"
	"strings"

	"github.com/dxgsync/dxgsync/internal/kernel"
)

var (
	adapterTitles = []string{"LUID", "PROFILE", "DESCRIPTION", "WDDM", "NODES", "STATE"}
	processTitles = []string{"PID", "NAME", "UID", "DEVICES", "CONTEXTS", "OBJECTS", "HANDLES", "WAITS", "AGE"}
	objectTitles  = []string{"OBJECT", "HANDLE", "KIND", "VALUE", "STATE", "WAITERS", "OWNER", "RIGHTS", "FLAGS", "AGE"}
	shareTitles   = []string{"NAME", "TYPE", "OBJECT", "HANDLES", "ACCESS"}
	waitTitles    = []string{"OWNER", "KIND", "FOR", "AGE"}
)

func adapterRows(t *table, rows []kernel.AdapterInfo) {
	for _, a := range rows {
		t.row(a.LUID, a.Profile, a.Description, a.WDDM, a.Nodes, map[bool]string{false: "up", true: "stopped"}[a.Stopped])
	}
}

func processRows(t *table, rows []kernel.ProcessRow) {
	for _, p := range rows {
		t.row(p.PID, p.Name, p.UID, p.Devices, p.Contexts, p.Objects, p.Handles, p.Waits, age(p.Age))
	}
}

func objectRows(t *table, rows []kernel.ObjectRow) {
	for _, o := range rows {
		owner := fmt.Sprint(o.PID)
		if !o.Created {
			owner += " (opened)"
		}
		t.row(fmt.Sprintf("#%d", o.Object), fmt.Sprintf("%#x", uint32(o.Handle)), o.Kind, objectValue(o), o.State, o.Waiters, owner, o.Rights, dash(o.Flags), age(o.Age))
	}
}

func shareRows(t *table, rows []kernel.NTObjectRow) {
	for _, o := range rows {
		t.row(dash(o.Name), o.Type, fmt.Sprintf("#%d", o.Object), o.Handles, o.Access)
	}
}

func waitRows(t *table, rows []kernel.WaitRow) {
	for _, w := range rows {
		t.row(w.PID, w.Kind, points(w), age(w.Age))
	}
}

// points says what a wait is for: "#7 5→8" is object 7 at 5, waited for at 8.
func points(w kernel.WaitRow) string {
	const most = 8
	var list []string
	for i, p := range w.Points {
		if i == most {
			list = append(list, fmt.Sprintf("%d more", len(w.Points)-most))
			break
		}
		list = append(list, fmt.Sprintf("#%d %s→%s", p.Object, value(p.Value), value(p.Target)))
	}
	switch len(w.Points) {
	case 0:
		return w.Mode
	case 1:
		return list[0]
	}
	return w.Mode + " of " + strings.Join(list, ", ")
}

// value writes a fence value; all ones is what a lost fence shows.
func value(v uint64) string {
	if v == 1<<64-1 {
		return "max"
	}
	return fmt.Sprint(v)
}

func dash(s string) string {
	if s == "" || s == "0" {
		return "-"
	}
	return s
}

// objectValue is "-" for kinds that have none.
func objectValue(o kernel.ObjectRow) string {
	switch o.Kind {
	case "mutex", "cpu-notification", "resource":
		return "-"
	}
	return value(o.Value)
}
