package suite

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/dxgsync/dxgsync/conformance"
)

// Parse reads a scenario. The error names path, line and what is wrong there.
func Parse(path, text string) (*Scenario, error) {
	s := &Scenario{Path: path, lines: strings.Split(strings.TrimRight(text, "\n"), "\n")}
	at, err := s.header()
	if err == nil {
		at, err = s.steps(at)
	}
	if err != nil {
		return nil, fmt.Errorf("%s:%d: %w", path, at+1, err)
	}
	if err := s.complete(); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return s, nil
}

// header reads "key: value" lines up to the first empty line; a line that begins
// with a blank goes on with the one above. It returns the line where it stopped.
func (s *Scenario) header() (int, error) {
	key, value := "", ""
	at, begun := 0, 0
	flush := func() error {
		if key == "" {
			return nil
		}
		return s.set(key, strings.Join(strings.Fields(value), " "))
	}
	for ; at < len(s.lines); at++ {
		line := s.lines[at]
		switch {
		case strings.TrimSpace(line) == "":
			if err := flush(); err != nil {
				return begun, err
			}
			return at, nil
		case line[0] == '#':
		case line[0] == ' ' || line[0] == '\t':
			if key == "" {
				return at, errors.New("line goes on with nothing")
			}
			value += " " + line
		default:
			if err := flush(); err != nil {
				return begun, err
			}
			var ok bool
			if key, value, ok = strings.Cut(line, ":"); !ok {
				return at, fmt.Errorf("header line %q is not KEY: VALUE", line)
			}
			begun = at
		}
	}
	if err := flush(); err != nil {
		return begun, err
	}
	return at, nil
}

func (s *Scenario) set(key, value string) error {
	if value == "" {
		return fmt.Errorf("%s: is empty", key)
	}
	switch key {
	case "title":
		if s.Title != "" {
			return errors.New("second title")
		}
		s.Title = value
	case "rule":
		for id := range strings.SplitSeq(value, ";") {
			if id = strings.TrimSpace(id); id == "" {
				return fmt.Errorf("rule %q has an empty name", value)
			}
			s.Rules = append(s.Rules, id)
		}
	case "source":
		source, err := parseSource(value)
		if err != nil {
			return err
		}
		s.Sources = append(s.Sources, source)
	case "adapter":
		a, err := parseAdapter(value)
		if err != nil {
			return err
		}
		s.Adapters = append(s.Adapters, a)
	case "tdr":
		return s.setTDR(value)
	case "clock":
		if value != "manual" {
			return fmt.Errorf("clock %q is not manual", value)
		}
		s.Manual = true
	case "user":
		return s.setUser(value)
	case "doors":
		for _, d := range strings.Fields(value) {
			if !isName(d) {
				return fmt.Errorf("door %q is no name", d)
			}
			s.Doors = append(s.Doors, d)
		}
	default:
		return fmt.Errorf("header %q is not title, rule, source, adapter, tdr, clock, user or doors", key)
	}
	return nil
}

// setTDR reads "NAME=NUMBER …".
func (s *Scenario) setTDR(value string) error {
	if s.TDR != nil {
		return errors.New("second line of settings")
	}
	s.TDR = Settings{}
	for _, w := range strings.Fields(value) {
		name, number, _ := strings.Cut(w, "=")
		n, err := strconv.ParseUint(number, 10, 16)
		if err != nil || !slices.Contains(settingNames, name) {
			return fmt.Errorf("%q is no setting such as TdrDelay=2", w)
		}
		s.TDR[name] = n
	}
	return nil
}

// setUser reads "PROCESS UID GID".
func (s *Scenario) setUser(value string) error {
	words := strings.Fields(value)
	if len(words) != 3 || !isName(words[0]) {
		return fmt.Errorf("user %q is not PROCESS UID GID", value)
	}
	uid, err := strconv.ParseUint(words[1], 10, 31)
	gid, err2 := strconv.ParseUint(words[2], 10, 31)
	if err = errors.Join(err, err2); err != nil {
		return err
	}
	if _, twice := s.Users[words[0]]; twice {
		return fmt.Errorf("second user of %s", words[0])
	}
	if s.Users == nil {
		s.Users = map[string]User{}
	}
	s.Users[words[0]] = User{uint32(uid), uint32(gid)}
	return nil
}

// parseSource reads "PROVENANCE TEXT".
func parseSource(value string) (Source, error) {
	kind, text, _ := strings.Cut(value, " ")
	for _, p := range Provenances {
		if string(p) == kind && text != "" {
			return Source{p, text}, nil
		}
	}
	return Source{}, fmt.Errorf("source %q does not begin with measured, documented, guest or choice and say more", value)
}

