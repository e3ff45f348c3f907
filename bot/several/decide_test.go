package several

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestDecide(t *testing.T) {
	alone, several := State{Alone: true}, State{}
	picked, withdrawn := State{Picked: Me}, State{Picked: Other}
	acts, ignores, sees := Decision{Acts: true}, Decision{}, Decision{Sees: true}
	for _, tt := range []struct {
		name  string
		facts Facts
		state State
		want  Decision
	}{
		{"a text, the only bot", Facts{}, alone, acts},
		{"a text, no bot picked", Facts{}, several, ignores},
		{"a text, this bot picked", Facts{}, picked, acts},
		{"a text, another bot picked", Facts{}, withdrawn, ignores},
		{"a text, the only bot, in a topic of another", Facts{Opened: Other}, alone, sees},
		{"a text in a topic of this bot", Facts{}, State{Opened: true}, acts},
		{"a text in a topic of this bot that is not on disk", Facts{Opened: Me}, several, acts},
		{"a text in a topic that was given away", Facts{Opened: Me}, State{Opened: true, Picked: Other}, ignores},
		{"a text in a topic that was given to this bot", Facts{Opened: Other}, picked, acts},
		{"a command for this bot", Facts{To: Me}, withdrawn, acts},
		{"a command for another bot", Facts{To: Other}, picked, ignores},
		{"a command for another bot, in a topic of this bot", Facts{To: Other, Opened: Me}, State{Opened: true}, ignores},
		{"a command for another bot, the only bot", Facts{To: Other}, alone, sees},
		{"a command for another bot in a reply to this bot", Facts{To: Other, Answers: Me}, picked, ignores},
		{"a reply to this bot", Facts{Answers: Me}, withdrawn, acts},
		{"a reply to another bot", Facts{Answers: Other}, picked, ignores},
		{"a reply to another bot, the only bot", Facts{Answers: Other}, alone, sees},
		{"another bot joins", Facts{Joined: true}, alone, sees},
		{"another bot joins, this bot picked", Facts{Joined: true}, State{Alone: true, Picked: Me}, Decision{Acts: true, Sees: true}},
		{"this bot is picked", Facts{To: Me, Picks: true}, withdrawn, Decision{Acts: true, Picked: Me}},
		{"this bot is picked, the only bot", Facts{To: Me, Picks: true}, alone, Decision{Acts: true, Picked: Me}},
		{"another bot is picked", Facts{To: Other, Picks: true}, picked, Decision{Picked: Other}},
		{"another bot is picked, the only bot", Facts{To: Other, Picks: true}, alone, Decision{Sees: true, Picked: Other}},
		{"a pick that names no bot", Facts{Picks: true}, picked, acts},
	} {
		t.Run(tt.name, func(t *testing.T) { assert.Equal(t, tt.want, Decide(tt.facts, tt.state)) })
	}
}

// TestDecideAgrees: two bots that know the same picks never both act, and one acts on all that
// names or finds one of them.
func TestDecideAgrees(t *testing.T) {
	swap := func(w Who) Who { return [...]Who{Nobody, Other, Me}[w] }
	for n := range 3 * 3 * 3 * 3 * 2 {
		f := Facts{To: Who(n % 3), Answers: Who(n / 3 % 3), Opened: Who(n / 9 % 3), Picks: n/81 == 1}
		picked := Who(n / 27 % 3)
		mine := Decide(f, State{Picked: picked, Opened: f.Opened == Me})
		theirs := Decide(Facts{To: swap(f.To), Answers: swap(f.Answers), Opened: swap(f.Opened), Picks: f.Picks},
			State{Picked: swap(picked), Opened: f.Opened == Other})
		assert.False(t, mine.Acts && theirs.Acts, "both act: %+v, picked %d", f, picked)
		found := f.To != Nobody || f.Answers != Nobody || f.Opened != Nobody || picked != Nobody
		assert.Equal(t, found, mine.Acts || theirs.Acts, "%+v, picked %d", f, picked)
	}
}
