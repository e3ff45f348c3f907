package chat

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"ccbot/bot/machine"
	"ccbot/bot/render"
	"ccbot/i18n"
	"ccbot/internal/each"
	"ccbot/internal/glyph"
	"ccbot/internal/naming"
	"ccbot/port"
	"ccbot/port/folders"
	"ccbot/port/refusal"
	"ccbot/port/talk"
)

// Phrases are the sentences and buttons that several features share, in the language of one place.
// They post nothing.
type Phrases struct {
	i18n.Words
	Facts
}

// Facts are the data of sentences in any language, in addition to words.
type Facts struct {
	Places folders.Places
	Now    func() time.Time
	Dir    string // ccbot's own folder: its paths may be logged

	Machines machine.All // of the agents
}

// MaxName is the maximum length of a session's name, in letters: buttons show the name.
const MaxName = naming.MaxName

// ShownName is the name of a session in a sentence that is not about that session alone.
func ShownName(name string) string { return Head(glyph.Name(name), MaxName) }

// maxPerson is the maximum length of a person's name, in letters.
const maxPerson = 32

// PersonName is the name of a person in a line of its own or in a sentence.
func PersonName(name string) string { return Head(glyph.Name(name), maxPerson) }

// Quotes are the marks that keyboards write around a text; phones curve them.
const Quotes = naming.Quotes

// NameOf returns a session's name from typed text.
func NameOf(typed string) string { return naming.Typed(typed) }

// Text is a sentence in which the names of sessions are bold, and texts look as they do.
func (p Phrases) Text(key i18n.Key, args ...i18n.Args) render.Text {
	var all []render.Text
	for _, piece := range p.Words.Pieces(key, args...) {
		switch value := piece.Value.(type) {
		case render.Text:
			all = append(all, value)
		case string:
			if sessionNames[piece.Blank] {
				all = append(all, render.Bold(value))
				continue
			}
			all = append(all, render.Plain(value))
		default:
			all = append(all, render.Plain(fmt.Sprint(value)))
		}
	}
	return render.Join(all...)
}

// sessionNames are the fields that stand for sessions in sentences of Text.
var sessionNames = map[string]bool{"Name": true, "Names": true, "Current": true, "From": true}

// BoldName is the name of a session that begins a line.
func BoldName(r port.Session) render.Text { return render.Bold(glyph.Name(r.Name)) }

// AgentName is the name of a session's agent as the author of words.
func AgentName(r port.Session) string { return cmp.Or(r.Product, "Claude") }

// StateText is the state of a session, which for a crash differs, and its agent if not the default.
func (p Phrases) StateText(r port.Session) string { return WithAgent(p.Words.Say(StateKey(r)), r) }

// WithAgent is a state with the name of the session's agent, if that is not the default one.
func WithAgent(state string, r port.Session) string {
	return strings.TrimSuffix(state+" · "+r.Product, " · ")
}

// StateKey returns the key of StateText, for counting many sessions cheaply.
func StateKey(r port.Session) i18n.Key {
	if r.State == port.StateCompleted && r.Exit != nil && r.Exit.Crashed {
		return i18n.StateCrashed
	}
	return i18n.StateKey.Of(string(r.State))
}

// AwayText is the sentence about a machine that does not answer.
func (p Phrases) AwayText(m machine.Info) string {
	args := i18n.Args{"Machine": glyph.Name(m.Name)}
	if m.Heard.IsZero() {
		return p.Say(i18n.MachineAway, args)
	}
	args["Since"] = p.Since(m.Heard)
	return p.Say(i18n.MachineAwaySince, args)
}

// Unreachable is the sentence about a call that a machine has not answered; id is empty for the
// chat's own.
func (p Phrases) Unreachable(id string) string {
	if m, found := p.Machines.Find(id); found {
		return p.Say(i18n.MachineNoAnswer, i18n.Args{"Away": p.AwayText(m)})
	}
	return p.Say(i18n.MachineUnreachable)
}

// Unread returns the sentences about the machines that a list lacks; err is the list's.
func (p Phrases) Unread(err error) string {
	var all []string
	for _, m := range p.Machines.Others() {
		if m.Away {
			all = append(all, p.AwayText(m))
		}
	}
	if len(all) == 0 || refusal.Lacks(err, "") {
		return p.Say(i18n.MachineUnreachable)
	}
	return p.Say(i18n.MachineNoAnswer, i18n.Args{"Away": strings.Join(all, " ")})
}

