package suite

import (
	"errors"
	"fmt"
	"strings"
	"time"
)

// defaultPatience bounds how long the runner waits for what a step wants to happen,
// such as a released thread that has not run yet. Only a failing step takes so long.
const defaultPatience = 5 * time.Second

// A Result is what became of one scenario at one door.
type Result struct {
	Path    string  `json:"path"`
	Door    string  `json:"door"`
	Verdict Verdict `json:"verdict"`
	// Detail is what was wanted and what was seen, or why the scenario was skipped.
	Detail string `json:"detail,omitempty"`
	// Micros is how long it took, in microseconds.
	Micros int64 `json:"micros"`
}

// A Verdict is the judgement about one run.
type Verdict string

// The verdicts.
const (
	Passed  Verdict = "pass"
	Failed  Verdict = "fail"
	Skipped Verdict = "skip" // this door cannot run the scenario
)

// Run runs a scenario at a door.
func (c *Corpus) Run(s *Scenario, d Door) Result {
	res := Result{Path: s.Path, Door: d.Name(), Verdict: Passed}
	if !s.Runs(d.Name()) {
		res.Verdict, res.Detail = Skipped, "only for "+strings.Join(s.Doors, ", ")
		return res
	}
	begun := time.Now()
	_, err := c.run(s, d, false)
	res.Micros = time.Since(begun).Microseconds()
	switch {
	case errors.Is(err, errForeign):
		res.Verdict, res.Detail = Skipped, err.Error()
	case err != nil:
		res.Verdict, res.Detail = Failed, err.Error()
	}
	return res
}

// Update runs a scenario to its end whatever it wants, and returns the text of its
// file with the outputs that were seen.
func (c *Corpus) Update(s *Scenario, d Door) (string, error) {
	got, err := c.run(s, d, true)
	if err != nil {
		return "", err
	}
	return s.Rewrite(got)
}

// run runs the steps and returns their outputs. Unless all is set it stops at the
// first that is not as wanted.
func (c *Corpus) run(s *Scenario, d Door, all bool) (got []string, err error) {
	spec, err := s.world()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", s.Path, err)
	}
	world, err := d.Open(spec)
	if err != nil {
		return nil, fmt.Errorf("%s: open a world: %w", s.Path, err)
	}
	defer func() {
		if e := world.Close(); e != nil {
			if errors.Is(err, errForeign) {
				err = nil // skipping it hides no mistake
			}
			err = errors.Join(err, fmt.Errorf("%s: at the end: %w", s.Path, e))
		}
	}()
	r := &runner{corpus: c, scenario: s, world: world, processes: map[string]*process{}}
	for _, step := range s.Steps {
		text, e := r.step(step, step.Process)
		got = append(got, text)
		var m mismatch
		if e != nil && (!all || !errors.As(e, &m)) {
			return got, e
		}
	}
	return got, nil
}

// A mismatch is a step whose output is not the wanted one.
type mismatch struct{ step, want, got string }

func (m mismatch) Error() string {
	return fmt.Sprintf("%s\n  want %s\n  got  %s", m.step, m.want, m.got)
}

// A runner is a scenario on its way.
type runner struct {
	corpus    *Corpus
	scenario  *Scenario
	world     World
	processes map[string]*process
	nested    int // depth of "uses"
}

type process struct {
	Process
	name    string
	gone    bool
	words   vocabulary
	used    map[string]bool  // the beginnings that it has had
	threads map[string]*call // the last call of each thread
}

// A call on a thread: the frame that the callee may still write, and how it was.
type call struct {
	frame, before *Frame
	done          bool
	status        uint32
}

// process finds a process, which starts when it is first named.
func (r *runner) process(name string) (*process, error) {
	if p := r.processes[name]; p != nil {
		if p.gone {
			return nil, fmt.Errorf("process %s has ended", name)
		}
		return p, nil
	}
	started, err := r.start(name)
	if err != nil {
		return nil, fmt.Errorf("start process %s: %w", name, err)
	}
	p := &process{Process: started, name: name, used: map[string]bool{}, threads: map[string]*call{}}
	r.processes[name] = p
	return p, nil
}

