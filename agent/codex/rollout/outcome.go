package rollout

import (
	"bytes"
	"cmp"
	"context"
	"slices"
	"strings"

	"ccbot/internal/lazyregexp"
	"ccbot/port/talk"
)

// end is what a line says about the end of a call that asked for a permission.
type end string

const (
	says     end = ""         // nothing
	isRun    end = "run"      // it was allowed: it has run, or runs
	isDenied end = "denied"   // it has not run
	isCut    end = "cut"      // the person has ended the turn: what asks is denied, and what runs is stopped
	isOver   end = "over"     // the turn has ended, and no line of it has the call's id
	isOther  end = "other"    // words of a version of Codex that ccbot does not know
	hasOther end = "rejected" // a script has ended because one of its calls was denied
)

// endOf reads the head of a call's output. Both 0.169 and 0.171 write these words.
func endOf(head string) end {
	switch {
	case ran.MatchString(head):
		return isRun
	case aborted.MatchString(head):
		return isCut
	case strings.HasPrefix(head, "patch rejected by user"), rejected.MatchString(head):
		return isDenied
	}
	return isOther
}

var (
	ran     = lazyregexp.New(`^(?:Chunk ID: .*\n)?(?:Wall time: .*\n)?(?:Output:\n)?(?:Process exited with code|Process running with session ID|Exit code:) `)
	aborted = lazyregexp.New(`^(?:Chunk ID: .*\n)?(?:Wall time: .*\n)?aborted by user`)
	// rejected matches what a call that was denied says itself, and what the script says that it has ended.
	rejected = lazyregexp.New(`^(?:Script failed\n(?s:.*)Script error:\n)?(?:exec_command failed: .*rejected by user|patch rejected by user)`)
)

// endOf returns what a line says about the call with an id. In code mode a call is made by a script,
// has an id of its own (exec-…), and only a completed item has that id: a command that was denied has
// none.
func (l line) endOf(call string) end {
	p := l.Payload
	isOutput := l.Type == responseItem && strings.HasSuffix(p.Type, "_call_output")
	switch {
	case l.Type == event && p.Type == "item_completed" && p.Item.ID == call:
		switch p.Item.Status {
		case "completed", "failed":
			return isRun
		case "declined":
			return isDenied
		}
		return isOther
	case isOutput && p.CallID == call:
		text := l.output()
		return endOf(text[:min(len(text), maxHead)])
	case isOutput && rejected.MatchString(l.output()):
		return hasOther
	case l.Type == event && p.Type == "turn_aborted":
		return isCut
	case l.Type == event && p.Type == "task_complete":
		return isOver
	}
	return says
}

// endMarks are in the lines that may say something about the end of a call, whatever its id.
var endMarks = [][]byte{mark("function_call_output"), mark("custom_tool_call_output"), mark("turn_aborted"), mark("task_complete")}

// Outcome finds the end of the call by its id. The rollout does not show who has answered: an answer
// that fits the end counts as taken. What is unknown is never allowed.
func (f Files) Outcome(ctx context.Context, q talk.Request, a *talk.Answer) (o talk.RequestOutcome, found bool, err error) {
	o.ToolID = callOf(q)
	id, other, over := []byte(o.ToolID), false, false
	_, err = f.Lines(talk.Cursor{Path: q.Transcript, Offset: q.Offset}, true, func(text []byte) bool {
		isMarked := func(mark []byte) bool { return bytes.Contains(text, mark) }
		if o.ToolID == "" || !isMarked(id) && (over || !slices.ContainsFunc(endMarks, isMarked)) {
			return ctx.Err() == nil
		}
		l, err := read(text)
		if err != nil {
			return ctx.Err() == nil // a broken line says nothing
		}
		e := l.endOf(o.ToolID)
		other, over = other || e == hasOther, over || e == isOver // later turns say nothing about the call
		o, found = settled(o, e, other, a)
		return !found && ctx.Err() == nil
	})
	return o, found && ctx.Err() == nil, cmp.Or(err, ctx.Err())
}

// settled adds what a line says to an outcome; false: the outcome is still to come. other: a script has
// ended because one of its calls was denied.
func settled(o talk.RequestOutcome, e end, other bool, a *talk.Answer) (talk.RequestOutcome, bool) {
	allows, denies := a != nil && a.Allows(), a != nil && !a.Allows()
	switch {
	case e == isRun:
		o.Done, o.Quoted = true, allows
	case e == isDenied, denies && (e == hasOther || e == isOver): // a denial in the chat, and it has not run
		o.Done, o.Denial, o.Quoted = true, "user-rejected", denies
	case e == isCut:
		o.Interrupted, o.Quoted = true, a != nil && a.Choice == talk.ChoiceStop
	case e == isOther, e == isOver && (!allows || other):
		o.Unclear = true
	default: // a command that was allowed may run on after its turn, and is completed then
		return o, false
	}
	return o, true
}