// StateWithAge is the state of a session; for an ended session, with the time since its end.
func (p Phrases) StateWithAge(r port.Session) string {
	if r.State.Live() || r.EndedAt.IsZero() {
		return p.StateText(r)
	}
	return p.Words.Say(i18n.StatusAgo, i18n.Args{"State": p.StateText(r), "Age": p.Age(p.Now().Sub(r.EndedAt))})
}

// ModeText is a session's permission mode: the one that was last noted, or the one that it was
// launched with. It is empty if the session has shown none.
func (p Phrases) ModeText(noted, launched string) string {
	noted = Head(OneLine(noted), MaxName)
	if noted == "" && launched == "bypass" {
		noted = string(port.ModeBypass)
	}
	key := i18n.ModeKey.Of(noted)
	switch said := p.Words.Say(key); {
	case noted == "":
		return ""
	case said == string(key): // a newer Claude Code's
		return p.Quoted(noted)
	default:
		return said
	}
}

// EndedText describes how a session ended, and how long ago.
func (p Phrases) EndedText(r port.Session) render.Text {
	return p.Text(i18n.Named, i18n.Args{"What": BoldName(r), "Said": p.StateWithAge(r)})
}

// HiddenText says in a group that it does not see the words of a session of another chat.
func (p Phrases) HiddenText(r port.Session) render.Text {
	return p.Text(i18n.HiddenHere, i18n.Args{"Name": r.Name})
}

// BorderText asks whether the members of a group may read what a session has said in another chat.
func (p Phrases) BorderText(r port.Session) render.Text {
	return p.Text(i18n.BorderAsk, i18n.Args{"Name": r.Name, "Count": max(r.Turns, 1)})
}

// MoreWasSaid reports whether a session has had so many turns since people were asked whether a group
// may read it that a yes was about something else.
func MoreWasSaid(asked int, r port.Session) bool {
	const few = 3
	return r.Turns > asked+few
}

// InterruptionText returns the line about a session whose work was cut short; empty if none was.
func (p Phrases) InterruptionText(i *port.Interruption) render.Text {
	if i == nil {
		return render.Text{}
	}
	word := i18n.InterruptedWork
	if i.Waited {
		word = i18n.InterruptedWaiting
	}
	return p.Text(word)
}

// NowText describes the activity of an agent, or its obstacle.
func (p Phrases) NowText(n talk.Activity) string {
	said, what := p.Words.Say(i18n.PhaseKey.Of(string(cmp.Or(n.Phase, talk.PhaseUnknown)))), FailureText(n.What)
	failed := p.Quoted(what)
	attach, elsewhere := n.Attach()
	switch {
	case elsewhere:
		return p.Words.Say(i18n.NowElsewhere, i18n.Args{"Command": glyph.Name(attach)})
	case n.Phase == talk.PhaseLimited && !n.Until.IsZero():
		return p.Words.Say(i18n.LimitUntil, i18n.Args{"Until": p.Until(n.Until)})
	case what == "":
	case n.Phase == talk.PhaseWorking && n.What == talk.Compacting:
		return p.Words.Say(i18n.NowCompacting)
	case n.Phase == talk.PhaseWorking && n.What == talk.Pursuing:
		return p.Words.Say(i18n.NowPursuing)
	case n.Phase.Waiting():
		return p.Words.Say(i18n.WaitsFor, i18n.Args{"What": p.AskedText(n.What)})
	case n.Phase == talk.PhaseAPIError && n.Until.After(p.Now()): // Codex does not say when it tries again
		failed = p.Words.Say(i18n.RetryAt, i18n.Args{"What": failed, "At": p.At(n.Until)})
		fallthrough
	case n.Phase == talk.PhaseAPIError, n.Phase == talk.PhaseBlocked, n.Phase == talk.PhaseUnknown:
		return p.Words.Say(i18n.Named, i18n.Args{"What": said, "Said": failed})
	}
	return said
}

// FailureText is Claude Code's or a hook's text of a failure, as a part of a sentence.
func FailureText(what string) string {
	return strings.TrimRight(Head(strings.TrimPrefix(glyph.Name(what), "API Error: "), shownFailure), " .")
}

// shownFailure bounds the letters of a failure.
const shownFailure = 120

// AskedText names the subject of a request with a tool.
func (p Phrases) AskedText(tool string) string {
	switch talk.KindOf(tool) {
	case talk.AskQuestion:
		return p.Words.Say(i18n.AsksQuestion)
	case talk.AskPlan:
		return p.Words.Say(i18n.AsksPlan)
	}
	return p.Words.Say(i18n.AsksPermission, i18n.Args{"Tool": Head(tool, MaxName)})
}

