package wire

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"ccbot/port"
	"ccbot/port/folders"
	"ccbot/port/news"
	"ccbot/port/talk"
)

// Bounds of what another machine reports. An honest one is far below them; beyond them the chat
// would store long names and paths again and again, add up what no machine has used, or make lists
// of such a length.
const (
	mostName   = 1 << 10 // bytes of a name, a short code or an id
	mostPath   = 4 << 10
	mostCount  = 1 << 16 // of what a start reports
	mostNumber = 1 << 53
)

// errBounds is returned for a value beyond the bounds.
var errBounds = errors.New("a value that no machine has")

// names and paths are the fields with short texts, or lists of them. Those in foreign come from
// other programs of the machine, and are cut. The codes, which have types of their own, are names
// as well. What a person reads in whole has no bound but that of an envelope.
var (
	names = map[reflect.Type][]string{
		reflect.TypeFor[folders.Bounds]():   {"Machine"},
		reflect.TypeFor[folders.File]():     {"Version"},
		reflect.TypeFor[news.FilesDue]():    {"Names"},
		reflect.TypeFor[news.Progress]():    {"Machine"},
		reflect.TypeFor[news.RequestLeft](): {"Request"},
		reflect.TypeFor[port.Abilities]():   {"Modes", "Models"},
		reflect.TypeFor[port.CheckResult](): {"Commit", "Print"},
		reflect.TypeFor[port.Dialog]():      {"Fingerprint"},
		reflect.TypeFor[port.Ending]():      {"How", "Reason"},
		reflect.TypeFor[port.Failure]():     {"Kind"},
		reflect.TypeFor[port.Git]():         {"Head", "Start"},
		reflect.TypeFor[port.Installed]():   {"Name", "Product"},
		reflect.TypeFor[port.Loop]():        {"Name", "Commit", "Baseline", "State", "Step", "Reason"},
		reflect.TypeFor[port.LoopSource]():  {"Name", "Digest"},
		reflect.TypeFor[port.Schedule]():    {"Name", "Zone"},
		reflect.TypeFor[port.Screen]():      {"Fingerprint"},
		reflect.TypeFor[port.Session]():     {"Machine", "Name", "FormerNames", "State", "Origin", "Window", "Agent", "Product", "Mode", "Final", "Closed", "Prompts"},
		reflect.TypeFor[port.Window]():      {"Machine"},
		reflect.TypeFor[talk.Cursor]():      {"Path", "Form"}, // the chat stores one of each session
		reflect.TypeFor[talk.Mark]():        {"Agent"},
		reflect.TypeFor[talk.Prompt]():      {"Key", "Class"},
		reflect.TypeFor[talk.Report]():      {"Prices"},
		reflect.TypeFor[talk.Request]():     {"ID", "Agent", "Hook"},
	}
	paths = map[reflect.Type][]string{
		reflect.TypeFor[folders.Bounds]():      {"Home", "Roots"},
		reflect.TypeFor[folders.ChangedFile](): {"Path", "From"},
		reflect.TypeFor[folders.Changes]():     {"Root", "Branch", "Main"},
		reflect.TypeFor[folders.Checkout]():    {"Dir", "Branch"},
		reflect.TypeFor[folders.Found]():       {"Dirs", "Roots"},
		reflect.TypeFor[folders.Worktree]():    {"Dir", "Of", "Branch"},
		reflect.TypeFor[news.FileOffered]():    {"Path"},
		reflect.TypeFor[news.Failed]():         {"In"},
		reflect.TypeFor[news.FileUnread]():     {"Path"},
		reflect.TypeFor[news.FilesDue]():       {"Dir"},
		reflect.TypeFor[news.Held]():           {"File"},
		reflect.TypeFor[news.Start]():          {"Dir"},
		reflect.TypeFor[port.Git]():            {"Root", "Branch"},
		reflect.TypeFor[port.Loop]():           {"Repo", "Feature"},
		reflect.TypeFor[port.LoopRequest]():    {"Feature"},
		reflect.TypeFor[port.LoopSource]():     {"Repo"},
		reflect.TypeFor[port.LoopWorktree]():   {"Dir"},
		reflect.TypeFor[port.Session]():        {"Dir", "Start"},
		reflect.TypeFor[port.Window]():         {"Dir"},
		reflect.TypeFor[port.Writer]():         {"Dir"},
		reflect.TypeFor[talk.Mark]():           {"Path"},
		reflect.TypeFor[talk.Report]():         {"Broken"},
		reflect.TypeFor[talk.Request]():        {"Transcript", "Cwd"},
	}
	foreign = map[reflect.Type][]string{
		reflect.TypeFor[folders.Conversation](): {"Agent", "Product", "LastQuestion"},
		reflect.TypeFor[folders.Entry]():        {"Name"},
		reflect.TypeFor[folders.File]():         {"Name"},
		reflect.TypeFor[news.Ended]():           {"Attach"},
		reflect.TypeFor[news.Held]():            {"Binding"},
		reflect.TypeFor[news.Terminal]():        {"Attach"},
		reflect.TypeFor[port.ModeChange]():      {"Model"},
		reflect.TypeFor[port.ModeState]():       {"Model"},
		reflect.TypeFor[port.Pane]():            {"Window", "Name", "Attach"},
		reflect.TypeFor[port.Process]():         {"Program", "Terminal"},
		reflect.TypeFor[port.Session]():         {"Attach"},
		reflect.TypeFor[port.Task]():            {"ID", "Status"},
		reflect.TypeFor[port.Usage]():           {"Model"},
		reflect.TypeFor[port.Window]():          {"Command"},
		reflect.TypeFor[port.Work]():            {"Model", "Permissions"},
		reflect.TypeFor[port.Writer]():          {"Source", "Kept", "Session"},
		reflect.TypeFor[talk.Ask]():             {"Tool"},
		reflect.TypeFor[talk.Block]():           {"Name"},
		reflect.TypeFor[talk.EntryTool]():       {"Name"},
		reflect.TypeFor[talk.Image]():           {"MediaType"},
		reflect.TypeFor[talk.Line]():            {"Name", "Dir"},
		reflect.TypeFor[talk.Report]():          {"Source"},
		reflect.TypeFor[talk.Request]():         {"Mode", "Tool", "Subagent", "SubagentID"},
		reflect.TypeFor[talk.RequestOutcome]():  {"ToolID", "ByHook"},
		reflect.TypeFor[talk.Tool]():            {"ID", "Name"},
	}
	// opaque are the types of texts that only their machine reads.
	opaque = []reflect.Type{reflect.TypeFor[port.ID](), reflect.TypeFor[folders.Ticket](), reflect.TypeFor[folders.Since](), reflect.TypeFor[talk.Place]()}
	// counted are the types whose numbers are not negative.
	counted = map[reflect.Type]float64{
		reflect.TypeFor[folders.ChangedFile](): mostNumber,
		reflect.TypeFor[folders.Entry]():       mostNumber,
		reflect.TypeFor[folders.File]():        mostNumber,
		reflect.TypeFor[folders.Found]():       mostNumber,
		reflect.TypeFor[folders.Listing]():     mostNumber,
		reflect.TypeFor[news.Start]():          mostCount,
		reflect.TypeFor[port.Changes]():        mostNumber,
		reflect.TypeFor[port.LoopUsed]():       mostNumber,
		reflect.TypeFor[port.Tokens]():         mostNumber,
		reflect.TypeFor[talk.Cursor]():         mostNumber,
		reflect.TypeFor[talk.EntryTool]():      mostNumber,
		reflect.TypeFor[talk.Image]():          mostNumber,
		reflect.TypeFor[talk.Item]():           mostNumber,
		reflect.TypeFor[talk.Report]():         mostNumber,
		reflect.TypeFor[talk.Rest]():           mostNumber,
		reflect.TypeFor[talk.Sum]():            mostNumber,
	}
)

