/* The fence page: no wake-up is lost, no wait ends too early, nothing is left behind.
 *
 * One shared fence. Signaller A may be killed at any step. Signaller B, if there is one, signals, has
 * the kernel lower the value, and signals again. One sleeper in a third process waits on its bell;
 * it may be killed too. The kernel registers a wait of its own at any time, answers rings, lowers
 * the value when asked, and sweeps after a death. With KDEATH the kernel dies at any step
 * instead of signaller A, which may be missing too, and the watcher in the sleeper's process has to free it.
 *
 * ONCE: the value is lowered once only, for every test run. Without it: twice. ASK: it is
 * not lowered; instead the page asks, from any moment on, for signals and waits by request. That is
 * what REQUEST does, too, but for a wait that finds its value reached: it ends there, or not.
 *
 * Steps are named after the methods of internal/page. They are sequentially consistent here, and
 * so they have to be in the code.
 *
 * Each of these leaves one step out or does it wrong, and must make an assertion fail:
 *   NO_RECHECK       Claim is not followed by a look at the value
 *   NO_ARM_RECHECK   Arm is not followed by a look at the value
 *   NO_SWEEP         nobody looks at the page of a killed signaller
 *   NO_SWEEP_WAKE    the sweep judges the kernel's waits but rings no sleeper
 *   NO_PEAK          a sleeper that was there before a lowering sees only the value
 *   NO_JUDGE         Lower does not judge the value that goes
 *   CLIENT_LOWERS    a signaller lowers the value itself
 *   NO_BUMP          waking without changing the bell
 *   LOOK_THEN_STORE  the want word is read before the value is stored
 *   TRUST_RING       the kernel believes the value in a ring instead of reading it
 *   SLOT_LATE        the slot is taken after the look at the value
 *   LATE_PAGE_WAIT   a wait that begins after a lowering sleeps on the page
 *   ASK_BLIND        (ASK) a signaller stores a value without looking whether the page asks
 *   ASK_SLEEP        (ASK) a wait that begins on a page that asks sleeps there
 *   ASK_NO_WAKE      (ASK) a signal by request wakes nobody who sleeps on the page
 *   ASK_NO_JUDGE     (ASK) a signal by request judges no wait of the kernel's
 *   NO_WATCHER       (KDEATH) nobody notices that the kernel is dead
 */
#define NONE  7                 /* monitored value when the kernel waits for nothing  */
#define GOAL  2                 /* both waits want value >= 2                         */
#define KBIT  1                 /* bits of the want word: the kernel, slot 0          */
#define SBIT  2

/* The page. */
byte value   = 0;               /* raised by compare-and-swap; only the kernel lowers  */
byte mval    = NONE;            /* kernel only                                         */
byte want    = 0;               /* atomic or, and                                      */
byte slot    = 0;               /* bell number or 0                                    */
bool lowered = false;           /* kernel only; never cleared                          */
byte peak    = 0;               /* kernel only: highest value ever lowered from        */
bool asks    = false;           /* kernel only; never cleared                          */

/* The sleeper's bell. */
byte bell    = 0;
bool asleep  = false;

/* Who is dead (as the kernel and the watcher learn it), who has finished. */
bool deadA = false, deadS = false, deadK = false, kernelLost = false;
bool satisfied = false, left = false;
bool released = false, armed = false;

chan ring  = [2] of { byte };   /* the value signalled: a hint                         */
chan lower = [1] of { byte };   /* request: lower to                                   */
chan reply = [1] of { bit };
chan request = [2] of { byte }; /* signal by request                                   */

/* Ghosts. A wait may end only if the value reached the goal after the call began (may). It must
 * end if the value reached it after the call's first look, or after it was registered (must). */
bool sCalled = false, sSeen = false, sMay = false, sMust = false;   /* the sleeper        */
bool kCalled = false, kSeen = false, kMay = false, kMust = false;   /* the kernel's wait  */
#define REACH(v)  if :: v >= GOAL -> sMay = sMay || sCalled; sMust = sMust || sSeen; \
                                     kMay = kMay || kCalled; kMust = kMust || kSeen  \
                     :: else fi

