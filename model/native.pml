/* The two values of native fences: no wait is stuck, none ends too early, no interrupt is lost, and none
 * comes without a reason.
 *
 * Fence F is signalled by two engines, with 1 and 3 and with 2, so that its value goes back as well as up.
 * Two waits of CPUs for it, at 1 and at 3, are put on the kernel's list at any time; the first may be
 * withdrawn. What the kernel does under its lock is one step here if it touches one word that others
 * write, and several otherwise, as if there were no lock.
 *
 * TWO: the second engine signals a second fence, G, for which there is a wait; the engines share one
 * interrupt, which may name no fence. GPU: a wait of a GPU for F at 2, a CPU that may signal F with 3, and one
 * engine. SHADOW: engines read a copy of the monitored value, which the driver stores before its call
 * returns; then it checks. ALONE: the same with a kernel that does not look again. LAZY: a processor of the
 * GPU makes the copy later, and then checks; one engine. CROSS: as GPU, with the second engine, of
 * another GPU; the monitored value is 0 for life. LOSS: as GPU, and F is lost at any time.
 *
 * All steps are sequentially consistent, and so they have to be in the code.
 *
 * Each of these does one step wrong, and must make an assertion fail:
 *   NO_LOOK          the kernel does not look at the value again after an update
 *   LOOK_FIRST       the kernel looks at the value before the monitored value is stored
 *   CHECK_FIRST      an engine reads the monitored value before it stores the current one
 *   TOO_FAR          who leaves the list raises the monitored value as if it had been the last
 *   OFF_BY_ONE       the monitored value is the lowest wait's, not one below
 *   NO_RAISE         who leaves the list leaves the monitored value where it is
 *   NO_CHECK         an engine interrupts for each signal
 *   UPDATES_CROSS    UpdateMonitoredValues is called by two at a time
 *   BELIEVED         the kernel believes an interrupt instead of reading the value
 *   COLLAPSED        (TWO) of two signals that share an interrupt only the first is named
 *   NOBODY_NAMED     (TWO) an interrupt that names no fence makes the kernel look at none
 *   CPU_UNSEEN       (GPU) a CPU's signal is not judged for the kernel's waits
 *   CPU_NO_KICK      (GPU) a CPU's signal is not told to the GPU
 *   STALL_BLIND      (GPU) a GPU's wait that stalls does not look again
 *   COUNT_FIRST      (GPU) an engine looks for stalled waits before it stores
 *   DRIVER_TRUSTS    (ALONE) the driver does not check either
 *   NO_COPY_CHECK    (LAZY) who copies the monitored value does not read the current one then
 *   CHECK_THEN_COPY  (LAZY) who copies the monitored value reads the current one first
 *   UNLISTED         (CROSS) who is put on the list does not look, as there is no update
 *   NO_NOTICE        (CROSS) the other GPU is not told of a signal
 *   STORED_ONCE      (LOSS) the highest value is not stored again after the driver was told
 *   LOSS_UNSEEN      (LOSS) the kernel believes the value though it knows of the loss
 */
#ifdef ALONE
#define SHADOW
#define NO_LOOK
#ifdef DRIVER_TRUSTS
#define NO_COPY_CHECK
#endif
#endif

#define NONE  7                 /* monitored value when nobody waits; the highest value   */
#define F     0
#define G     1

byte cval[2];                   /* current values                                        */
byte mval[2] = NONE;            /* monitored values                                      */
#if defined(SHADOW) || defined(LAZY)
byte copy[2] = NONE;            /* what the engines read                                 */
#define SEEN(f)   copy[f]
#elif defined(CROSS)
#define SEEN(f)   (f == F -> 0 : mval[f])
#else
#define SEEN(f)   mval[f]
#endif
bool stale[2];                  /* LAZY: it is to be copied                              */

/* The kernel's, under its lock. */
mtype = { OUT, LISTED, FREED, WITHDRAWN };
mtype wait[3] = OUT;            /* for F at 1, F at 3, G at 1                            */
bool due[2];                    /* the monitored value is to be stored anew              */
bool notice = false;            /* CROSS: the GPU with the stalled wait is to be told    */
bool lost = false;              /* F                                                     */

byte irq = 0;                   /* bit f: it may be fence f; both: nobody is named       */
bool ceased = false;            /* the driver knows that F is lost                       */
bool stalled = false, kicked = false, ran = false;      /* the GPU's wait for F at 2     */

/* Ghosts: stores of a monitored value under way; the kernel has yet to look; a wait may end. */
byte storing[2];
bool owed[2], may[3];
#ifdef TOO_FAR
bool far[2];
#endif

#define SETTLED(f)  (!due[f] && !storing[f] && !stale[f])
#define GOAL(w)     (w == 1 -> 3 : 1)
#define BELOW(f, v) ((f == G && wait[2] == LISTED && v >= 1) || \
                     (f == F && wait[0] == LISTED && v >= 1) || (f == F && wait[1] == LISTED && v >= 3))
