package browse

import (
	"net/url"
	"slices"
	"strconv"

	"github.com/google/uuid"

	"ccbot/bot/card"
	"ccbot/bot/chat"
	"ccbot/bot/port/modes"
)

// The names of the pages: new sessions, and whether to remove a work tree, with its folder behind the name.
const (
	Name     = "new"
	worktree = "worktree"
)

// The views of the page.
const (
	places   = ""      // favourite folders, and those that were used
	children = "in"    // the folders in a folder
	naming   = "name"  // asks for the name of a new folder
	folder   = "use"   // how a session may begin in a folder
	busy     = "busy"  // a conversation that somebody writes
	begun    = "begun" // a session has begun
)

// at is an address of the page: what a person has chosen so far.
type at struct {
	view   string
	dir    string
	page   int
	hidden bool
	filter string
	with   modes.Wish // as far as it is not as the settings say
	key    string     // of the start: two taps on one button start one session
	claude uuid.UUID  // the conversation
	unseen bool       // it cannot be seen who writes it
}

func (a at) String() string {
	v := url.Values{}
	set := func(name, value string) {
		if value != "" {
			v.Set(name, value)
		}
	}
	set("v", a.view)
	set("dir", a.dir)
	set("q", a.filter)
	set("mode", string(a.with.Mode))
	set("model", a.with.Model)
	set("key", a.key)
	if a.page > 0 {
		set("page", strconv.Itoa(a.page))
	}
	if a.hidden {
		set("hidden", "1")
	}
	if a.unseen {
		set("unseen", "1")
	}
	if a.claude != uuid.Nil {
		set("of", a.claude.String())
	}
	if len(v) == 0 {
		return Name
	}
	return Name + "/" + v.Encode()
}

// parse reads an address, behind the name of the page. What is no address is the first view.
func parse(rest string) (a at) {
	v, err := url.ParseQuery(rest)
	if err != nil {
		return a
	}
	a = at{view: v.Get("v"), dir: v.Get("dir"), hidden: v.Get("hidden") != "", filter: v.Get("q"), key: v.Get("key"),
		with: modes.Wish{Mode: modes.Mode(v.Get("mode")), Model: v.Get("model")}}
	a.page, _ = strconv.Atoi(v.Get("page"))
	a.page = max(a.page, 0)
	a.claude, _ = uuid.Parse(v.Get("of"))
	a.unseen = v.Get("unseen") != ""
	return a
}

// in is a view of a folder, with all else as it is.
func (a at) in(view, dir string) at {
	return at{view: view, dir: dir, hidden: a.hidden, with: a.with}
}

// to is an option that leads to an address.
func (a at) to(text string) card.Option {
	return card.Option{Text: text, Value: chat.ToPage(a.String())}
}

// next is the choice behind one of several; behind the last comes none, which is as the settings say.
func next[S ~string](all []S, now S) S {
	if now == "" {
		return all[0]
	}
	if i := slices.Index(all, now) + 1; i < len(all) {
		return all[i]
	}
	return ""
}

// page is one part of a list, and which part it is: a list may have become shorter.
func page[T any](all []T, n, size int) (part []T, at int, more bool) {
	at = min(n, max(0, (len(all)-1)/size))
	last := min((at+1)*size, len(all))
	return all[at*size : last], at, last < len(all)
}
