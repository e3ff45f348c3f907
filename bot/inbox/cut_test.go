package inbox

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-telegram/bot/models"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// longLine is a text that may be the beginning of a longer one.
var longLine = strings.Repeat("x", 3500)

// sentText returns an update with a message of a person, modified by change.
func sentText(t *testing.T, id int64, message int, text string, change func(*models.Message)) string {
	t.Helper()
	m := &models.Message{ID: message, Date: 100, Text: text, From: &models.User{ID: 77, FirstName: "A"},
		Chat: models.Chat{ID: 5, Type: models.ChatTypePrivate}}
	if change != nil {
		change(m)
	}
	raw, err := json.Marshal(models.Update{ID: id, Message: m})
	require.NoError(t, err)
	return string(raw)
}

// TestP4_CutTextIsOneEntry sends the parts of a text as an app does, in one answer and in several.
func TestP4_CutTextIsOneEntry(t *testing.T) {
	for _, tt := range []struct {
		name   string
		second string
		third  func(*models.Message)
		want   string
	}{
		{"the rest follows", "the end", nil, "1+2 3"},
		{"three parts", longLine, nil, "1+2+3"},
		{"the clock passes a second", longLine, func(m *models.Message) { m.Date = 101 }, "1+2+3"},
		{"later", longLine, func(m *models.Message) { m.Date = 102 }, "1+2 3"},
		{"a message stands between", longLine, func(m *models.Message) { m.ID = 13 }, "1+2 3"},
		{"another person", longLine, func(m *models.Message) { m.From.ID = 78 }, "1+2 3"},
		{"a forward", longLine, func(m *models.Message) {
			m.ForwardOrigin = &models.MessageOrigin{Type: models.MessageOriginTypeHiddenUser, MessageOriginHiddenUser: &models.MessageOriginHiddenUser{}}
		}, "1+2 3"},
		{"through a bot", longLine, func(m *models.Message) { m.ViaBot = &models.User{ID: 3} }, "1+2 3"},
		{"a reply", longLine, func(m *models.Message) { m.ReplyToMessage = &models.Message{ID: 4} }, "1+2 3"},
		{"a command", longLine, func(m *models.Message) { m.Text = "/stop" }, "1+2 3"},
		{"a file", longLine, func(m *models.Message) { m.Text, m.Document = "", &models.Document{FileID: "a"} }, "1+2 3"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			parts := []string{sentText(t, 1, 10, longLine, nil), sentText(t, 2, 11, tt.second, nil), sentText(t, 3, 12, "after", tt.third)}
			for together, times := range map[string][][]string{"at once": {parts}, "one by one": {parts[:1], parts[1:2], parts[2:]}} {
				t.Run(together, func(t *testing.T) {
					synctest.Test(t, func(t *testing.T) {
						r, j := albumRig(t)
						stop := r.start(t)
						for _, some := range times {
							r.tg.deliver(some...)
							time.Sleep(albumQuiet / 2)
						}
						time.Sleep(albumQuiet)
						synctest.Wait()
						assert.Equal(t, tt.want, strings.Join(j.keys(), " "))
						stop()
						assert.Empty(t, unfinished(t, r.dir))
					})
				})
			}
		})
	}
}

func TestShortTextsAreNotJoined(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, j := albumRig(t)
		stop := r.start(t)
		for n := range 6 {
			r.tg.deliver(sentText(t, int64(n+1), 10+n, "short", nil))
		}
		synctest.Wait()
		assert.Equal(t, []string{"1", "2", "3", "4", "5", "6"}, j.keys(), "at once")
		stop()
	})
}

// TestP4_CutTextOutlivesACrash ends the program between the join and the end of the second entry.
func TestP4_CutTextOutlivesACrash(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := filepath.Join(t.TempDir(), "inbox")
		first := newRig(t, dir, newTelegram(), &journal{})
		for id, text := range map[int64]string{1: longLine, 2: "the end"} {
			_, err := first.store.Accept(UpdateKey(id), json.RawMessage(sentText(t, id, 9+int(id), text, nil)))
			require.NoError(t, err)
		}
		first.store.Failpoint = func(point string) {
			assert.Equal(t, "parts-joined", point)
			panic("the program ends here")
		}
		func() {
			defer func() { assert.NotNil(t, recover()) }()
			_, _ = first.store.join([]string{"1", "2"}, false)
		}()
		assert.Equal(t, []string{"1.json", "2.json"}, unfinished(t, dir))

		j := &journal{}
		r := newRig(t, dir, newTelegram(), j)
		stop := r.start(t)
		time.Sleep(albumQuiet)
		synctest.Wait()
		assert.Equal(t, []string{"1+2"}, j.keys(), "nothing is lost, nothing comes twice")
		stop()
		assert.Empty(t, unfinished(t, dir))
	})
}
