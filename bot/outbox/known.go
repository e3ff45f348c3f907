package outbox

type ref struct {
	chat    int64
	message int
}

func (j *job) ref() ref { return ref{j.to.ChatID, j.messageID} }

// maxKnown is how many messages the outbox remembers; an edit of an older one is sent without
// comparing.
const maxKnown = 2000

// memory is what the outbox knows about messages in the chats. The zero value knows nothing.
type memory struct {
	facts map[ref]fact
	order []ref // oldest first
}

type fact struct {
	looks shown
	rank  Rank // the rank of the send, or of a later edit
}

func (m *memory) looks(at ref) shown { return m.facts[at].looks }

// rank is the rank of an edit of a message: the edit of a card stays a card, and says itself whether it
// is at a turning point.
func (m *memory) rank(at ref, asked Rank) Rank {
	if asked == Turning {
		return asked
	}
	return max(asked, m.facts[at].rank)
}

func (m *memory) note(at ref, f fact) {
	if m.facts == nil {
		m.facts = map[ref]fact{}
	}
	if _, ok := m.facts[at]; !ok {
		m.order = append(m.order, at)
	}
	m.facts[at] = f
	if len(m.order) > maxKnown {
		delete(m.facts, m.order[0])
		m.order = m.order[1:]
	}
}
