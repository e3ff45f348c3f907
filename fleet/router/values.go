package router

import (
	"reflect"
	"slices"
	"strings"
	"sync"

	"github.com/google/uuid"

	"ccbot/port"
	"ccbot/port/folders"
	"ccbot/port/news"
	"ccbot/port/refusal"
	"ccbot/port/talk"
)

// place is an argument that is the address of a folder or a file.
type place string

// texts are the types that name something of one machine.
var texts = []reflect.Type{reflect.TypeFor[place](), reflect.TypeFor[folders.Ticket](), reflect.TypeFor[port.ID]()}

// fields are the fields of type string, or lists of them, that name something of one machine.
var fields = map[reflect.Type][]string{
	reflect.TypeFor[folders.Bounds]():    {"Home", "Roots"},
	reflect.TypeFor[folders.Changes]():   {"Root", "Main"},
	reflect.TypeFor[folders.Checkout]():  {"Dir"},
	reflect.TypeFor[folders.Found]():     {"Dirs", "Roots"},
	reflect.TypeFor[folders.Worktree]():  {"Dir", "Of"},
	reflect.TypeFor[news.FileOffered]():  {"Path"},
	reflect.TypeFor[news.FileUnread]():   {"Path"},
	reflect.TypeFor[news.FilesDue]():     {"Dir"},
	reflect.TypeFor[news.Start]():        {"Dir"},
	reflect.TypeFor[port.Git]():          {"Root"},
	reflect.TypeFor[port.LoopWorktree](): {"Dir"},
	reflect.TypeFor[port.Restore]():      {"Dir"},
	reflect.TypeFor[port.Session]():      {"Dir", "Start"},
	reflect.TypeFor[port.Start]():        {"Dir"},
	reflect.TypeFor[port.Window]():       {"Dir"},
	reflect.TypeFor[port.Writer]():       {"Dir"},
	reflect.TypeFor[refusal.Error]():     {"Dir"},
	reflect.TypeFor[talk.Cursor]():       {"Path"},
	reflect.TypeFor[talk.Line]():         {"Dir"},
	reflect.TypeFor[talk.Mark]():         {"Path"},
}

// owners are the fields that name the session of a value. People act on that session.
var owners = map[reflect.Type]string{
	reflect.TypeFor[folders.Conversation](): "Session",
	reflect.TypeFor[port.Loop]():            "Session",
	reflect.TypeFor[port.Schedule]():        "Session",
	reflect.TypeFor[talk.Line]():            "Session",
}

// rewrite returns a copy of a value with each address in it changed.
func rewrite[T any](v T, change func(text string) string) T {
	return rewritten(rewriter{text: change}, v)
}

func rewritten[T any](change rewriter, v T) T {
	out := reflect.ValueOf(&v).Elem()
	out.Set(change.value(out, false))
	return v
}

// rewriter changes the addresses in a value, and takes the sessions away that have no place in it.
type rewriter struct {
	text      func(text string) string
	isForeign func(session uuid.UUID) bool // nil: all sessions may stay
}

func (change rewriter) value(v reflect.Value, address bool) reflect.Value {
	if !address && !holds(v.Type()) {
		return v
	}
	switch v.Kind() {
	case reflect.String:
		to := reflect.New(v.Type()).Elem()
		to.SetString(change.text(v.String()))
		return to
	case reflect.Pointer:
		if !v.IsNil() {
			to := reflect.New(v.Type().Elem())
			to.Elem().Set(change.value(v.Elem(), address))
			return to
		}
	case reflect.Interface:
		if !v.IsNil() {
			return change.value(v.Elem(), address)
		}
	case reflect.Slice:
		if !v.IsNil() {
			to := reflect.MakeSlice(v.Type(), v.Len(), v.Len())
			for i := range v.Len() {
				to.Index(i).Set(change.value(v.Index(i), address))
			}
			return to
		}
	case reflect.Struct:
		to := reflect.New(v.Type()).Elem()
		to.Set(v)
		for i := range v.NumField() {
			if f := v.Type().Field(i); f.IsExported() {
				to.Field(i).Set(change.value(v.Field(i), slices.Contains(fields[v.Type()], f.Name)))
			}
		}
		if name := owners[v.Type()]; name != "" && change.isForeign != nil {
			if id, _ := to.FieldByName(name).Interface().(uuid.UUID); id != uuid.Nil && change.isForeign(id) {
				to.FieldByName(name).SetZero()
			}
		}
		return to
	}
	return v
}

