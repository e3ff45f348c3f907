package chat

import (
	"ccbot/bot/outbox"
	"ccbot/i18n"
	"crypto/sha256"
	"encoding/base64"

	"github.com/google/uuid"
)

// Ref is the id of a session as it stands in a button: 22 letters instead of 36, so that the rest
// of the button fits into Telegram's 64 bytes.
func Ref(id uuid.UUID) string { return base64.RawURLEncoding.EncodeToString(id[:]) }

// ParseRef reads an id as Ref writes it; false for any other spelling.
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

// Digest is a short hash of a text: a digest tells a handful of things apart, and says that
// something has changed.
func Digest(text string, letters int) string {
	sum := sha256.Sum256([]byte(text))
	return base64.RawURLEncoding.EncodeToString(sum[:])[:letters]
}
