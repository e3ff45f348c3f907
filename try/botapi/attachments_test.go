package botapi_test

import (
	"encoding/json"
	"testing"

	"github.com/go-telegram/bot/models"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/try/botapi"
)

// updates are the updates of the next answer, as the library reads them.
func updates(t testing.TB, srv *botapi.Server) []models.Update {
	t.Helper()
	var list []models.Update
	r := call(t, srv, "getUpdates", nil)
	require.NoError(t, json.Unmarshal(r.Result, &list))
	return list
}

func TestAlbum(t *testing.T) {
	srv, p := started(t, botapi.Options{})
	photo := botapi.Item{Photo: true, Data: picture(t, 60, 40)}
	captioned := photo
	captioned.Caption = "both https://x.example"
	ids, err := p.SendAlbum(alice, captioned, photo)
	require.NoError(t, err)
	got := updates(t, srv)
	require.Len(t, got, 2)
	for i, u := range got {
		assert.Equal(t, ids[i], u.Message.ID)
		assert.NotEmpty(t, u.Message.Photo)
		assert.Equal(t, got[0].Message.MediaGroupID, u.Message.MediaGroupID)
	}
	assert.NotEmpty(t, got[0].Message.MediaGroupID)
	assert.Equal(t, "both https://x.example", got[0].Message.Caption)
	assert.Len(t, got[0].Message.CaptionEntities, 1)
	assert.Empty(t, got[1].Message.Caption)

	file := botapi.Item{Name: "a.txt", Data: []byte("a")}
	_, err = p.SendAlbum(alice, file, file, file)
	require.NoError(t, err)
	for name, items := range map[string][]botapi.Item{"mixed": {file, photo}, "one": {file}, "no picture": {{Photo: true, Data: []byte("x")}, photo}} {
		_, err = p.SendAlbum(alice, items...)
		require.Error(t, err, name)
	}
	assert.Len(t, srv.Messages(alice), 5, "what fails sends nothing")
}

func TestPersonSendsAllKinds(t *testing.T) {
	srv, p := started(t, botapi.Options{})
	link := models.MessageEntity{Type: models.MessageEntityTypeTextLink, Offset: 4, Length: 4, URL: "https://go.dev/doc"}
	tests := []struct {
		name string
		send func() int
		want func(*models.Message) bool
	}{
		{"video", func() int { return p.SendVideo(alice, "a.mp4", []byte("v"), "look") },
			func(m *models.Message) bool { return m.Video.FileName == "a.mp4" && m.Caption == "look" }},
		{"sticker", func() int { return p.SendSticker(alice, "🙂") }, func(m *models.Message) bool { return m.Sticker.Emoji == "🙂" }},
		{"location", func() int { return p.SendLocation(alice, 52.5, 13.4) }, func(m *models.Message) bool { return m.Location.Latitude == 52.5 }},
		{"contact", func() int { return p.SendContact(alice, "Bob", "+1") }, func(m *models.Message) bool { return m.Contact.FirstName == "Bob" }},
		{"forwarded text", func() int {
			return p.Forward(alice, "Carol", "see this https://x.example", []models.MessageEntity{link})
		},
			func(m *models.Message) bool {
				return m.ForwardOrigin.MessageOriginHiddenUser.SenderUserName == "Carol" && len(m.Entities) == 2 && m.Entities[0].URL == link.URL
			}},
	}
	for i, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			id := tt.send()
			got := updates(t, srv)
			require.Len(t, got, i+1)
			assert.Equal(t, id, got[i].Message.ID)
			assert.True(t, tt.want(got[i].Message))
		})
	}
}

func TestHugeFileHasNoContent(t *testing.T) {
	srv, p := started(t, botapi.Options{})
	p.SendHugeFile(alice, "dump.bin", 21<<20, "")
	p.SendHugeFile(alice, "small.bin", 20<<20, "")
	got := updates(t, srv)
	assert.EqualValues(t, 21<<20, got[0].Message.Document.FileSize)
	r := call(t, srv, "getFile", map[string]string{"file_id": got[0].Message.Document.FileID})
	assert.Equal(t, "Bad Request: file is too big", r.Description)
	assert.True(t, call(t, srv, "getFile", map[string]string{"file_id": got[1].Message.Document.FileID}).OK)
}

func TestForwardFromFutureIsInvalid(t *testing.T) {
	srv, p := started(t, botapi.Options{})
	p.ForwardFromTheFuture(alice, "from 2040")
	r := call(t, srv, "getUpdates", nil)
	assert.Error(t, json.Unmarshal(r.Result, &[]models.Update{}))
	var raw []struct{ Message struct{ Text string } }
	require.NoError(t, json.Unmarshal(r.Result, &raw))
	assert.Equal(t, "from 2040", raw[0].Message.Text)
}
