package settings_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"ccbot/bot/chat/chattest"
	"ccbot/internal/session"
)

// TestTimeZoneIsTyped as a name, a city or hours from UTC. Another text changes nothing.
func TestTimeZoneIsTyped(t *testing.T) {
	for text, want := range map[string]string{"Europe/Madrid": "Europe/Madrid", "europe/madrid": "Europe/Madrid", "madrid": "Europe/Madrid", "New York": "America/New_York",
		"los_angeles": "America/Los_Angeles", "Buenos aires": "America/Buenos_Aires", "UTC+3": "Etc/GMT-3", "-5": "Etc/GMT+5", "gmt +03": "Etc/GMT-3", "utc": "UTC",
		"Atlantis": "", "Local": "", "../etc/passwd": "", "zone.tab": "", "America": "", "+33": "", "/": ""} {
		t.Run(text, func(t *testing.T) {
			chattest.Runs(t, func(t *testing.T, w *chattest.World) {
				r := w.NewCurrentSession(t, "api", session.Running)
				w.MustHear(t, "/settings")
				w.Work(t)
				w.Press(t, chattest.Alice, 1, "Time zone")
				w.Answer(t, 1, text)
				w.Work(t)
				assert.Equal(t, want, w.Chats.Settings(chattest.Alice).TimeZone)
				shown := w.Shows(t, 2).Text.Text
				if want == "" {
					assert.Contains(t, shown, "This time zone is not known")
				} else {
					assert.Contains(t, shown, "Time zone: "+want+" ")
				}
				w.Press(t, chattest.Alice, 2, chattest.Words(w.Shows(t, 2))[0])
				assert.Empty(t, w.Chats.Settings(chattest.Alice).TimeZone)
				assert.NotContains(t, w.Shows(t, 2).Text.Text, "not known")
				assert.Empty(t, w.Record(t, r.ID).Prompts, "the reply is no prompt")
			})
		})
	}
}
