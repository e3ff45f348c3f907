package render

import (
	"testing"

	"github.com/go-telegram/bot/models"
	"github.com/stretchr/testify/assert"
)

func TestLinkKeepsBoldText(t *testing.T) {
	text := Link(Join(Bold("api"), Plain(" has its own topic.")), "https://t.me/c/1/7")
	assert.Equal(t, "api has its own topic.", text.Text)
	assert.ElementsMatch(t, []models.MessageEntity{
		{Type: "text_link", Length: 22, URL: "https://t.me/c/1/7"}, {Type: "bold", Length: 3},
	}, text.Entities)
}
