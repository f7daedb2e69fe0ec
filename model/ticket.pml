/* A wait that the kernel decides: the answer on a ticket line, the bell, cancelling, and the line's
 * next use.
 *
 * One caller, one line that is both its bell and its ticket, two waits one after the other. The
 * kernel registers a wait or answers it at once. A worker ends a registered wait: it takes it out
 * under the lock and then writes the answer, step by step. (The code writes it before it drops the
 * lock, because of what is not modelled: the caller may die and its line become another
 * process's.) The caller may ask at any time to have its wait taken back.
 *
 * Each of these does one step wrong, and must make an assertion fail:
 *   ISSUE_LATE       the ticket is cleared after the request is sent
 *   DONE_FIRST       done is stored before the status
 *   BELL_FIRST       the bell is rung before done is stored
 *   NO_BUMP          the sleeper is woken without changing the bell
 *   LOOK_THEN_BELL   the caller reads the bell after it looked
 *   REUSE_EARLY      the line is used again though the answer to a cancelled wait is still to come
 *   CANCEL_LATE      a cancelled wait stays where the worker finds it
 */
#define CANCELLED 7

byte bell = 0, status = 0;              /* the line */
bool done = false, asleep = false;

byte registered = 0;                    /* the wait that the kernel knows, 0 = none; under the lock */
bool finished = false;

mtype = { WAIT, CANCEL, PENDING, FINAL, OK, UNKNOWN };
chan request = [0] of { mtype, byte };
chan answer  = [0] of { mtype };

proctype Caller() {
        byte n = 1, b = 0, got = 0;
        mtype a;
        bool asked = false;
next:
#ifndef ISSUE_LATE
        done = false;                           /* Issue */
#endif
        request!WAIT(n); answer?a;
#ifdef ISSUE_LATE
        done = false;
#endif
        if :: a == FINAL -> got = n; goto over
           :: else fi;
look:
#ifndef LOOK_THEN_BELL
        b = bell;                               /* the bell first, then the ticket */
#endif
        if :: done -> goto ended
           :: else fi;
#ifdef LOOK_THEN_BELL
        b = bell;
#endif
        if :: !asked -> request!CANCEL(n); answer?a;
                if :: a == OK -> got = CANCELLED; goto over
                   :: else                      /* too late: the answer is on its way */
#ifdef REUSE_EARLY
                        -> got = CANCELLED; goto over
#else
                        -> asked = true; goto look
#endif
                fi
           :: true
        fi;
        atomic { if :: bell == b -> asleep = true :: else -> goto look fi };
        !asleep;
        goto look;
ended:  got = status;
over:   assert(got == n || got == CANCELLED);   /* its own answer */
        asked = false; b = 0; got = 0;
        if :: n == 1 -> n = 2; goto next
           :: else fi;
        finished = true
}

proctype Kernel() {
        byte n;
end:    do
        :: request?WAIT(n) ->
                if :: registered = n; answer!PENDING
                   :: answer!FINAL
                fi
        :: request?CANCEL(n) ->
                atomic {
                if :: registered == n ->
#ifndef CANCEL_LATE
                        registered = 0;
#endif
                        answer!OK
                   :: else -> answer!UNKNOWN
                fi }
        od
}

/* Whoever ends waits: any request of any process. EndTicket is after the lock. */
proctype Worker() {
        byte n;
end:    do
        :: atomic { registered -> n = registered; registered = 0 };
#ifdef BELL_FIRST
                bell = (bell + 1) % 8; asleep = false;
#endif
#ifdef DONE_FIRST
                done = true; status = n;
#else
                status = n; done = true;
#endif
#ifndef BELL_FIRST
#ifndef NO_BUMP
                bell = (bell + 1) % 8;
#endif
                asleep = false;
#endif
                n = 0
        od
}

active proctype Judge() {
        timeout;
        assert(finished)                        /* nobody is stuck */
}

init { atomic { run Caller(); run Kernel(); run Worker(); run Worker() } }