// checkBounds returns errBounds for a value with a part beyond the bounds. It cuts texts of the
// variable that a pointer points to.
func checkBounds(v reflect.Value) error {
	switch v.Kind() {
	case reflect.String:
		switch {
		case slices.Contains(opaque, v.Type()):
			return isWithin(v, 0, mostPath, true)
		case v.Type().PkgPath() != "": // a code
			return isWithin(v, 0, mostName, true)
		} // others are bounded by their field
	case reflect.Float64:
		return isWithin(v, -mostNumber, mostNumber, true)
	case reflect.Pointer, reflect.Interface:
		if !v.IsNil() {
			return checkBounds(v.Elem())
		}
	case reflect.Slice, reflect.Array:
		for i := range textLen(v) {
			if err := checkBounds(v.Index(i)); err != nil {
				return err
			}
		}
	case reflect.Map:
		for _, e := range v.Seq2() {
			if err := checkBounds(e); err != nil {
				return err
			}
		}
	case reflect.Struct:
		return checkFields(v)
	}
	return nil
}

func checkFields(v reflect.Value) error {
	of := v.Type()
	most, isCounted := counted[of]
	for i := range v.NumField() {
		name, f := of.Field(i).Name, v.Field(i)
		err := checkBounds(f)
		switch long := slices.Contains(foreign[of], name) && f.Len() > mostName; {
		case long && f.CanSet():
			f.SetString(strings.ToValidUTF8(f.String()[:mostName], ""))
		case long: // a value of a map
			err = errBounds
		}
		if err == nil {
			err = isWithin(f, 0, mostName, slices.Contains(names[of], name))
		}
		if err == nil {
			err = isWithin(f, 0, mostPath, slices.Contains(paths[of], name))
		}
		if err == nil && isNumber(f) {
			err = isWithin(f, 0, most, isCounted)
		}
		if err != nil {
			return fmt.Errorf("%s.%s: %w", of.Name(), name, err)
		}
	}
	return nil
}

// textLen returns the number of elements that may have text. Bytes have none.
func textLen(v reflect.Value) int {
	if v.Type().Elem().Kind() == reflect.Uint8 {
		return 0
	}
	return v.Len()
}

// isNumber reports whether a field is a number or a list of them, and no time.
func isNumber(v reflect.Value) bool {
	of := v.Type()
	if of.Kind() == reflect.Slice {
		of = of.Elem()
	}
	return of.PkgPath() == "" && (of.Kind() == reflect.Int || of.Kind() == reflect.Int64 || of.Kind() == reflect.Float64)
}

// isWithin returns errBounds for a number, or the length of a text, that is too small or too large.
// Of a list each entry counts. It does nothing unless it applies.
func isWithin(v reflect.Value, least, most float64, applies bool) error {
	if !applies {
		return nil
	}
	var n float64
	switch v.Kind() {
	case reflect.String:
		n = float64(v.Len())
	case reflect.Int, reflect.Int64:
		n = float64(v.Int())
	case reflect.Float64:
		n = v.Float()
	case reflect.Slice:
		for i := range v.Len() {
			if err := isWithin(v.Index(i), least, most, true); err != nil {
				return err
			}
		}
		return nil
	}
	if !(n >= least && n <= most) {
		return errBounds
	}
	return nil
}
