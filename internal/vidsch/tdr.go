package vidsch

// TDR says how engines are watched: the settings that Windows reads from
// HKLM\System\CurrentControlSet\Control\GraphicsDrivers, with its names but for the
// prefix Tdr, and the scheduler's quantum. Times are in nanoseconds. Source: page
// "Testing and debugging TDR during driver development"; gpu.md §8.1.
type TDR struct {
	// Level is 0: no detection; 1: bug check at once; 3: recover. 2, recover to VGA, is
	// taken as 3. Nil means 3.
	Level int
	// Delay is how long an engine may take to answer a preemption. Default 2 s.
	Delay int64
	// DdiDelay is how long a call of the driver for a recovery may take. Default 5 s.
	DdiDelay int64
	// DebugMode 1 ignores timeouts; all other values recover. Default 2.
	DebugMode int
	// LimitTime and LimitCount are how many resets of the adapter there may be in which
	// time; the next one is a bug check. Default 5 in 60 s.
	LimitTime  int64
	LimitCount int
	// Quantum is how long a packet runs before it is asked to stop. Ours; default 20 ms.
	Quantum int64
	// Set says that Level is meant even if it is 0.
	Set bool
}

const second = 1_000_000_000

// WithDefaults fills in what is not set.
func (t TDR) WithDefaults() TDR {
	if !t.Set && t.Level == 0 {
		t.Level = 3
	}
	set := func(field *int64, value int64) {
		if *field == 0 {
			*field = value
		}
	}
	set(&t.Delay, 2*second)
	set(&t.DdiDelay, 5*second)
	set(&t.LimitTime, 60*second)
	set(&t.Quantum, 20_000_000)
	if t.LimitCount == 0 {
		t.LimitCount = 5
	}
	if t.DebugMode == 0 {
		t.DebugMode = 2
	}
	return t
}

// off reports whether nothing is ever found hung.
func (t *TDR) off() bool { return t.Level == 0 || t.DebugMode == 1 }
