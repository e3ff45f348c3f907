package writers

import (
	"slices"

	"ccbot/bot/chat"
	"ccbot/bot/port/desk"
	"ccbot/bot/port/views"
	"ccbot/i18n"
)

// kind is what a message about writers of a conversation is about.
type kind string

const (
	resumeRefused  kind = "resume_refused"   // a session that is over is not resumed: somebody else writes
	otherWriter    kind = "other_writer"     // somebody else writes a session that is open
	writerAfterEnd kind = "writer_after_end" // somebody writes a session that is over
)

// now is the kind as it is by the session's state: the session may have come back, or ended, since
// the message was written.
func (k kind) now(r views.Session) kind {
	switch {
	case r.Live:
		return otherWriter
	case k == otherWriter:
		return resumeRefused
	}
	return k
}

// shown is what a message about writers shows: a tap on the message means exactly these writers.
type shown struct {
	Kind    kind       `json:"kind"`
	Resume  chat.Offer `json:"resume"`
	Writers []desk.ID  `json:"writers"`           // sorted
	Unasked bool       `json:"unasked,omitempty"` // see conflict
}

// conflict is what is true of the writers of a session.
type conflict struct {
	kind    kind
	resume  chat.Resume // what to go on with when nobody else writes any more
	writers []desk.Writer
	unasked bool // resumeRefused: nobody had asked for the session to come back
}

// shown is the payload of a message that shows the conflict.
func (c conflict) shown() shown { return shown{c.kind, c.resume.Offer(), c.identities(), c.unasked} }

// session is the session whose conversation is written.
func (c conflict) session() views.Session { return c.resume.Session }

func (c conflict) headline() i18n.Key {
	maybe := !slices.ContainsFunc(c.writers, func(one desk.Writer) bool { return one.Proven })
	switch {
	case c.kind == otherWriter:
		return i18n.WritersSecond
	case c.kind == writerAfterEnd:
		return i18n.WritersGhost
	case c.unasked && maybe:
		return i18n.WritersOverMaybe
	case c.unasked:
		return i18n.WritersOver
	case maybe:
		return i18n.WritersMaybe
	}
	return i18n.WritersRefused
}

// whatCanBeDone says what the buttons do, and why one is not there.
func (c conflict) whatCanBeDone(details bool) []i18n.Key {
	var keys []i18n.Key
	switch {
	case !c.canEnd() && (details || !c.keepsOne()): // the details say why; of too many there are none
	case !c.canEnd():
		keys = append(keys, i18n.FootKept)
	case c.kind == resumeRefused:
		keys = append(keys, i18n.FootTakeBack)
	case c.kind == otherWriter:
		keys = append(keys, i18n.FootTakeOnly)
	default:
		keys = append(keys, i18n.FootStop)
	}
	switch c.kind {
	case resumeRefused:
		keys = append(keys, i18n.FootFork)
	case otherWriter:
		keys = append(keys, i18n.FootForkLeave)
	case writerAfterEnd:
		keys = append(keys, c.whetherAdoptable()...)
	}
	return keys
}

// whetherAdoptable says whether the writer can be adopted, or why not.
func (c conflict) whetherAdoptable() []i18n.Key {
	switch one := c.writers[0]; {
	case !c.resume.Session.Resumable: // its state says why
		return nil
	case len(c.writers) > 1:
		return []i18n.Key{i18n.FootAdoptMany}
	case one.Adoptable:
		return []i18n.Key{i18n.FootAdopt}
	case one.Proven && one.Session == "":
		return []i18n.Key{i18n.FootAdoptElsewhere}
	}
	return nil // why the writer is not ended says it all
}

// canAdopt reports whether the writer can be made the session's agent. A session that is not
// cleaned up has to be cleaned up first.
func (c conflict) canAdopt() bool {
	return c.resume.Session.Resumable && len(c.writers) == 1 && c.writers[0].Adoptable
}

// canEnd reports whether a person may have all of the writers ended: only when the message and the
// question name each of them.
func (c conflict) canEnd() bool {
	return len(c.writers) > 0 && len(c.writers) <= chat.MaxListed && !c.keepsOne()
}

// keepsOne reports whether one of the writers is not to be ended.
func (c conflict) keepsOne() bool {
	return slices.ContainsFunc(c.writers, func(one desk.Writer) bool { return !one.Endable })
}

// identities are the processes of the writers, sorted.
func (c conflict) identities() []desk.ID {
	who := make([]desk.ID, 0, len(c.writers))
	for _, one := range c.writers {
		who = append(who, one.ID)
	}
	slices.Sort(who)
	return who
}
