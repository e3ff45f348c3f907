package ask

import (
	"context"

	"github.com/google/uuid"

	"ccbot/bot/outbox"
	"ccbot/bot/render"
)

// maxExplanation bounds the text of an agent that a request's message shows, in UTF-16 units.
const maxExplanation = 300

// Explain shows the text that an agent wrote before a call in the message of the call's request,
// because a group takes few messages. It returns when the chat has that message. False: there is no
// such message, and the text needs one of its own.
func (a *Requests) Explain(ctx context.Context, to outbox.Conversation, session uuid.UUID, tool, text string) (shown bool, err error) {
	if _, cut := inUnits(text, maxExplanation); to.ChatID >= 0 || cut {
		return false, nil
	}
	for _, r := range a.requestsOf(session) {
		if r.tool == tool && r.takes(ctx, to, text) {
			return r.awaitChat(ctx, to)
		}
	}
	return false, nil
}

// hasRoomFor reports whether the message has room for a text: with it the body is no longer than a body may
// be, so that nothing else is cut. The pages of a question are of several lengths.
func (s State) hasRoomFor(text string) bool {
	body, cut := first(Viewer{}.sheetOf(s).body, maxBody, maxLines)
	return !s.isQuestion() && !cut && body.Length()+render.Plain(text).Length() <= maxBody-len("\n\n")
}

// takes reports whether the request explains itself with a text, which must come before its message
// is made. After a restart the request has the text already.
func (r *request) takes(ctx context.Context, to outbox.Conversation, text string) (takes bool) {
	err := r.turn(ctx, func(s State) State {
		if s.Stage != StageOpen || s.Conversation != to {
			return s
		}
		if s.Explanation == "" && r.held && s.hasRoomFor(text) {
			s.Explanation = text
		}
		takes = s.Explanation == text
		return s
	})
	r.note(err)
	return takes && err == nil
}

// awaitChat waits until the chat has the request's message, or will not have it.
func (r *request) awaitChat(ctx context.Context, to outbox.Conversation) (has bool, err error) {
	r.pass()
	if shown, ok := r.of.cards.Get(r.id); ok && shown.Sent { // by an earlier run
		r.settled(true)
	}
	select {
	case <-r.fate:
	case <-ctx.Done():
		return false, context.Cause(ctx)
	}
	s, known := r.of.Store.Get(r.id)
	return r.sent.Load() && known && s.Conversation == to, nil
}

// settled notes that the request's message has come into the chat, or was withdrawn.
func (r *request) settled(sent bool) {
	if sent {
		r.sent.Store(true)
	}
	r.decided()
}
