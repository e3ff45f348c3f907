package quotation

import (
	"encoding/json"
	"strings"

	"github.com/go-telegram/bot/models"

	"ccbot/bot/chat"
	"ccbot/bot/inbox"
	"ccbot/i18n"
)

// Sent returns when a prompt was sent, and by whom if several people may.
func Sent(p chat.Phrases, e inbox.Entry, several bool) string {
	at := e.Received
	if e.Sent.Unix() > 0 {
		at = e.Sent
	}
	said := []string{p.Moment(at)}
	var u models.Update
	if several && json.Unmarshal(e.Update, &u) == nil && u.Message != nil && u.Message.From != nil {
		m := u.Message
		if e.Refers {
			m = Meant(m)
		}
		if name := chat.PersonName(m.From.FirstName); name != "" {
			said = append(said, name)
		}
	}
	return strings.Join(said, p.Say(i18n.JoinParts))
}
