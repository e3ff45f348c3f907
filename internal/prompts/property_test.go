package prompts

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"
	"pgregory.net/rapid"

	"ccbot/port/talk"
)

// entry is the chat's half of a prompt, on the chat's disk.
type entry struct {
	number   Number // of its last offer
	text     string
	state    string // accepted, offered, unproven, asked or done
	reword   Number // of a command that is not answered yet; 0: none
	rewords  string
	withdraw Number // as reword

	typed   []string // what the agent was typed
	allowed int      // how often it may be typed
	end     string   // why it need not be typed: a command, or a person's decision
}

// handover is a chat and an engine, each with its disk, the messages between them, and an agent.
// Messages are lost, delayed, repeated and reordered; each side dies alone.
type handover struct {
	rt      *rapid.T
	dir     string
	engine  *Store
	dies    int // failpoints until the engine dies; 0: it lives
	next    Number
	entries map[string]*entry
	keys    []string
	mail    []func() // to either side, never removed: each may come again
	ended   bool     // no more deaths and losses
}

// died is what a failpoint panics with.
type died struct{}

var session = uuid.MustParse("0198f5a1-0000-7000-8000-000000000001")

func (h *handover) open() {
	s, err := Open(filepath.Join(h.dir, "prompts"), slog.New(slog.DiscardHandler))
	if err != nil {
		h.rt.Fatalf("open: %v", err)
	}
	s.Failpoint = func(string) {
		if h.dies > 0 {
			if h.dies--; h.dies == 0 {
				panic(died{})
			}
		}
	}
	s.ttl = 0
	h.engine = s
}

// onEngine runs a step of the engine, which may die in it and start again.
func (h *handover) onEngine(step func()) {
	defer func() {
		if r := recover(); r != nil {
			if _, is := r.(died); !is {
				panic(r)
			}
			h.startEngine()
		}
	}()
	step()
}

// startEngine rebuilds the engine from its disk.
func (h *handover) startEngine() {
	h.dies = 0
	h.open()
	all, _, err := h.engine.List()
	h.must(err)
	for _, p := range all {
		if p.State == Typing {
			h.settleTyped(p)
		}
	}
	h.report()
}

// settleTyped decides about a prompt that was being typed when the engine died. The agent's
// transcript may be unreadable.
func (h *handover) settleTyped(p Prompt) {
	arrived := slices.Contains(h.entries[p.Key].typed, stamp(p))
	if arrived && rapid.Bool().Draw(h.rt, "provable") {
		h.must(h.engine.Finish(p.Key, Delivered))
		return
	}
	p.State = Unproven
	h.must(h.engine.Save(p))
}

// report sends the chat all outcomes that it has not settled, and all open questions.
func (h *handover) report() {
	done, err := h.engine.Tombstones()
	h.must(err)
	for _, p := range done {
		if last, as, err := h.engine.Find(p.Key); err == nil && as != "" {
			h.send(func() { h.hears(last, as) })
		}
	}
	open, _, err := h.engine.List()
	h.must(err)
	for _, p := range open {
		if p.State == Unproven {
			h.send(func() { h.hears(p, "") })
		}
	}
}

func (h *handover) must(err error) {
	if err != nil {
		h.rt.Fatalf("%v", err)
	}
}

// send puts a message on its way, and perhaps loses it.
func (h *handover) send(deliver func()) {
	if h.ended {
		deliver()
		return
	}
	h.mail = append(h.mail, deliver)
	if rapid.IntRange(0, 2).Draw(h.rt, "at once") > 0 {
		deliver()
	}
}

func (h *handover) number() Number { h.next++; return h.next }

// unsettled are the numbers of the prompts whose outcome the chat does not have.
func (h *handover) unsettled() map[string]Number {
	open := make(map[string]Number)
	for key, e := range h.entries {
		if e.state == "offered" || e.state == "unproven" {
			open[key] = e.number
		}
	}
	return open
}

// offer offers an entry to the engine.
func (h *handover) offer(key string) {
	e, last, open := h.entries[key], h.next, h.unsettled()
	o := Prompt{Key: key, Number: e.number, Session: session, Text: e.text, Class: talk.ClassPlain, Since: time.Unix(1, 0)}
	h.send(func() { h.onEngine(func() { h.takes(o, last, open) }) })
}

