package e2e

import (
	"fmt"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestTwoPeopleBrowseInOneGroup: each has a separate page, folder and first prompt.
func TestTwoPeopleBrowseInOneGroup(t *testing.T) {
	t.Parallel()
	w := newWorld(t, fmt.Sprintf("ALLOWED_CHATS=%d", group))
	w.api.Group(group, "team", false)
	ann := w.api.Person(2002, "Ann")
	w.env = append(w.env, fmt.Sprintf("ALLOWED_USERS=%d,%d", w.person.ID(), ann.ID()))
	w.start()
	api, web := w.folder("api"), w.folder("web")
	mine, hers := w.browses(w.person, group), w.browses(ann, group)
	require.NotEqual(t, mine.page, hers.page)
	w.person.Reply(group, mine.page, filepath.Join(w.dir, api))
	ann.Reply(group, hers.page, filepath.Join(w.dir, web))
	hers.page, mine.page = w.hearIn(group, "~/work/web").ID, w.hearIn(group, "~/work/api").ID // below the replies
	mine.taps("Use this folder")
	hers.taps("Use this folder")
	w.person.Send(group, "say mine")
	mine.shows("say mine")
	ann.Send(group, "say hers")
	hers.shows("say hers")
	m, _ := w.api.Message(group, mine.page)
	assert.NotContains(t, m.Text, "hers")
	hers.taps("Start fresh")
	w.hearIn(group, "web is ready")
	w.until("hers is typed", func() bool { return slices.Equal(w.received(), []string{"say hers"}) })
	mine.taps("Start fresh")
	w.hearIn(group, "api is ready")
	w.until("mine is typed", func() bool { return slices.Equal(w.received(), []string{"say hers", "say mine"}) })
	for _, r := range w.records() {
		want := map[int64]string{w.person.ID(): api, ann.ID(): web}[r.Owner]
		assert.Equal(t, filepath.Join(w.dir, want), r.Dir, r.Name)
	}
	w.stop()
}
