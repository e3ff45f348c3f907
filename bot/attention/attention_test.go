package attention_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"ccbot/bot/attention"
	"ccbot/bot/card"
	"ccbot/bot/port/phase"
)

func TestOf(t *testing.T) {
	for _, tt := range []struct {
		name  string
		now   phase.Phase
		shown card.Needs
		want  attention.Attention
	}{
		{"nothing", phase.Idle, card.Needs{}, attention.Attention{}},
		{"a permission", phase.WaitingPermission, card.Needs{}, attention.Attention{Question: true}},
		{"a question", phase.WaitingAnswer, card.Needs{}, attention.Attention{Question: true}},
		{"a dialog before the agent is ready", "", card.Needs{Answers: 1}, attention.Attention{Question: true}},
		{"an undecided message of an idle agent", phase.Idle, card.Needs{Decisions: 2}, attention.Attention{Undecided: 2}},
		{"both", phase.WaitingPermission, card.Needs{Answers: 2, Decisions: 1}, attention.Attention{Question: true, Undecided: 1}},
		{"an agent that cannot go on", phase.LoggedOut, card.Needs{}, attention.Attention{}},
	} {
		t.Run(tt.name, func(t *testing.T) { assert.Equal(t, tt.want, attention.Of(phase.Now{Phase: tt.now}, tt.shown)) })
	}
}
