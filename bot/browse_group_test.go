package bot_test

import (
	"path/filepath"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-telegram/bot/models"
	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/bot/chat/chattest"
	"ccbot/i18n"
	"ccbot/internal/session"
)

// inGroup opens the folder api of the page of new sessions in the group, as Bob.
func (w *browsing) inGroup() border {
	w.t.Helper()
	b := border{World: w.World}
	b.says(w.t, "/new", chattest.InGroup)
	w.Work(w.t)
	w.page = w.Telegram.LastID()
	w.Press(w.t, chattest.Bob, w.page, "~/api")
	w.Work(w.t)
	return b
}

// A folder's page in a group has no question of a conversation of another chat, or of an unknown one.
func TestP9_FolderInGroupHasNoPrivateQuestions(t *testing.T) {
	w := inFolders(t, "api")
	r, own := w.Session(t, "diary", session.Archived), w.Session(t, "api", session.Archived)
	private, cleared, ours := w.talk("api", "my salary", time.Hour), w.talk("api", "my earlier salary", 2*time.Hour), w.talk("api", "of the team", 4*time.Hour)
	w.talk("api", "salary at the desk", 3*time.Hour)
	w.Records.Change(r.ID, func(r *session.Record) {
		r.AgentSessionID, r.EarlierSessionIDs, r.Conversation = private, []uuid.UUID{cleared}, chattest.AtAlice
	})
	w.Records.Change(own.ID, func(r *session.Record) { r.AgentSessionID, r.Conversation = ours, chattest.InGroup })
	w.inGroup()
	assert.NotContains(t, w.text(), "salary")
	assert.Contains(t, w.text(), "4. of the team")
	assert.Contains(t, w.text(), "1. ")
}

// A conversation that was in another chat, and goes on in a new session of a group, is asked about
// first. Of an unknown one a person reads what to do.
func TestP9_FolderInGroupAsksAtBorder(t *testing.T) {
	for name, tt := range map[string]struct {
		id      func(r *session.Record, talk uuid.UUID)
		written bool
		unknown bool
	}{
		"before a /clear":      {id: func(r *session.Record, talk uuid.UUID) { r.EarlierSessionIDs = []uuid.UUID{talk} }},
		"a copy":               {id: func(r *session.Record, talk uuid.UUID) { r.AgentSessionID = talk }, written: true},
		"of no session":        {id: func(*session.Record, uuid.UUID) {}, unknown: true},
		"a copy of no session": {id: func(*session.Record, uuid.UUID) {}, unknown: true, written: true},
	} {
		t.Run(name, func(t *testing.T) {
			w := inFolders(t, "api")
			talk, r := w.talk("api", "my salary", time.Hour), w.Session(t, "api", session.Archived)
			w.Written = map[uuid.UUID]bool{talk: tt.written}
			w.Records.Change(r.ID, func(r *session.Record) {
				r.Conversation, r.Progress.Turns = chattest.AtAlice, 42
				tt.id(r, talk)
			})
			b := w.inGroup()
			press := func() {
				w.Press(t, chattest.Bob, w.page, "1")
				if tt.written {
					w.Press(t, chattest.Bob, w.page, w.say(i18n.ButtonForkInstead))
				}
				b.Telegram.Deliver(t.Context())
			}
			press()
			assert.Empty(t, w.Lifecycle.Starts)
			if tt.unknown {
				assert.Contains(t, w.Telegram.Texts(), w.say(i18n.NewFromUnknown))
				return
			}
			require.Len(t, b.asked(), 1)
			w.Records.Change(r.ID, func(r *session.Record) { r.Conversation = chattest.InGroup }) // a person has agreed
			w.inGroup()
			press()
			assert.Len(t, w.Lifecycle.Starts, 1)
		})
	}
}

// TestTwoPeopleBrowseInOneGroup: each has a separate page, folder and first prompt.
func TestTwoPeopleBrowseInOneGroup(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := startedIn(t, "api", "web")
		people := []struct {
			id             int64
			folder, prompt string
			page           int
		}{{id: chattest.Alice, folder: "api", prompt: "for Alice"}, {id: chattest.Bob, folder: "web", prompt: "for Bob"}}
		for i := range people {
			w.says(people[i].id, "/new")
			people[i].page = w.Telegram.LastID()
		}
		require.NotEqual(t, people[0].page, people[1].page)
		for i, p := range people {
			key, u := w.Accept(t, &models.Message{From: &models.User{ID: p.id}, Chat: chattest.GroupChat(chattest.Ours),
				Text: filepath.Join(w.Home, p.folder), ReplyToMessage: &models.Message{ID: p.page}})
			require.NoError(t, w.Handle(t.Context(), key, u))
			w.Work(t)
			people[i].page = w.Telegram.LastID() // below the reply
		}
		keys := map[int64]string{}
		for _, p := range people {
			w.Press(t, p.id, p.page, w.say(i18n.ButtonUseThis))
		}
		for _, p := range people {
			keys[p.id] = w.says(p.id, p.prompt)
			assert.Contains(t, w.Shows(t, p.page).Text.Text, p.prompt)
		}
		assert.NotContains(t, w.Shows(t, people[0].page).Text.Text, people[1].prompt)
		for _, p := range slices.Backward(people) {
			w.Press(t, p.id, p.page, w.say(i18n.ButtonStartFresh))
			w.Work(t)
			all := w.Records.List()
			i := slices.IndexFunc(all, func(r session.Record) bool { return r.Owner == p.id })
			require.GreaterOrEqual(t, i, 0)
			r := all[i]
			assert.Equal(t, filepath.Join(w.Home, p.folder), r.Dir)
			assert.Contains(t, w.Lifecycle.Done(), "queue "+keys[p.id]+" for "+r.ID.String())
		}
	})
}
