package quotation

import (
	"strings"
	"testing"

	"github.com/go-telegram/bot/models"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func link(offset, length int, url string) models.MessageEntity {
	return models.MessageEntity{Type: models.MessageEntityTypeTextLink, Offset: offset, Length: length, URL: url}
}

func TestWithLinks(t *testing.T) {
	for _, tt := range []struct {
		name, text string
		entities   []models.MessageEntity
		want       string
	}{
		{"none", "see here", nil, "see here"},
		{"one", "see here now", []models.MessageEntity{link(4, 4, "https://a.b/c?d#e")}, "see here (https://a.b/c?d#e) now"},
		{"at the end", "see", []models.MessageEntity{link(0, 3, "https://a.b")}, "see (https://a.b)"},
		{"behind characters of two units", "👍🏽 是 here!", []models.MessageEntity{link(7, 4, "https://a.b")}, "👍🏽 是 here (https://a.b)!"},
		{"that ends with one", "a👍b", []models.MessageEntity{link(1, 2, "https://a.b")}, "a👍 (https://a.b)b"},
		{"several, unsorted", "one two", []models.MessageEntity{link(4, 3, "https://b"), link(0, 3, "https://a")}, "one (https://a) two (https://b)"},
		{"one in another", "one two", []models.MessageEntity{link(0, 7, "https://a"), link(4, 3, "https://b")}, "one two (https://a) (https://b)"},
		{"only links count", "bold @x", []models.MessageEntity{{Type: models.MessageEntityTypeBold, Length: 4}, {Type: models.MessageEntityTypeMention, Offset: 5, Length: 2}}, "bold @x"},
		{"a plain address", "https://a.b", []models.MessageEntity{{Type: models.MessageEntityTypeURL, Length: 11}}, "https://a.b"},
		{"an address under itself", "https://a.b", []models.MessageEntity{link(0, 11, "https://a.b")}, "https://a.b"},
		{"beyond the text", "see", []models.MessageEntity{link(0, 4, "https://a"), link(-1, 2, "https://a"), link(5, 1, "https://a"), link(1, 0, "https://a")}, "see"},
		{"within a character", "a👍b", []models.MessageEntity{link(0, 2, "https://a")}, "a👍b"},
		{"more than an address", "see", []models.MessageEntity{link(0, 3, "https://a\nrm -rf"), link(0, 3, "")}, "see"},
		{"lines stay", "a\r\n\tb", []models.MessageEntity{link(4, 1, "https://a")}, "a\r\n\tb (https://a)"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			assert.Equal(t, tt.want, withLinks(tt.text, tt.entities))
		})
	}
}

func FuzzWithLinks(f *testing.F) {
	f.Add("see 👍 here", 4, 2, 0, 3)
	f.Add("", 0, 0, -5, 9)
	f.Fuzz(func(t *testing.T, text string, o1, l1, o2, l2 int) {
		text = strings.ToValidUTF8(text, "")
		const url = "https://a.b"
		got := withLinks(text, []models.MessageEntity{link(o1, l1, url), link(o2, l2, url)})
		require.Equal(t, strings.ReplaceAll(text, " ("+url+")", ""), strings.ReplaceAll(got, " ("+url+")", ""), "all of the text is there")
	})
}
