package e2e

import (
	"strconv"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// moving kills the bot while a group becomes a supergroup.
func moving() life {
	inGroup := func(s *stage, chat int64, said string) {
		s.t.Helper()
		s.typed = append(s.typed, "say "+said)
		s.person.Send(chat, "say "+said)
		s.hearIn(chat, said)
	}
	return life{name: "a group that moves", env: []string{"ALLOWED_CHATS=" + strconv.FormatInt(group, 10)},
		setup: func(s *stage) {
			s.t.Helper()
			s.api.Group(group, "team", false)
			s.person.Send(group, "/new work "+s.dir)
			s.hearIn(group, "work is ready")
			inGroup(s, group, "hello")
		},
		rows: []crash{{step: "group", point: "move-told", when: "told in the new chat, not noted",
			disk: "that the group has moved, and the sentence", fresh: "tells it once more",
			also: "the sentence comes twice at most; nothing is sent to the old chat any more",
			do:   func(s *stage) { require.NoError(s.t, s.person.Migrate(group, supergroup)) },
			after: func(s *stage) {
				s.t.Helper()
				inGroup(s, supergroup, "hello from the new chat")
				assert.LessOrEqual(s.t, s.count(supergroup, "ALLOWED_CHATS"), 2)
			}}}}
}
