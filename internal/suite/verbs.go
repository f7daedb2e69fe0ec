package suite

import (
	"errors"
	"fmt"
	"time"
)

// verbs are the commands of a process that are no calls.
var verbs map[string]func(r *runner, p *process, step *Step, got *Outcome) error

func init() {
	verbs = map[string]func(r *runner, p *process, step *Step, got *Outcome) error{
		"uses":     (*runner).uses,
		"state":    (*runner).state,
		"event":    (*runner).event,
		"file":     (*runner).file,
		"dup":      (*runner).dup,
		"close":    (*runner).closeFile,
		"receive":  (*runner).receive,
		"poll":     (*runner).poll,
		"take":     (*runner).take,
		"peek":     (*runner).peek,
		"poke":     (*runner).poke,
		"write":    (*runner).write,
		"commands": (*runner).commands,
		"exit":     (*runner).exit,
		"kill":     (*runner).kill,
	}
}

// uses runs a common beginning for a process, unless it has had that one.
func (r *runner) uses(p *process, step *Step, got *Outcome) error {
	if len(step.Args) != 1 || step.Args[0].Value.Form != Name {
		return errors.New("uses wants the name of a file in given/")
	}
	name := step.Args[0].Value.Name
	given := r.corpus.Given[name]
	if given == nil {
		return fmt.Errorf("given/%s.txt does not exist", name)
	}
	if p.used[name] {
		return nil
	}
	p.used[name] = true
	if r.nested++; r.nested > maxDepth {
		return fmt.Errorf("given/%s.txt uses itself", name)
	}
	defer func() { r.nested-- }()
	for _, s := range given.Steps {
		if _, err := r.step(s, p.name); err != nil {
			return err
		}
	}
	return nil
}

// state tells about the call of a thread.
func (r *runner) state(p *process, step *Step, got *Outcome) error {
	if p.threads[step.Thread] == nil {
		return fmt.Errorf("thread %q has made no call", step.Thread)
	}
	return r.settle(p, step, got, func() bool { return true })
}

// number evaluates the only argument.
func (r *runner) number(p *process, step *Step) (uint64, error) {
	if len(step.Args) != 1 || step.Args[0].Name != "" {
		return 0, fmt.Errorf("%s wants one value", step.Verb)
	}
	return step.Args[0].Value.eval(r.lookup(p), nil)
}

func fileOutcome(got *Outcome, fd uint64) {
	got.Changes = []Change{{Name: "fd", Value: fd, Shown: "file"}}
}

func (r *runner) event(p *process, _ *Step, got *Outcome) error {
	fd, err := p.File("event")
	fileOutcome(got, fd)
	return err
}

func (r *runner) file(p *process, step *Step, got *Outcome) error {
	if len(step.Args) != 1 || step.Args[0].Value.Form != Name {
		return errors.New("file wants event, pipe, memory or null")
	}
	fd, err := p.File(step.Args[0].Value.Name)
	fileOutcome(got, fd)
	return err
}

func (r *runner) dup(p *process, step *Step, got *Outcome) error {
	fd, err := r.number(p, step)
	if err == nil {
		fd, err = p.Dup(fd)
	}
	fileOutcome(got, fd)
	return err
}

func (r *runner) closeFile(p *process, step *Step, _ *Outcome) error {
	fd, err := r.number(p, step)
	if err == nil {
		err = p.CloseFile(fd)
	}
	return err
}

// receive passes a descriptor of another process to this one: "receive $p1.nt".
func (r *runner) receive(p *process, step *Step, got *Outcome) error {
	if len(step.Args) != 1 || step.Args[0].Value.Form != Variable {
		return errors.New("receive wants another process's variable, $p1.nt")
	}
	value := step.Args[0].Value
	fd, err := r.number(p, step)
	if err != nil {
		return err
	}
	owner := p
	for name, other := range r.processes {
		if len(value.Name) > len(name) && value.Name[:len(name)+1] == name+"." {
			owner = other
		}
	}
	if owner.gone {
		return fmt.Errorf("process %s has ended", owner.name)
	}
	f, err := owner.Send(fd)
	if err != nil {
		return fmt.Errorf("send from %s: %w", owner.name, err)
	}
	fd, err = p.Receive(f)
	fileOutcome(got, fd)
	return err
}

// eventually reads until the output is the wanted one or patience ends.
func (r *runner) eventually(step *Step, got *Outcome, read func() (string, error)) error {
	deadline := time.Now().Add(r.corpus.patience)
	for {
		text, err := read()
		if err != nil {
			return err
		}
		if got.Head = text; text == step.Want || step.Want == "" || time.Now().After(deadline) {
			return nil
		}
		time.Sleep(50 * time.Microsecond) // what is wanted may be on its way
	}
}

// poll tells whether an event is set and leaves it so.
func (r *runner) poll(p *process, step *Step, got *Outcome) error {
	fd, err := r.number(p, step)
	if err != nil {
		return err
	}
	return r.eventually(step, got, func() (string, error) {
		set, err := p.Ready(fd)
		if set {
			return "set", err
		}
		return "clear", err
	})
}

// take reads how often an event was set and clears it.
func (r *runner) take(p *process, step *Step, got *Outcome) error {
	fd, err := r.number(p, step)
	if err != nil {
		return err
	}
	total := uint64(0)
	return r.eventually(step, got, func() (string, error) {
		n, err := p.Take(fd)
		total += n
		return plain(total), err
	})
}

// peek reads the value behind an address.
func (r *runner) peek(p *process, step *Step, got *Outcome) error {
	address, err := r.number(p, step)
	if err != nil {
		return err
	}
	return r.eventually(step, got, func() (string, error) {
		n, readable, err := p.Peek(address)
		if !readable {
			return "faults", err
		}
		return plain(n), err
	})
}

// poke tries to write behind an address.
func (r *runner) poke(p *process, step *Step, got *Outcome) error {
	address, err := r.number(p, step)
	if err != nil {
		return err
	}
	written, err := p.Poke(address)
	if got.Head = "faults"; written {
		got.Head = "written"
	}
	return err
}

func (r *runner) exit(p *process, _ *Step, got *Outcome) error { return r.end(p, p.Exit, got) }
func (r *runner) kill(p *process, _ *Step, got *Outcome) error { return r.end(p, p.Kill, got) }

// end ends a process and waits until the kernel has noticed.
func (r *runner) end(p *process, how func() error, got *Outcome) error {
	before := r.world.Processes()
	p.gone = true
	if err := how(); err != nil {
		return err
	}
	deadline := time.Now().Add(r.corpus.patience)
	for before > 0 && r.world.Processes() >= before {
		if time.Now().After(deadline) {
			return fmt.Errorf("process %s has ended but the kernel still knows it", p.name)
		}
		time.Sleep(50 * time.Microsecond) // the hang-up is on its way
	}
	return nil
}
