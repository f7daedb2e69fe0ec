package dxgsync

import (
	"time"

	"github.com/dxgsync/dxgsync/internal/vidsch"
)

// TDR says how a kernel finds engines that hang, and recovers them: timeout detection
// and recovery, with the settings that Windows keeps under GraphicsDrivers in its
// registry. Zero fields are those of $DXGSYNC_TDR, or else Windows' defaults.
type TDR struct {
	// Off finds nothing hung (TdrLevel 0).
	Off bool
	// Delay is how long an engine may take to answer when it is asked to stop (TdrDelay,
	// 2 s). Work that can be preempted may take any time.
	Delay time.Duration
	// DdiDelay is how long the driver may take to reset (TdrDdiDelay, 5 s).
	DdiDelay time.Duration
	// LimitCount and LimitTime are how many resets there may be in which time, before the
	// adapter stops or a process that hung so often is kept away from it (TdrLimitCount,
	// 5; TdrLimitTime, 60 s).
	LimitCount int
	LimitTime  time.Duration
}

// WithTDR sets how the session's own kernel watches its GPUs. It has no effect on a
// daemon, which has flags of its own.
func WithTDR(t TDR) Option { return func(o *options) { o.tdr = t } }

// over replaces what t says in other settings.
func (t TDR) over(base vidsch.TDR) vidsch.TDR {
	if t.Off {
		base.Level, base.Set = 0, true
	}
	for _, f := range []struct {
		field *int64
		value time.Duration
	}{{&base.Delay, t.Delay}, {&base.DdiDelay, t.DdiDelay}, {&base.LimitTime, t.LimitTime}} {
		if f.value != 0 {
			*f.field = int64(f.value)
		}
	}
	if t.LimitCount != 0 {
		base.LimitCount = t.LimitCount
	}
	return base
}