/* A call that began when the page asked already must not use it. */
#ifdef ASK
#define BEGIN(c)  c = asks
#define USE(c)    assert(!c)
#else
#define BEGIN(c)  skip
#define USE(c)    skip
#endif

inline wake()     { asleep = false }
inline ringBell() {
#ifndef NO_BUMP
        bell = (bell + 1) % 8;
#endif
        skip; wake() }

/* Dying matters only after something was written: a process that dies before a read and one that
 * does after it leave the same behind. */
#define MAYDIE(f)  if :: true :: mortal -> f = true; goto dead fi

proctype Signaller(byte v; bool mortal; bool rewinds) {
        byte c, w, m;
#ifdef ASK
        bool late;
#endif
#ifdef LOOK_THEN_STORE
        w = want;
#endif
again:  atomic { BEGIN(late); c = value };      /* Raise */
        if :: v < c -> goto out                 /* lower: the kernel's to judge */
           :: else fi;
#ifdef ASK
#ifndef ASK_BLIND
        if :: asks -> if :: request!v :: deadK fi; goto out
           :: else fi;
#endif
#endif
        if :: v == c -> USE(late); goto look
           :: else fi;
cas:    atomic { if :: value == c -> USE(late); value = v; REACH(v); goto look
                    :: else c = value fi };
        if :: v > c -> goto cas :: else fi;     /* higher: ours counts as the earlier */
look:   c = 0;
        MAYDIE(deadA);
#ifndef LOOK_THEN_STORE
        w = want;
#endif
        if :: w & SBIT ->                       /* WakeSlots */
                if :: slot ->
#ifndef NO_BUMP
                                bell = (bell + 1) % 8;
#endif
                                MAYDIE(deadA);
                                wake(); MAYDIE(deadA)
                   :: else fi
           :: else fi;
        if :: w & KBIT ->                       /* WantsNews */
                if :: c = value :: c = v fi;    /* either will do; the C library knows only v */
                m = mval;
                if :: c > m -> m = 0; c = 0; if :: ring!v :: deadK fi
                   :: else fi
           :: else fi;
out:    c = 0; w = 0; m = 0;
        if :: rewinds ->
#ifdef CLIENT_LOWERS
                value = 0;
#else
                if :: lower!0 -> if :: reply?0 :: deadK fi
                   :: deadK fi;
#endif
#if !defined(KDEATH) && !defined(ONCE)
                if :: v == GOAL -> v = GOAL - 1; goto again    /* once more, below the goal */
                   :: else fi
#endif
           :: else fi;
dead:   c = 0; w = 0; m = 0
}

proctype Sleeper(bool mortal) {
        byte b;
#ifdef ASK
        bool late;
#endif
        atomic { sCalled = true; BEGIN(late); REACH(value) };
#ifdef ASK
#ifndef ASK_SLEEP
        if :: asks -> left = true; goto out     /* such a wait is the kernel's */
           :: atomic { asks && value >= GOAL -> assert(sMay); satisfied = true; left = true; goto out }  /* REQUEST */
           :: else fi;
#endif
#endif
#ifndef LATE_PAGE_WAIT
        if :: lowered -> left = true; goto out  /* such a wait is the kernel's */
           :: else fi;
#endif
#ifndef SLOT_LATE
        slot = 1;                               /* Claim */
        USE(late);
        MAYDIE(deadS);
#endif
        want = want | SBIT;
        MAYDIE(deadS);
#ifdef NO_RECHECK
        atomic { b = bell; sSeen = true; REACH(value) };
        goto sleep;
#endif
look:   b = bell;                               /* the bell first, then everything else */
        if :: kernelLost -> goto leave :: else fi;
        atomic { if :: value >= GOAL -> goto leave :: else -> sSeen = true fi };    /* Satisfied */
#ifndef NO_PEAK
        if :: lowered && peak >= GOAL -> goto leave :: else fi;
#endif
#ifdef SLOT_LATE
        slot = 1;
#endif
sleep:  atomic { if :: bell == b -> asleep = true :: else -> goto look fi };
end:    if :: !asleep
           :: mortal -> deadS = true; goto dead fi;
        goto look;
leave:  assert(sMay || kernelLost);             /* not too early */
        satisfied = true;
        b = 0;
        MAYDIE(deadS);
        want = want & ~SBIT;                    /* Leave */
        MAYDIE(deadS);
        slot = 0;
        left = true;
        goto out;
dead:   left = true; b = 0;
out:    skip
}