// takes is the engine's side of an offer.
func (h *handover) takes(o Prompt, last Number, open map[string]Number) {
	h.must(h.engine.Settle(last, open))
	p, as, err := h.engine.Accept(o)
	switch {
	case errors.Is(err, ErrNoPrompt): // it is settled
		return
	case err != nil:
		h.must(err)
	case as != "", p.State != Held:
		h.send(func() { h.hears(p, as) })
		return
	}
	if rapid.Bool().Draw(h.rt, "at once typed") {
		h.types(p)
		return
	}
	h.must(h.engine.Save(p))
}

func stamp(p Prompt) string { return fmt.Sprint(p.Mark.Offset, " ", p.Text) }

// types types a prompt, and perhaps sees the proof.
func (h *handover) types(p Prompt) {
	e := h.entries[p.Key]
	p.State, p.Mark = Typing, &talk.Mark{Offset: int64(p.Number)}
	h.must(h.engine.Save(p))
	if e.typed = append(e.typed, stamp(p)); len(e.typed) > e.allowed {
		h.rt.Fatalf("prompt %s is typed twice: %q", p.Key, e.typed)
	}
	if e.state == "done" && e.end != "" {
		h.rt.Fatalf("prompt %s is typed after %s", p.Key, e.end)
	}
	if !h.ended && rapid.IntRange(0, 2).Draw(h.rt, "dies after the paste") == 0 {
		panic(died{})
	}
	h.must(h.engine.Finish(p.Key, Delivered))
	h.send(func() { h.hears(p, Delivered) })
}

// hears is the chat's side of news about a prompt. News of an earlier offer are over.
func (h *handover) hears(p Prompt, as Outcome) {
	e := h.entries[p.Key]
	if p.Number < e.number || e.state != "offered" && e.state != "unproven" {
		return
	}
	switch as {
	case Delivered:
		e.state = "done"
	case Dropped: // by a command whose answer was lost
		e.state, e.end = "done", "a command ended it"
	case Returned:
		e.state, e.reword, e.withdraw = "asked", 0, 0
	case "":
		e.state, e.withdraw = "unproven", 0
	}
}

// sendReword sends a command whose answer the chat awaits.
func (h *handover) sendReword(key string) {
	e := h.entries[key]
	n, text := e.reword, e.rewords
	h.send(func() {
		h.onEngine(func() {
			err := h.engine.Reword(key, n, text, talk.ClassPlain)
			h.send(func() {
				if e.reword != n {
					return
				}
				if e.reword = 0; err == nil {
					e.text = text
				}
			})
		})
	})
}

func (h *handover) sendWithdraw(key string) {
	e := h.entries[key]
	n := e.withdraw
	h.send(func() {
		h.onEngine(func() {
			err := h.engine.Withdraw(key, n)
			h.send(func() {
				if e.withdraw != n {
					return
				}
				if err == nil && len(e.typed) > 0 {
					h.rt.Fatalf("prompt %s is taken back, and was typed", key)
				}
				if e.withdraw = 0; err == nil && e.state == "offered" {
					e.state, e.end = "done", "it was taken back"
				}
			})
		})
	})
}

// startChat rebuilds the chat from its disk: what was not answered is sent again.
func (h *handover) startChat() {
	for _, key := range h.keys {
		e := h.entries[key]
		if e.state == "accepted" {
			e.number, e.state = h.number(), "offered"
		}
		if e.state == "offered" || e.state == "unproven" {
			h.offer(key)
		}
		if e.reword != 0 {
			h.sendReword(key)
		}
		if e.withdraw != 0 {
			h.sendWithdraw(key)
		}
	}
}

// decides is a person's decision about a prompt that the chat asks about.
func (h *handover) decides(key string, again bool) {
	e := h.entries[key]
	switch {
	case e.state == "asked" && again:
		e.number, e.state = h.number(), "offered"
		h.offer(key)
	case e.state == "asked":
		e.state, e.end = "done", "a person dropped it"
	case e.state == "unproven":
		h.onEngine(func() {
			if p, err := h.engine.Prompt(key); err == nil && p.State == Unproven {
				h.must(h.engine.Finish(key, Dropped))
			}
		})
		if e.end = "a person dropped it"; e.state == "unproven" {
			e.state = "done"
		}
	}
}