func (r *runner) start(name string) (Process, error) {
	user, ok := r.scenario.Users[name]
	if !ok {
		return r.world.Process(name)
	}
	world, ok := r.world.(otherWorld)
	if !ok {
		return nil, errors.New("this door cannot run as another user")
	}
	return world.ProcessOf(name, user)
}

// lookup finds variables for a process: its own, and others' as "p1.x".
func (r *runner) lookup(p *process) vars {
	return func(name string) (uint64, bool) {
		owner := p
		if process, variable, ok := strings.Cut(name, "."); ok {
			owner, name = r.processes[process], variable
		}
		if owner == nil {
			return 0, false
		}
		n, ok := owner.words.values[name]
		return n, ok
	}
}

// step runs one step for a process and returns the output it had. An error that is
// a mismatch comes with the output.
func (r *runner) step(step *Step, name string) (string, error) {
	where := fmt.Sprintf("%s:%d: %s", step.path, step.Line, step.Text)
	text, ok, err := r.output(step, name)
	var inner mismatch
	switch {
	case errors.As(err, &inner):
		return text, err
	case err != nil:
		return text, fmt.Errorf("%s\n  %w", where, err)
	case !ok:
		return text, mismatch{where, step.Want, text}
	}
	return text, nil
}

func (r *runner) output(step *Step, name string) (text string, ok bool, err error) {
	if step.Process == "" {
		return r.told(step)
	}
	p, err := r.process(name)
	if err != nil {
		return "", false, err
	}
	got := &Outcome{}
	switch do := verbs[step.Verb]; {
	case r.corpus.Table.Call(step.Verb) != nil:
		err = r.call(p, step, got)
	case do != nil:
		err = do(r, p, step, got)
	default:
		err = fmt.Errorf("%s is no call and no command", step.Verb)
	}
	if err != nil {
		return "", false, err
	}
	text, ok = r.corpus.Table.match(step, got, &p.words, r.lookup(p))
	return text, ok, nil
}

// call makes a D3DKMT call, on a thread of its own if the step names one.
func (r *runner) call(p *process, step *Step, got *Outcome) error {
	frame, err := newFrame(r.corpus.Table, r.corpus.Table.Call(step.Verb), step.Args, r.lookup(p))
	if err != nil {
		return err
	}
	c := &call{frame: frame, before: frame.Clone()}
	if step.Thread == "" {
		if c.status, err = p.Call(frame); err != nil {
			return err
		}
		r.answered(c, got)
		return nil
	}
	if old := p.threads[step.Thread]; old != nil && !old.done {
		return fmt.Errorf("thread %s is still in a call", step.Thread)
	}
	before, _ := r.world.Waiters()
	p.threads[step.Thread] = c
	if err := p.Start(step.Thread, frame); err != nil {
		return err
	}
	return r.settle(p, step, got, func() bool {
		n, known := r.world.Waiters()
		return n > before || !known
	})
}

func (r *runner) answered(c *call, got *Outcome) {
	got.Head = r.corpus.Table.sets["status"].String(uint64(c.status))
	got.Changes = c.frame.Changes(c.before)
}

// settle waits until a thread has answered, or sleeps and is known to the kernel as
// a waiter. A thread that sleeps although the step wants an answer is given time: it
// may have been released by something that is still on its way, such as the end of
// another process.
func (r *runner) settle(p *process, step *Step, got *Outcome, registered func() bool) error {
	head, _ := wants(step.Want)
	c := p.threads[step.Thread]
	deadline := time.Now().Add(r.corpus.patience)
	for !c.done {
		state, status, err := p.State(step.Thread)
		if err != nil {
			return err
		}
		late := time.Now().After(deadline)
		switch {
		case state == Done:
			c.done, c.status = true, status
			continue
		case state == Asleep && registered() && (late || head == "blocked" || head == ""):
			got.Head = "blocked"
			return nil
		case late:
			return fmt.Errorf("thread %s neither ends nor sleeps as a waiter that the kernel knows", step.Thread)
		}
		time.Sleep(50 * time.Microsecond) // let it run
	}
	r.answered(c, got)
	return nil
}
