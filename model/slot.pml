/* Slots: taken, given back, taken by the next, swept after a death.
 *
 * One page with one slot. Sleeper 1 (bell 1) waits for value 1 and may be killed at any step; sleeper 2
 * (bell 2) waits for value 2. Whoever finds the slot taken goes away, for its wait is the
 * kernel's. A signaller raises the value to 1, then to 2. The kernel sweeps after the death of sleeper 1.
 * Then a new process with a new sleeper (value 2) may be given bell 1 again.
 *
 * Each of these does one step wrong, and must make an assertion fail:
 *   LEAVE_REVERSED   Leave frees the slot first, then clears the bit
 *   SWEEP_REVERSED   Sweep frees the slot first, then clears the bit
 *   WANT_FIRST       Claim sets the bit first, then takes the slot
 *   NO_CAS           Claim looks and stores instead of compare-and-swap
 *   NO_FREE          Sweep does not free the slots of the dead
 *   BELL_EARLY       a dead process's bell is given away before the sweep
 */
byte value = 0, want = 0, slot = 0;     /* the page */
byte bell[3];                           /* futex words by bell number */
bool asleep[3];

bool dead1 = false, swept = false;
bool over[4];                           /* sleeper n is done, dead, or gone to the kernel */

#define MAYDIE  if :: true :: mortal -> dead1 = true; goto out fi

proctype Sleeper(byte n; byte mine; byte goal; bool mortal) {
        byte b;
        MAYDIE;
#ifdef WANT_FIRST
        want = want | 1; MAYDIE;
        atomic { if :: slot == 0 -> slot = mine :: else -> goto out fi };
#else
#ifdef NO_CAS
        if :: slot == 0 -> skip :: else -> goto out fi;
        slot = mine;
#else
        atomic { if :: slot == 0 -> slot = mine :: else -> goto out fi };
#endif
        MAYDIE;
        want = want | 1;
#endif
        MAYDIE;
look:   b = bell[mine];
        if :: value >= goal -> goto leave :: else fi;
        atomic { if :: bell[mine] == b -> asleep[mine] = true :: else -> goto look fi };
        if :: !asleep[mine]
           :: mortal -> dead1 = true; goto out fi;
        goto look;
leave:  b = 0;
#ifdef LEAVE_REVERSED
        slot = 0; MAYDIE;
        want = want & ~1;
#else
        want = want & ~1; MAYDIE;
        slot = 0;
#endif
out:    b = 0; over[n] = true
}

inline ring(n) { bell[n] = (bell[n] + 1) % 4; asleep[n] = false }

proctype Signaller() {
        byte v = 1, w, s;
        do
        :: v <= 2 ->
                value = v;
                w = want;
                if :: w & 1 -> s = slot;
                        if :: s -> bell[s] = (bell[s] + 1) % 4; asleep[s] = false
                           :: else fi
                   :: else fi;
                w = 0; s = 0;
                v++
        :: else -> break
        od
}

proctype Kernel() {
        byte s;
#ifdef BELL_EARLY
        if :: dead1 -> run Sleeper(3, 1, 2, false)
           :: timeout -> goto out fi;
#else
        if :: dead1
           :: timeout -> goto out fi;
#endif
        s = slot;
        if :: s == 1 ->
#ifndef NO_FREE
#ifdef SWEEP_REVERSED
                slot = 0;
                want = want & ~1
#else
                want = want & ~1;
                atomic { if :: slot == 1 -> slot = 0 :: else fi }
#endif
#else
                skip
#endif
           :: s == 2 -> bell[2] = (bell[2] + 1) % 4; asleep[2] = false
           :: else
        fi;
        swept = true;
#ifndef BELL_EARLY
        run Sleeper(3, 1, 2, false);
#endif
out:    s = 0
}

active proctype Judge() {
        timeout;
        if :: !dead1 -> over[3] = true :: else fi;
        assert(over[1] && over[2] && over[3]);  /* nobody is stuck     */
        assert(slot == 0 && want == 0)          /* nothing left behind */
}

init { atomic {
        run Sleeper(1, 1, 1, true); run Sleeper(2, 2, 2, false); run Signaller(); run Kernel()
} }
