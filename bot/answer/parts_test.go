package answer

import (
	"encoding/base64"
	"testing"

	"github.com/stretchr/testify/assert"

	"ccbot/bot/outbox"
	"ccbot/bot/port/talk"
)

func TestPicturesThatAreNone(t *testing.T) {
	assert.Empty(t, pictures([]talk.Image{{MediaType: "image/png", Data: "%%%"}, {MediaType: "image/png"}}))
	large := pictures([]talk.Image{{MediaType: "image/png", Data: base64.StdEncoding.EncodeToString(make([]byte, outbox.MaxPhoto+1))}})
	assert.False(t, large[0].File.Photo)
}