// held returns the prompts that the engine may type.
func (h *handover) held() (all []Prompt) {
	stored, _, err := h.engine.List()
	h.must(err)
	return slices.DeleteFunc(stored, func(p Prompt) bool { return p.State != Held })
}

func (h *handover) step() {
	what := rapid.SampledFrom([]string{"message", "message", "offer", "offer", "type", "type", "stop", "edit", "take back", "decide",
		"mail", "mail", "mail", "chat dies", "engine dies", "engine dies soon"}).Draw(h.rt, "what")
	key := ""
	if len(h.keys) > 0 {
		key = rapid.SampledFrom(h.keys).Draw(h.rt, "key")
	}
	e := h.entries[key]
	switch {
	case what == "message":
		key = fmt.Sprint(len(h.keys) + 1)
		h.keys = append(h.keys, key)
		h.entries[key] = &entry{text: "text of " + key, state: "accepted", allowed: 1}
	case what == "chat dies":
		h.startChat()
	case what == "engine dies":
		h.startEngine()
	case what == "engine dies soon":
		h.dies = rapid.IntRange(1, 4).Draw(h.rt, "after")
	case what == "mail" && len(h.mail) > 0:
		rapid.SampledFrom(h.mail).Draw(h.rt, "message")()
	case e == nil:
	case what == "offer" && e.state == "accepted":
		e.number, e.state = h.number(), "offered"
		if rapid.IntRange(0, 3).Draw(h.rt, "the chat lives") > 0 {
			h.offer(key)
		}
	case what == "type" && len(h.held()) > 0:
		h.onEngine(func() { h.types(h.held()[0]) })
	case what == "stop" && len(h.held()) > 0:
		p := h.held()[0]
		h.onEngine(func() {
			h.must(h.engine.Finish(p.Key, Returned))
			h.send(func() { h.hears(p, Returned) })
		})
	case what == "edit" && e.state == "offered" && e.withdraw == 0:
		n := h.number()
		e.reword, e.rewords = n, fmt.Sprint("edit ", n, " of ", key)
		h.sendReword(key)
	case what == "take back" && e.state == "offered":
		e.withdraw = h.number()
		h.sendWithdraw(key)
	case what == "decide":
		h.decides(key, rapid.Bool().Draw(h.rt, "again"))
	}
}

// end lets everything arrive, and answers all questions.
func (h *handover) end() {
	h.dies, h.ended = 0, true
	for _, deliver := range slices.Clone(h.mail) { // copies that turn up late
		deliver()
	}
	for range 4 {
		h.startEngine()
		h.startChat()
		for _, key := range h.keys {
			h.decides(key, true)
		}
		for _, p := range h.held() {
			h.types(p)
		}
		for _, deliver := range h.mail {
			deliver()
		}
	}
}

// check checks that each prompt was typed once, taken back, or asked about.
func (h *handover) check() {
	for key, e := range h.entries {
		if e.state != "done" {
			h.rt.Fatalf("prompt %s is still %s", key, e.state)
		}
		if len(e.typed) == 0 && e.end == "" {
			h.rt.Fatalf("prompt %s is lost", key)
		}
	}
	if open, _, err := h.engine.List(); err != nil || len(open) > 0 {
		h.rt.Fatalf("the engine keeps %v: %v", open, err)
	}
}

// Over random orders of messages, edits, stops, decisions, deaths of either side and repeats, each
// prompt is typed once, taken back, or asked about.
func TestP4_HandoverProperty(t *testing.T) {
	base := t.TempDir()
	rapid.Check(t, func(rt *rapid.T) {
		dir, err := os.MkdirTemp(base, "")
		if err != nil {
			rt.Fatal(err)
		}
		defer func() { _ = os.RemoveAll(dir) }()
		h := &handover{rt: rt, dir: dir, entries: map[string]*entry{}}
		h.open()
		for range rapid.IntRange(1, 40).Draw(rt, "steps") {
			h.step()
		}
		h.end()
		h.check()
	})
}
