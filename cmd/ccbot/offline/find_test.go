package offline

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/cmd/ccbot/config"
	"ccbot/cmd/ccbot/exit"
	"ccbot/internal/naming"
	"ccbot/internal/session"
	"ccbot/internal/session/sessiontest"
	"ccbot/tmux"
)

func TestFind(t *testing.T) {
	api, upper := sessiontest.Over(2, "api"), sessiontest.Over(3, "API2")
	twin1, twin2 := sessiontest.Over(4, "twin"), sessiontest.Over(5, "twin")
	gone := sessiontest.Over(6, "gone")
	hex := sessiontest.Over(7, "019cb8f00001")
	records := []session.Record{api, upper, twin1, twin2, gone, hex}
	tests := []struct {
		name, what string
		want       session.Record
		err        string // part of it; empty: found
	}{
		{"a name", "API2", upper, ""},
		{"in other letters", "api2", upper, ""},
		{"a whole name before the beginning of another", "api", api, ""},
		{"the end of an id", naming.ShortID(upper.ID), upper, ""},
		{"the beginning of a name", "g", gone, ""},
		{"the beginning of several", "ap", session.Record{}, "may be any of 2 sessions"},
		{"a name before an id", "019cb8f00001", hex, ""},
		{"the id that Claude Code has", upper.AgentSessionID.String(), upper, ""},
		{"two have the name", "twin", session.Record{}, naming.ShortID(twin2.ID)},
		{"the clock that all ids begin with", "019cb8f0-", session.Record{}, "there is no session"},
		{"nothing like it", "web", session.Record{}, "there is no session \"web\"; `ccbot list --all` shows all there are"},
		{"nil is nobody's", uuid.Nil.String(), session.Record{}, "there is no session"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := Matches(records, tt.what)
			if tt.err != "" {
				require.ErrorContains(t, err, tt.err)
				return
			}
			require.NoError(t, err)
			assert.Equal(t, tt.want.ID, got.ID)
		})
	}
}

// TestAmongManyAFewAreListed: hundreds of lines would hide the question above them.
func TestAmongManyAFewAreListed(t *testing.T) {
	var records []session.Record
	for i := range 300 {
		records = append(records, sessiontest.Over(i, fmt.Sprintf("many-%d", i)))
	}
	_, err := Matches(records, "many")
	require.ErrorContains(t, err, "may be any of 300 sessions")
	assert.Equal(t, mostListed+1, strings.Count(err.Error(), "\n"))
	assert.True(t, strings.HasSuffix(err.Error(), "\nand 290 more"), err.Error())
}

func TestChatCommandsBecomeVerbs(t *testing.T) {
	for text, want := range map[string]string{
		"See /list.":                                "See ccbot list.",
		"api has ended. Resume it: /resume api":     "api has ended. Resume it: ccbot resume api",
		"Send /new to start one, or /resume.":       "Send ccbot new to start one, or ccbot resume.",
		"There is no folder /archive/api.":          "There is no folder /archive/api.",
		"There is no folder /archive.d, nor ~/new.": "There is no folder /archive.d, nor ~/new.",
		"There is no folder /new-api.":              "There is no folder /new-api.",
	} {
		assert.Equal(t, want, InTerminal(text))
	}
}

func TestAdviceAboutTmux(t *testing.T) {
	for _, err := range []error{tmux.ErrNotSent, tmux.ErrLost, context.DeadlineExceeded} {
		said := TmuxError(config.Config{}, fmt.Errorf("ensure: %w", err))
		assert.ErrorContains(t, said, "tmux does not answer (the default server, CCBOT_TMUX_SOCKET is not set). Look with `tmux ls`")
		assert.ErrorIs(t, said, err)
	}
	other := errors.New("x")
	assert.Equal(t, other, TmuxError(config.Config{}, other))
	assert.NoError(t, TmuxError(config.Config{}, nil))
	assert.Equal(t, exit.Misuse, exit.Code(TmuxError(config.Config{}, tmux.ErrNoTmux)))
}