#ifdef KDEATH
#define KMAYDIE   if :: true :: deadK = true; goto gone fi
#else
#define KMAYDIE   skip
#endif

inline release() { assert(kMay); released = true; mval = NONE; want = want & ~KBIT }
inline judge(v)  { if :: armed && !released && v >= GOAL -> release() :: else fi }

proctype Kernel() {
        byte c, v, low;
        bool sweptA = false, sweptS = false;
loop:   KMAYDIE;
end:    if
        :: !armed ->                            /* a wait is registered: Arm */
                atomic { kCalled = true; REACH(value) };
                mval = GOAL - 1; KMAYDIE;
                atomic { want = want | KBIT; armed = true; kSeen = true; REACH(value) }; KMAYDIE;
#ifndef NO_ARM_RECHECK
                c = value; judge(c);
#endif
        :: ring?v ->
#ifdef TRUST_RING
                judge(v)
#else
                c = value; judge(c)
#endif
        :: lower?low ->                         /* Lower */
again:          c = value; KMAYDIE;
#ifndef NO_JUDGE
                judge(c);
#endif
                peak = (c > peak -> c : peak); KMAYDIE;
                lowered = true; KMAYDIE;
                atomic { if :: value == c -> value = low :: else -> goto again fi };
                KMAYDIE;
                reply!0
#ifdef ASK
        :: !asks -> asks = true                 /* SetAsk */
        :: request?v ->                         /* Raise, as the kernel does it */
up:             c = value; KMAYDIE;
                if :: c < v -> atomic { if :: value == c -> value = v; REACH(v) :: else -> goto up fi }
                   :: else fi;
#ifndef ASK_NO_JUDGE
                c = value; judge(c); KMAYDIE;
#endif
#ifndef ASK_NO_WAKE
                if :: want & SBIT -> if :: slot -> ringBell() :: else fi
                   :: else fi
#endif
#endif
        :: deadA && !sweptA -> sweptA = true;   /* Sweep: ring whoever is left */
#ifndef NO_SWEEP
                c = value; judge(c); KMAYDIE;
#ifndef NO_SWEEP_WAKE
                if :: slot -> ringBell() :: else fi
#endif
#endif
        :: deadS && !sweptS -> sweptS = true;   /* Sweep: free what the dead held */
                want = want & ~SBIT; KMAYDIE;
                slot = 0
#ifdef KDEATH
        :: deadK = true; goto gone
#endif
        fi;
        goto loop;
gone:   skip
}

/* A thread of the sleeper's process that waits for the end of the session. */
active proctype Watcher() {
end:    deadK;
#ifndef NO_WATCHER
        kernelLost = true;
        ringBell()
#endif
}

active proctype Judge() {
        timeout;
        assert(!(sMust && !satisfied && !left));        /* no sleeper is stuck   */
        assert(deadK || !(kMust && !released));
        assert(!(deadK && !satisfied && !left));
        assert(deadK || !left || (slot == 0 && !(want & SBIT)));    /* nothing left behind */
        assert(deadK || !released || (mval == NONE && !(want & KBIT)))
}

init { atomic {
#ifdef KDEATH
        if :: run Signaller(GOAL, false, false) :: skip fi;
#else
        run Signaller(GOAL, true, false);
#endif
#ifdef ASK
        if :: run Signaller(GOAL, false, false) :: skip fi;
#else
        if :: run Signaller(GOAL, false, true) :: skip fi;  /* it helps A: wakes whom A left asleep */
#endif
        if :: run Sleeper(true) :: run Sleeper(false) fi;   /* one that may die hides a stuck one */
        run Kernel()
} }
