package template

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/pelletier/go-toml/v2"

	"ccbot/internal/timespan"
	"ccbot/loop"
	"ccbot/port"
)

// file is the content of a template.
type file struct {
	Task     string `toml:"task"`
	Check    string `toml:"check"`
	StopWord string `toml:"stop-word"`
	ToDo     bool   `toml:"todo"`
	Worktree bool   `toml:"worktree"`
	Phases   struct {
		Plan      string `toml:"plan"`
		Implement string `toml:"implement"`
		Fix       string `toml:"fix"`
		Done      string `toml:"done"`
	} `toml:"phases"`
	Bounds struct {
		Turns   int     `toml:"turns"`
		Tokens  int64   `toml:"tokens"`
		Cost    float64 `toml:"cost"`
		NoCost  bool    `toml:"no-cost"`
		Minutes int     `toml:"minutes"`
		Until   string  `toml:"until"`
	} `toml:"bounds"`
}

// parse reads the text of a template.
func parse(text string, now time.Time) (q port.LoopRequest, err error) {
	var f file
	var given map[string]any
	if err := toml.Unmarshal([]byte(text), &given); err != nil {
		return q, sentence(err)
	}
	if key := unknown(given, keys(), ""); key != "" {
		return q, fmt.Errorf("it has the unknown key %q", key)
	}
	if err := toml.Unmarshal([]byte(text), &f); err != nil {
		return q, sentence(err)
	}
	for _, s := range []string{f.Task, f.Check, f.StopWord, f.Phases.Plan, f.Phases.Implement, f.Phases.Fix, f.Phases.Done} {
		if hasControl(s) {
			return q, errControl
		}
	}
	b := f.Bounds
	q = port.LoopRequest{Task: f.Task, Check: f.Check, LoopTerms: port.LoopTerms{StopWord: f.StopWord, ToDo: f.ToDo}, Worktree: f.Worktree, Phases: port.LoopPhases(f.Phases),
		Bounds: port.LoopBounds{Turns: b.Turns, Tokens: b.Tokens, Cost: b.Cost, Minutes: b.Minutes, NoCost: b.NoCost}}
	if b.Until != "" {
		at, ok := timespan.NextClock(b.Until, now)
		if !ok {
			return port.LoopRequest{}, errors.New("until is a time of the day such as 08:00")
		}
		q.Bounds.Until = at
	}
	if err := loop.Valid(q); err != nil {
		return port.LoopRequest{}, err
	}
	return q, nil
}

// keys are the keys of a template, in the form in which TOML decodes them.
func keys() (all map[string]any) {
	text, err := toml.Marshal(file{})
	if err == nil {
		err = toml.Unmarshal(text, &all)
	}
	if err != nil {
		panic(err)
	}
	return all
}

// unknown returns the first key that is not spelled exactly as a known one, or "".
// The decoder alone would take Check for check, and a person reads only one of them.
func unknown(given, known map[string]any, before string) string {
	for _, key := range slices.Sorted(maps.Keys(given)) {
		value, is := known[key]
		if !is {
			return before + key
		}
		inner, isTable := given[key].(map[string]any)
		below, hasTable := value.(map[string]any)
		if isTable && hasTable {
			if found := unknown(inner, below, before+key+"."); found != "" {
				return found
			}
		}
	}
	return ""
}

// sentence makes the error of the parser one line, without the text of the file.
func sentence(err error) error {
	if at := (*toml.DecodeError)(nil); errors.As(err, &at) {
		line, _ := at.Position()
		what, _, _ := strings.Cut(strings.TrimPrefix(at.Error(), "toml: "), " into ") // names of this program follow
		return fmt.Errorf("line %d: %s", line, what)
	}
	return errors.New("it is no TOML")
}