#define LOWEST(f)   (f == G -> (wait[2] == LISTED -> 1 : NONE) : \
                    (wait[0] == LISTED -> 1 : (wait[1] == LISTED -> 3 : NONE)))
#ifdef OFF_BY_ONE
#define MVAL(f)     LOWEST(f)
#else
#define MVAL(f)     (LOWEST(f) == NONE -> NONE : LOWEST(f) - 1)
#endif

inline reach(f, v) {
        if :: f == F -> may[0] = may[0] || (wait[0] != OUT && v >= 1);
                        may[1] = may[1] || (wait[1] != OUT && v >= 3)
           :: else   -> may[2] = may[2] || (wait[2] != OUT && v >= 1) fi }

inline leave(w, f, how) {
        wait[w] = how;
#ifndef NO_RAISE
        due[f] = true;
#endif
#ifdef TOO_FAR
        far[f] = true;
#endif
        skip }

inline judge(w, f, v) {
        if :: wait[w] == LISTED && v >= GOAL(w) -> assert(may[w]); leave(w, f, FREED)
           :: else fi }

/* The kernel reads the value and ends the waits that it satisfies. */
inline look(f, c) { d_step {
        owed[f] = false;
#ifdef BELIEVED
        c = 3;
#else
        c = cval[f];
#endif
#ifndef LOSS_UNSEEN
        if :: f == F && lost -> c = NONE :: else fi;
#endif
        if :: f == F -> judge(0, F, c); judge(1, F, c)
           :: else   -> judge(2, G, c) fi;
        c = 0 } }

/* A value was found above the monitored one. Nobody may wait for it only while the kernel has
 * yet to store that. */
inline above(f, v) {
        owed[f] = true;
#ifdef CROSS
        assert(f == F || BELOW(f, v) || !SETTLED(f))
#else
        assert(BELOW(f, v) || !SETTLED(f))
#endif
        }

/* The register of interrupts. A driver that cannot tell always names nobody. */
inline raise(f) {
#ifdef COLLAPSED
        atomic { if :: irq == 0 -> irq = (1 << f) :: else fi }
#elif defined(TWO)
        if :: irq = irq | (1 << f) :: irq = 3 fi
#else
        irq = irq | (1 << f)
#endif
        }

proctype Engine(bool here; byte f1; byte v1; byte f2; byte v2) {
        byte f, v, m;
        bool s;
        f = f1; v = v1;
next:
#ifdef CHECK_FIRST
        atomic { m = SEEN(f); if :: v > m -> above(f, v) :: else fi };
#endif
#ifdef COUNT_FIRST
        s = stalled;
#endif
        atomic {                                /* 1: the current value */
                if :: f == F && ceased -> goto over
                   :: else -> cval[f] = v; reach(f, v)
                fi };
                                                /* 2: the log, which is not here */
        if :: f == F && here ->
#ifndef COUNT_FIRST
                s = stalled;
#endif
                if :: s -> kicked = true :: else fi
           :: else fi;
#ifndef CHECK_FIRST
        atomic {                                /* 3: the monitored value */
                m = SEEN(f);
#ifdef NO_CHECK
                m = 0;
#endif
                if :: v > m -> above(f, v) :: else fi };
#endif
        if :: v > m -> raise(f) :: else fi;
over:   m = 0; s = false;
        if :: f2 != NONE -> f = f2; v = v2; f2 = NONE; goto next
           :: else -> f = 0; v = 0
        fi
}

/* A wait that stalls in a queue of a GPU. */
proctype Stream() {
again:  if :: cval[F] >= 2 || ceased -> goto out :: else fi;
        stalled = true;
#ifndef STALL_BLIND
        if :: cval[F] >= 2 || ceased -> goto out :: else fi;
#endif
end:    kicked -> kicked = false; goto again;
out:    ran = true
}

/* The call of a wait, with the kernel's lock. */
proctype Waiter(byte w; byte f; bool withdraws) {
        byte c;
        atomic { wait[w] = LISTED; due[f] = true;
                 reach(f, cval[f]);
                 if :: f == F && lost -> may[w] = true; leave(w, f, FREED) :: else fi;
#ifndef UNLISTED
                 look(f, c)
#endif
                 };
        if :: withdraws -> atomic { if :: wait[w] == LISTED -> leave(w, f, WITHDRAWN) :: else fi }
           :: true
        fi
}

