package answer

import (
	"encoding/base64"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"ccbot/bot/outbox"
	"ccbot/bot/port/talk"
	"ccbot/bot/render"
)

func TestPicturesThatAreNone(t *testing.T) {
	assert.Empty(t, pictures([]talk.Image{{MediaType: "image/png", Data: "%%%"}, {MediaType: "image/png"}}))
	large := pictures([]talk.Image{{MediaType: "image/png", Data: base64.StdEncoding.EncodeToString(make([]byte, outbox.MaxPhoto+1))}})
	assert.False(t, large[0].File.Photo)
}

func TestFenced(t *testing.T) {
	for _, tt := range []struct{ name, text, want string }{
		{"plain", "out\n", "```\nout\n```"},
		{"with a fence", "```\nx\n```", "````\n```\nx\n```\n````"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			assert.Equal(t, tt.want, fenced(tt.text))
			assert.Equal(t, strings.TrimSpace(tt.text), render.Markdown(fenced(tt.text)).Text)
		})
	}
}