var held sync.Map // by type: whether its values may have addresses

// holds reports whether values of a type may have addresses.
func holds(t reflect.Type) bool {
	if has, ok := held.Load(t); ok {
		return has.(bool) //nolint:forcetypeassert // it has no others
	}
	has := reaches(t, make(map[reflect.Type]bool))
	held.Store(t, has)
	return has
}

// reaches looks for addresses in a type and in the types below it, but not in those it has seen:
// one may be in itself.
func reaches(t reflect.Type, seen map[reflect.Type]bool) bool {
	if seen[t] {
		return false
	}
	seen[t] = true
	has := slices.Contains(texts, t) || fields[t] != nil || owners[t] != ""
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice:
		has = has || reaches(t.Elem(), seen)
	case reflect.Interface:
		has = has || !t.Implements(reflect.TypeFor[error]())
	case reflect.Struct:
		for f := range t.Fields() {
			has = has || f.IsExported() && reaches(f.Type, seen)
		}
	}
	return has
}

// machineIn returns the machine that the values of a call name; empty: the chat's own.
func machineIn(values ...any) (machine string, err error) {
	for _, v := range values {
		rewrite(v, func(text string) string {
			id := machineOf(text)
			if id != "" && machine != "" && id != machine {
				err = refusal.New(refusal.NoMachine, "the call is about two machines: "+machine+" and "+id)
			}
			machine = max(machine, id)
			return text
		})
	}
	return machine, err
}

// machineOf returns the machine in an address; empty: the chat's own.
func machineOf(text string) string {
	if id, _, ok := strings.Cut(text, ":"); ok && folders.IsMachineID(id) {
		return id
	}
	return ""
}

// up adds the machine to a result.
func up[T any](h *host, v T) T {
	if h.id == "" {
		return v
	}
	v = rewritten(rewriter{h.address, h.isForeign}, v)
	switch v := any(&v).(type) {
	case *port.Session:
		if v.ID == (port.Session{}).ID { // news of the machine come with it
			v.Machine, v.Name = h.id, h.name
			break
		}
		h.own(v)
		h.keep(*v)
	case *port.Restored:
		h.own(&v.Session)
		h.keep(v.Session)
	case *[]port.Session:
		for i := range *v {
			h.own(&(*v)[i])
		}
	case *[]port.Window:
		for i := range *v {
			(*v)[i].Machine = h.id
		}
	case *folders.Bounds:
		v.Machine = h.name
	}
	return v
}

// own makes a session one of the machine, with a name that no session of another machine has.
func (h *host) own(s *port.Session) {
	s.Machine, s.Name = h.id, h.name+":"+s.Name
	if s.Dir == "" { // that would be the chat's own machine
		s.Dir = folders.Address(h.id, "")
	}
}

// down takes the machine off an argument.
func down[T any](h *host, v T) T {
	if h.id == "" {
		return v
	}
	return rewrite(v, h.local)
}

// local is an address as its machine has it.
func (h *host) local(text string) string {
	if h.id == "" {
		return text
	}
	return strings.TrimPrefix(text, h.id+":")
}

// address is a path of the machine as the chat has it.
func (h *host) address(path string) string {
	if path == "" {
		return ""
	}
	return folders.Address(h.id, path)
}

// upError adds the machine to an error.
func (h *host) upError(err error) error {
	refused := refusal.In(err)
	switch {
	case err == nil || h.id == "":
		return err
	case refused.Code == refusal.Internal:
		return foreign{err, h.id}
	}
	there := up(h, *refused)
	there.Machine = h.id
	if _, plain := err.(*refusal.Error); plain { //nolint:errorlint // not one inside of another error
		return &there
	}
	return located{err, &there}
}

// foreign is an error of another machine without a refusal.
type foreign struct {
	error
	machine string
}

func (e foreign) Unwrap() error { return e.error }

// MachineID implements the method of refusal.MachineOf.
func (e foreign) MachineID() string { return e.machine }

// located is an error of another machine whose refusal has addresses.
type located struct {
	error
	refused *refusal.Error
}

func (e located) Unwrap() error { return e.error }

// As implements the method of errors.As.
func (e located) As(target any) bool {
	to, ok := target.(**refusal.Error)
	if ok {
		*to = e.refused
	}
	return ok
}
