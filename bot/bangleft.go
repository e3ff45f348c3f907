package bot

import (
	"github.com/google/uuid"

	"ccbot/bot/conversation"
	"ccbot/internal/session"
)

// keep notes a message that grows, and where its session has one.
func (b *bangs) keep(to session.Conversation, o conversation.Output) error {
	if err := b.Chats.NoteOutput(to, o); err != nil {
		return err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.places != nil { // else it is read from disk
		b.placeLocked(to, o.Session)
	}
	return nil
}

func (b *bangs) placeLocked(to session.Conversation, id uuid.UUID) {
	if b.places[id] == nil {
		b.places[id] = make(map[session.Conversation]struct{})
	}
	b.places[id][to] = struct{}{}
}

// left are the messages of a session, and of those that it goes on with: what
// earlier runs have left, and then those of this run that have not come to their
// end, of which some may be on their way into the chat.
func (b *bangs) left(r session.Record) (all []*growth) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.readPlacesLocked()
	if len(b.places)+len(b.all) == 0 {
		return nil
	}
	isSame := b.sameConversation(r)
	for id := range b.places {
		if isSame(id) {
			all = append(all, b.onDiskLocked(id)...)
		}
	}
	for _, g := range b.all {
		if isSame(g.of.Session) {
			all = append(all, g)
		}
	}
	return all
}

// onDiskLocked reads the messages of a session where it has some.
func (b *bangs) onDiskLocked(id uuid.UUID) (all []*growth) {
	for to := range b.places[id] {
		outputs, err := b.Chats.OutputsOf(to, id)
		if err != nil {
			b.Log.Warn("chats_unreadable", "error", err.Error())
			continue
		}
		if len(outputs) == 0 {
			delete(b.places[id], to)
		}
		for _, o := range outputs {
			all = append(all, &growth{to: to, of: o, message: o.Message})
		}
	}
	if len(b.places[id]) == 0 {
		delete(b.places, id)
	}
	return all
}

// readPlacesLocked reads once where sessions have messages: nobody else writes them.
func (b *bangs) readPlacesLocked() {
	if b.places != nil {
		return
	}
	left, err := b.Chats.Outputs()
	if err != nil {
		b.Log.Warn("chats_unreadable", "error", err.Error())
		return
	}
	b.places = make(map[uuid.UUID]map[session.Conversation]struct{})
	for to, outputs := range left {
		for _, o := range outputs {
			b.placeLocked(to, o.Session)
		}
	}
}

// sameConversation says of sessions whether one of them and r are followed by the
// same one.
func (b *bangs) sameConversation(r session.Record) func(id uuid.UUID) bool {
	list := b.Records.List()
	last := conversation.SuccessorIn(list, r).ID
	return func(id uuid.UUID) bool {
		return id == r.ID || conversation.SuccessorIn(list, session.Record{ID: id}).ID == last
	}
}
