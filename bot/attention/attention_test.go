package attention_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"ccbot/bot/attention"
	"ccbot/bot/card"
	"ccbot/port/talk"
)

func TestOf(t *testing.T) {
	for _, tt := range []struct {
		name  string
		now   talk.Phase
		shown card.Needs
		want  attention.Attention
	}{
		{"nothing", talk.PhaseIdle, card.Needs{}, attention.Attention{}},
		{"a permission", talk.PhaseWaitingPermission, card.Needs{}, attention.Attention{Question: true}},
		{"a question", talk.PhaseWaitingAnswer, card.Needs{}, attention.Attention{Question: true}},
		{"a dialog before the agent is ready", "", card.Needs{Answers: 1}, attention.Attention{Question: true}},
		{"an undecided message of an idle agent", talk.PhaseIdle, card.Needs{Decisions: 2}, attention.Attention{Undecided: 2}},
		{"both", talk.PhaseWaitingPermission, card.Needs{Answers: 2, Decisions: 1}, attention.Attention{Question: true, Undecided: 1}},
		{"an agent that cannot go on", talk.PhaseLoggedOut, card.Needs{}, attention.Attention{}},
	} {
		t.Run(tt.name, func(t *testing.T) { assert.Equal(t, tt.want, attention.Of(talk.Activity{Phase: tt.now}, tt.shown)) })
	}
}