/* Whoever makes the calls of the driver that are due: one at a time, without the kernel's lock. */
proctype Asker() {
        byte f, m, c;
end:    do
        :: atomic { due[F] -> f = F; due[F] = false; storing[F] = storing[F] + 1 }; goto update
        :: atomic { due[G] -> f = G; due[G] = false; storing[G] = storing[G] + 1 };
update:
#ifdef CROSS
                if :: f == F ->                 /* it is 0 for life, so there is no call */
                        storing[F] = 0; goto end
                   :: else fi;
#endif
                atomic { m = MVAL(f);
#ifdef TOO_FAR
                        if :: far[f] -> m = NONE; far[f] = false :: else fi
#endif
                        };
                if :: mval[f] == m ->           /* and has been since before the list changed */
                        atomic { storing[f] = storing[f] - 1; f = 0; m = 0 }; goto end
                   :: else fi;
#ifdef LOOK_FIRST
                look(f, c);
#endif
#ifdef SHADOW
                mval[f] = m;
                atomic { copy[f] = m; storing[f] = storing[f] - 1 };
#ifndef NO_COPY_CHECK
                atomic { c = cval[f]; if :: c > m -> above(f, c) :: else fi };
                if :: c > m -> raise(f) :: else fi;
#endif
#elif defined(LAZY)
                atomic { mval[f] = m; stale[f] = true; storing[f] = storing[f] - 1 };
#else
                atomic { mval[f] = m; storing[f] = storing[f] - 1 };
#endif
#if !defined(NO_LOOK) && !defined(LOOK_FIRST)
                look(f, c);
#endif
                f = 0; m = 0; c = 0
#ifdef CROSS
        :: atomic { notice -> notice = false };
                if :: stalled -> kicked = true :: else fi
#endif
        od
}

#ifdef LAZY
/* The processor of the GPU that copies. */
proctype Copier() {
        byte f, m, c;
end:    do
        :: atomic { stale[F] -> f = F; stale[F] = false; storing[F] = storing[F] + 1 }; goto take
        :: atomic { stale[G] -> f = G; stale[G] = false; storing[G] = storing[G] + 1 };
take:           m = mval[f];
#ifdef CHECK_THEN_COPY
                c = cval[f];
#endif
                atomic { copy[f] = m; storing[f] = storing[f] - 1 };
#ifdef CHECK_THEN_COPY
                if :: c > m -> owed[f] = true; raise(f) :: else fi;
#elif !defined(NO_COPY_CHECK)
                atomic { c = cval[f]; if :: c > m -> above(f, c) :: else fi };
                if :: c > m -> raise(f) :: else fi;
#endif
                f = 0; m = 0; c = 0
        od
}
#endif

proctype Isr() {
        byte i, c;
end:    do
        :: atomic { irq -> i = irq; irq = 0 };
#ifdef NOBODY_NAMED
                if :: i == 3 -> i = 0 :: else fi;
#endif
                if :: i & (1 << F) -> look(F, c);
#if defined(CROSS) && !defined(NO_NOTICE)
                        notice = true
#endif
                   :: else fi;
                if :: i & (1 << G) -> look(G, c)
                   :: else fi;
                i = 0
        od
}

/* A signal by a CPU. */
proctype Cpu() {
        byte c;
        atomic { if :: cval[F] < 3 && !lost -> cval[F] = 3; reach(F, 3)
                    :: else -> goto out fi };
#ifndef CPU_UNSEEN
        look(F, c);
#endif
#ifndef CPU_NO_KICK
        if :: stalled -> kicked = true :: else fi;
#endif
out:    skip
}

#ifdef LOSS
proctype Loser() {
        byte c;
        atomic { lost = true; reach(F, NONE) };
        cval[F] = NONE;
        look(F, c);
        ceased = true;                          /* AlwaysSignaled: signals store no more */
        if :: stalled -> kicked = true :: else fi;
#ifndef STORED_ONCE
        cval[F] = NONE;
#endif
        skip
}
#endif

active proctype Judge() {
        timeout;
        assert(!(wait[0] == LISTED && cval[F] >= 1));   /* no wait is stuck          */
        assert(!(wait[1] == LISTED && cval[F] >= 3));
        assert(!(wait[2] == LISTED && cval[G] >= 1));
        assert(ran || (cval[F] < 2 && !lost));
        assert(!owed[F] && !owed[G]);                   /* no interrupt is lost      */
        assert(!lost || cval[F] == NONE)
}

init { atomic {
        run Asker(); run Isr(); run Waiter(1, F, false);
#if defined(GPU)
        if :: run Engine(true, F, 1, NONE, NONE) :: run Engine(true, F, 2, NONE, NONE) fi;
#elif defined(CROSS)
        run Engine(true, F, 1, NONE, NONE);
        run Engine(false, F, 2, F, 3);
#else
        run Engine(true, F, 1, F, 3);
#endif
#if defined(GPU) || defined(CROSS) || defined(LOSS)
        run Stream();
        if :: run Cpu() :: skip fi;
#else
        ran = true;
        run Waiter(0, F, true);
#endif
#if defined(TWO)
        run Engine(true, G, 1, NONE, NONE);
        run Waiter(2, G, false);
#elif defined(LOSS)
        run Loser();
#elif defined(LAZY)
        run Copier();
#elif !defined(GPU) && !defined(CROSS)
        run Engine(true, F, 2, NONE, NONE);
#endif
#ifdef UPDATES_CROSS
        run Asker();
#endif
        skip
} }
