package prompts

import (
	"log/slog"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/internal/disk/disktest"
	"ccbot/port/talk"
)

// turnsOfPrompts holds a prompt, changes it, finishes it, and settles an earlier one.
func turnsOfPrompts() *disktest.Turns {
	var s *Store
	hold := func() error {
		p, _, err := s.Accept(offered("2", 2))
		if err != nil {
			return err
		}
		return s.Save(p)
	}
	return &disktest.Turns{
		Prepare: func(t *testing.T) string {
			dir := t.TempDir()
			var err error
			s, err = Open(dir, slog.New(slog.DiscardHandler))
			require.NoError(t, err)
			s.ttl = -1 << 62 // the clock of the test is behind that of the files
			save(t, s, offered("1", 1))
			require.NoError(t, s.Finish("1", Delivered))
			return dir
		},
		Turn: disktest.InOrder(hold,
			func() error { return s.Reword("2", 3, "do it", talk.ClassPlain) },
			func() error {
				_, unread, err := s.List()
				if unread {
					return ErrDamaged
				}
				return err
			},
			func() error { return s.Settle(1, nil) },
			func() error { return s.Finish("2", Returned) }),
		Done: func(t *testing.T) {
			p, as, err := s.Find("2")
			require.NoError(t, err)
			assert.Equal(t, Returned, as)
			assert.Equal(t, "do it", p.Text)
		},
	}
}

func TestP8_PromptsOutliveFaults(t *testing.T) {
	disktest.Run(t, func() disktest.Scenario { return turnsOfPrompts() })
}
