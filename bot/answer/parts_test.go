package answer

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"ccbot/bot/outbox"
	"ccbot/bot/render"
	"ccbot/port/talk"
)

func TestPicturesThatAreNone(t *testing.T) {
	pictures := func(length int64) []render.Part {
		return (&Answers{}).pictures(talk.Item{Images: []talk.Image{{MediaType: "image/png", Length: length}}})
	}
	assert.Empty(t, pictures(0))
	assert.True(t, pictures(outbox.MaxPhoto)[0].File.Photo)
	assert.False(t, pictures(2 * outbox.MaxPhoto)[0].File.Photo)
}