// AtWindow describes who is at an agent's window, and what the agent has beside its turns.
func (p Phrases) AtWindow(l port.Status) (said []string) {
	switch l.Presence {
	case port.Typing:
		said = append(said, p.Words.Say(i18n.ListAtDesk))
	case port.Attached:
		said = append(said, p.Words.Say(i18n.ListAttached))
	}
	return append(said, p.Beside(l)...)
}

// Beside names what an agent has beside its turns: agents in the background, commands that run on while it is idle, and the schedules
// that it has made for itself.
func (p Phrases) Beside(l port.Status) (said []string) {
	if l.Agents > 0 {
		said = append(said, p.Words.Say(i18n.ListAgents, i18n.Args{"Count": l.Agents}))
	}
	switch {
	case !l.Idle: // they may be of its turn
	case l.Commands > 0:
		said = append(said, p.Words.Say(i18n.ListCommands, i18n.Args{"Count": l.Commands}))
	case l.Background:
		said = append(said, p.Words.Say(i18n.ListBackground))
	}
	if l.Schedules > 0 {
		said = append(said, p.Words.Say(i18n.ListSchedules, i18n.Args{"Count": l.Schedules}))
	}
	return said
}

// ProcessText names a process: its program, pid, age and terminal, as far as they are known.
func (p Phrases) ProcessText(one port.Process) string {
	parts := []string{fmt.Sprintf("pid %d", one.PID)}
	if one.Age > 0 {
		parts = append(parts, p.Age(one.Age))
	}
	if one.Terminal != "" {
		parts = append(parts, one.Terminal)
	}
	details := strings.Join(parts, p.Words.Say(i18n.JoinParts))
	if name := Tail(glyph.Name(one.Program), 24); name != "" {
		return p.Words.Say(i18n.Noted, i18n.Args{"What": name, "Note": details})
	}
	return details
}

// EndingText describes the end of one process.
func (p Phrases) EndingText(e port.Ending) string {
	args := i18n.Args{"Process": p.ProcessText(e.Process)}
	switch {
	case e.Ended && e.Verified:
		return p.Words.Say(i18n.HowKey.Of(e.How), args)
	case e.Reason != "":
		args["Reason"] = p.Words.Say(i18n.ReasonKey.Of(e.Reason))
		return p.Words.Say(i18n.EndingSpared, args)
	}
	return p.Words.Say(i18n.EndingUnknown, args)
}

// WriterText is one writer of a conversation in one line.
func (p Phrases) WriterText(w port.Writer) render.Text {
	parts := []render.Text{render.Plain(p.ProcessText(w.Process))}
	if w.Session != "" {
		parts = append(parts, render.Plain(p.Words.Say(i18n.WriterSession, i18n.Args{"Name": w.Session})))
	}
	text := Joined(p.Words.Say(i18n.JoinParts), append(parts, render.Code(p.ShortTail(w.Dir)))...)
	if !w.Proven {
		return p.Text(i18n.WriterUnsure, i18n.Args{"Process": text})
	}
	return text
}

// NotCleanText reports that the end of a session is not proven, and why.
func (p Phrases) NotCleanText(r port.Session) render.Text {
	said := p.Text(i18n.CleanupFailed, i18n.Args{"Name": r.Name, "Details": p.Some(p.FailureTexts(r), p.Words.Say(i18n.JoinItems))})
	if r.Forgettable {
		said = render.Join(said, render.Plain(" "), p.Text(i18n.CleanupOver, i18n.Args{"Name": r.Name}))
	}
	return said
}

// FailureTexts lists what could not be proven of the end of a session, each sentence once.
func (p Phrases) FailureTexts(r port.Session) []string {
	var all []string
	for _, f := range r.Failures {
		key := i18n.FailureKey.Of(f.Kind)
		text := p.Words.Say(key, i18n.Args{"PID": f.PID})
		switch {
		case f.PID == 0 && f.Kind == port.FailureUnknown:
			text = p.Words.Say(i18n.FailureSome)
		case text == string(key): // a record may be of a later program
			text = glyph.Name(f.Detail)
		}
		if !slices.Contains(all, text) {
			all = append(all, text)
		}
	}
	if len(all) == 0 { // the record keeps nothing about it
		return []string{p.Words.Say(i18n.FailureSome)}
	}
	return all
}

// ProjectAnswers names the settings of a project that answer permission requests; empty if there
// are none.
func ProjectAnswers(words i18n.Words, all []talk.Answerer) string {
	if len(all) == 0 {
		return ""
	}
	what := each.As(all, func(a talk.Answerer) string { return words.Say(i18n.AnswererKey.Of(string(a))) })
	return Warning + words.Say(i18n.ProjectAnswers, i18n.Args{"What": strings.Join(what, words.Say(i18n.JoinNames))})
}
