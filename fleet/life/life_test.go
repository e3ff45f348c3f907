package life_test

import (
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/fleet/life"
)

// TestP6_WhichLifeIsFollowed: a word is a life that speaks after a silence of the followed one in seconds; "-" is its
// goodbye, "?" a message of it that may be old, "<" a beat of it from before the others came, "!" the choice of a person.
func TestP6_WhichLifeIsFollowed(t *testing.T) {
	type word struct {
		life    string
		silence int
	}
	for name, tt := range map[string]struct {
		words         []word
		machine, chat string // followed at the end; empty: none
		refused       string // of a machine
	}{
		"first":                       {[]word{{"a", 0}}, "a", "a", ""},
		"goodbye":                     {[]word{{"a", 0}, {"a-", 0}, {"b", 0}}, "b", "b", ""},
		"silence":                     {[]word{{"a", 0}, {"b", 6}}, "b", "b", ""},
		"a short silence":             {[]word{{"a", 0}, {"b", 5}}, "a", "a", ""},
		"it waits, then silence":      {[]word{{"a", 0}, {"b", 2}, {"b", 4}, {"b", 6}}, "b", "b", ""},
		"beside the followed one":     {[]word{{"a", 0}, {"b", 1}, {"a", 2}}, "a", "a", "b"},
		"a delayed beat":              {[]word{{"a", 0}, {"b", 1}, {"a<", 1}, {"b", 6}}, "b", "b", ""},
		"refused for good":            {[]word{{"a", 0}, {"b", 1}, {"a", 2}, {"a-", 0}, {"b", 9}}, "a", "a", "b"},
		"a restart beside a copy":     {[]word{{"a", 0}, {"b", 1}, {"a", 2}, {"a-", 0}, {"b", 1}, {"c", 1}}, "c", "c", "b"},
		"an earlier one":              {[]word{{"a", 0}, {"b", 6}, {"a", 1}}, "", "a", ""},
		"an earlier one, silence":     {[]word{{"a", 0}, {"b", 6}, {"a", 1}, {"b", 60}, {"a", 60}}, "", "a", ""},
		"an earlier one that left":    {[]word{{"a", 0}, {"a-", 0}, {"b", 0}, {"a", 1}}, "", "a", ""},
		"an old message":              {[]word{{"a", 0}, {"b", 6}, {"a?", 1}}, "b", "b", ""},
		"an old message after it":     {[]word{{"a", 0}, {"b", 1}, {"a?", 2}, {"b", 6}}, "b", "b", ""},
		"a new one's old message":     {[]word{{"a", 0}, {"b?", 6}}, "b", "b", ""},
		"chosen: the first":           {[]word{{"a", 0}, {"b", 6}, {"a", 1}, {"a!", 0}, {"b", 1}, {"a", 2}}, "a", "a", "b"},
		"chosen: the second":          {[]word{{"a", 0}, {"b", 6}, {"a", 1}, {"b!", 0}, {"a", 1}, {"b", 2}}, "b", "b", "a"},
		"a third one while undecided": {[]word{{"a", 0}, {"b", 6}, {"a", 1}, {"c", 9}, {"c!", 0}, {"b", 9}}, "c", "c", "b"},
		"without lives":               {[]word{{"", 0}, {"", 9}}, "", "", ""},
		"an update to lives":          {[]word{{"", 0}, {"a", 0}}, "a", "a", ""},
		"back to none":                {[]word{{"a", 0}, {"", 1}, {"a", 2}, {"", 6}}, "", "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			for _, isChat := range []bool{false, true} {
				var k life.Known
				for _, w := range tt.words {
					silence := time.Duration(w.silence) * time.Second
					id, how := w.life, ""
					if len(id) == 2 {
						id, how = id[:1], id[1:]
					}
					l := life.Life{ID: id}
					switch how {
					case "-":
						k = k.Leave(l)
					case "?":
						k = k.Come(l, silence, life.Patience)
					case "!":
						k = k.Choose(l)
					default:
						k = k.Hear(l, silence, life.Patience, isChat, how == "<")
					}
				}
				want := tt.machine
				if isChat {
					want = tt.chat
				}
				if want == "" && !isChat && len(k.Torn) > 0 {
					assert.False(t, k.Follows(k.Followed))
					continue
				}
				assert.Equal(t, want, k.Followed.ID, "a chat: %v", isChat)
				assert.True(t, k.Follows(life.Life{ID: want}))
				if !isChat && tt.refused != "" {
					assert.Contains(t, k.Refused, life.Life{ID: tt.refused})
					assert.False(t, k.Follows(life.Life{ID: tt.refused}))
				}
			}
		})
	}
}

func TestLifeTellsItsStart(t *testing.T) {
	before := time.Now().Add(-time.Second)
	l, err := life.New()
	require.NoError(t, err)
	assert.WithinRange(t, l.Since(), before, time.Now().Add(time.Second))
	assert.Contains(t, l.On, fmt.Sprintf("pid %d", os.Getpid()), "copies that run on one machine are told apart")
	assert.Zero(t, life.Life{ID: "x"}.Since())
	other, err := life.New()
	require.NoError(t, err)
	assert.NotEqual(t, l.ID, other.ID)
}
