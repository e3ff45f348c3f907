package card

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/bot/outbox"
	"ccbot/bot/render"
)

// A picture is part of the revision. The look is the same after a round trip over the disk, and no
// longer than a caption.
func TestPictureIsPartOfTheLook(t *testing.T) {
	bare := question("text")
	one, two := bare, bare
	one.Picture, two.Picture = &outbox.Picture{PNG: []byte("one")}, &outbox.Picture{PNG: []byte("two")}
	assert.NotEqual(t, revisionOf(bare, nil), revisionOf(one, nil))
	assert.NotEqual(t, revisionOf(one, nil), revisionOf(two, nil))

	one.Text = render.Plain(strings.Repeat("x", render.Limit))
	assert.Equal(t, outbox.MaxCaption, one.fitting().Text.Length())

	c := record{Version: version, ID: strings.Repeat("a", idLength), Kind: "k", Content: one.fitting()}
	c.Revision = revisionOf(c.Content, nil)
	assert.Equal(t, one.Picture, c.message().Picture)
	assert.True(t, c.isShownBy(c.message()))
	other := c.message()
	other.Picture = two.Picture
	assert.False(t, c.isShownBy(other))
	data, err := c.MarshalJSON()
	require.NoError(t, err)
	back, err := read(c.ID+suffix, data)
	require.NoError(t, err)
	assert.Equal(t, c.Content.Picture, back.Content.Picture)
}
