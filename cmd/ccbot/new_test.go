package main

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"ccbot/agent"
	"ccbot/agent/claude"
	"ccbot/agent/toy"
	"ccbot/port"
)

// TestNewTakesModesOfAgent: the flags of "ccbot new" take what the agent of the new session has.
func TestNewTakesModesOfAgent(t *testing.T) {
	toys := toy.New("", agent.Launch{}).Abilities
	its := claude.New("", agent.Launch{}, nil).Abilities
	for _, tt := range []struct {
		name        string
		can         port.Abilities
		mode, model string
		want        port.ModeChange
		refused     string
	}{
		{"nothing", toys, "", "", port.ModeChange{}, ""},
		{"a mode and a model", its, "plan", "sonnet", port.ModeChange{Mode: port.ModePlan, Model: "Sonnet"}, ""},
		{"another mode", its, "auto", "", port.ModeChange{}, "--mode is default, acceptEdits or plan"},
		{"another model", its, "", "Opium", port.ModeChange{}, "--model is Opus, Sonnet, Haiku or Fable"},
		{"an agent without modes", toys, "plan", "", port.ModeChange{}, "the mode of this agent cannot be chosen: leave out --mode"},
		{"an agent without models", toys, "", "opus", port.ModeChange{}, "the model of this agent cannot be chosen: leave out --model"},
		{"an agent with one model", port.Abilities{Models: []string{"Toy"}}, "", "opus", port.ModeChange{}, "--model is Toy"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			with, err := modeAndModel(tt.can, tt.mode, tt.model)
			if tt.refused != "" {
				assert.EqualError(t, err, tt.refused)
				return
			}
			assert.NoError(t, err)
			assert.Equal(t, tt.want, with)
		})
	}
}
