package chat

import (
	"encoding/base64"

	"github.com/google/uuid"

	"ccbot/bot/outbox"
	"ccbot/i18n"
)

// Ref is an id as buttons carry it: their data are short.
func Ref(id uuid.UUID) string { return base64.RawURLEncoding.EncodeToString(id[:]) }

// ParseRef reads an id as [Ref] writes it.
func ParseRef(text string) (uuid.UUID, bool) {
	raw, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil || len(raw) != len(uuid.UUID{}) {
		return uuid.Nil, false
	}
	id := uuid.UUID(raw)
	return id, Ref(id) == text // line breaks and loose bits are passed over in decoding
}

// FromNotice is the word in the data of a button that stands under a notice, not in the list.
const FromNotice = "n"

// OpenButton is the button under the notice that a session has answered.
func (c *Chat) OpenButton(session uuid.UUID) outbox.Button {
	return c.Button(i18n.ButtonOpen, "cur:"+Ref(session)+":"+FromNotice, outbox.Primary)
}