// parseAdapter reads "PROFILE [wddm=LEVEL] [type=BIT|BIT] [without=NAME|NAME] [set=JSON]".
func parseAdapter(text string) (AdapterSpec, error) {
	words := strings.Fields(text)
	a := AdapterSpec{Profile: words[0]}
	for _, w := range words[1:] {
		key, value, _ := strings.Cut(w, "=")
		switch key {
		case "wddm":
			n, err := strconv.ParseUint(value, 10, 16)
			if err != nil || n == 0 {
				return a, fmt.Errorf("%q is no WDDM level such as wddm=3200", w)
			}
			a.WDDM = uint16(n)
		case "type":
			a.Type = strings.Split(value, "|")
		case "without":
			a.Without = strings.Split(value, "|")
		case "set":
			a.Set = value
		default:
			return a, fmt.Errorf("adapter word %q is not wddm=LEVEL, type=BIT|BIT, without=NAME|NAME or set=JSON", w)
		}
	}
	return a, nil
}

// steps reads commands with their indented output from line at on. It returns the
// line of an error.
func (s *Scenario) steps(at int) (int, error) {
	var step *Step
	for ; at < len(s.lines); at++ {
		line := s.lines[at]
		trimmed := strings.TrimSpace(line)
		switch {
		case trimmed == "" || trimmed[0] == '#':
			// Output behind a gap or a comment still belongs to its command.
		case line[0] == ' ' || line[0] == '\t':
			if step == nil {
				return at, errors.New("output without a command")
			}
			if step.last != at {
				return at, errors.New("output must follow its command without a gap")
			}
			step.Want = strings.TrimSpace(step.Want + " " + strings.Join(strings.Fields(line), " "))
			step.last = at + 1
		default:
			begun := at
			text := trimmed
			for strings.HasSuffix(text, `\`) && at+1 < len(s.lines) {
				at++
				text = strings.TrimSpace(strings.TrimSuffix(text, `\`)) + " " + strings.TrimSpace(s.lines[at])
			}
			var err error
			if step, err = parseStep(text); err != nil {
				return begun, err
			}
			step.Line, step.path, step.first, step.last = begun+1, s.Path, at+1, at+1
			s.Steps = append(s.Steps, step)
		}
	}
	return at, nil
}

// parseStep reads "PROCESS[/THREAD] VERB ARGS" or "VERB ARGS".
func parseStep(text string) (*Step, error) {
	all, err := words(text)
	if err != nil {
		return nil, err
	}
	step := &Step{Text: text}
	if worldVerbs[all[0]] == nil {
		step.Process, step.Thread, _ = strings.Cut(all[0], "/")
		if !isName(step.Process) || step.Thread != "" && !isName(step.Thread) || strings.HasSuffix(all[0], "/") {
			return nil, fmt.Errorf("%q is no process or process/thread", all[0])
		}
		all = all[1:]
	}
	if len(all) == 0 || !isName(all[0]) {
		return nil, fmt.Errorf("no command in %q", text)
	}
	step.Verb = all[0]
	for _, w := range all[1:] {
		a, err := parseArg(w, 0)
		if err != nil {
			return nil, err
		}
		step.Args = append(step.Args, a)
	}
	return step, nil
}

// parseArg reads NAME=VALUE or VALUE.
func parseArg(text string, depth int) (Arg, error) {
	name, value, ok := strings.Cut(text, "=")
	if !ok || !isMember(name) || strings.HasPrefix(value, "=") {
		v, err := parseValue(text, depth)
		return Arg{Value: v}, err
	}
	v, err := parseValue(value, depth)
	if err != nil {
		err = fmt.Errorf("%s: %w", name, err)
	}
	return Arg{Name: name, Value: v}, err
}

// words splits at blanks outside brackets and quotes. It returns at least one word or an error,
// except for text inside brackets, which may be empty.
func words(text string) ([]string, error) {
	var all []string
	depth, from, quoted := 0, -1, false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '[' || c == '(' || c == '{':
			depth++
		case c == ']' || c == ')' || c == '}':
			if depth--; depth < 0 {
				return nil, fmt.Errorf("%q closes what was not opened", text)
			}
		case (c == ' ' || c == '\t') && depth == 0:
			if from >= 0 {
				all = append(all, text[from:i])
				from = -1
			}
			continue
		}
		if from < 0 {
			from = i
		}
	}
	if depth != 0 || quoted {
		return nil, fmt.Errorf("%q leaves a bracket or a quote open", text)
	}
	if from >= 0 {
		all = append(all, text[from:])
	}
	return all, nil
}

// complete checks what every scenario must have.
func (s *Scenario) complete() error {
	switch {
	case s.Title == "":
		return errors.New("no title: line")
	case len(s.Rules) == 0 && s.Family() != conformance.Given:
		return errors.New("no rule: line")
	case len(s.Sources) == 0:
		return errors.New("no source: line")
	case len(s.Steps) == 0:
		return errors.New("no steps")
	case s.Users != nil && !slices.Equal(s.Doors, []string{InProcess{}.Name()}):
		return errors.New("user: needs \"doors: inproc\", for nobody else can run as another user")
	}
	return nil
}
