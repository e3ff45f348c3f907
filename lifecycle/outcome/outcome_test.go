package outcome

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/agent"
	"ccbot/agent/claude"
	"ccbot/internal/session"
	"ccbot/port/talk"
)

// TestOutcome is the order of the rule: the transcript counts before the present activity of the
// agent.
func TestOutcome(t *testing.T) {
	typed := Prompt{Mark: &talk.Mark{}, Finished: true}
	limit := talk.Failure{Kind: talk.FailedLimit, Text: "limit", Until: time.Unix(9, 0)}
	tests := []struct {
		name string
		seen Seen
		want Outcome
	}{
		{"nothing is known", Seen{State: session.Running}, Outcome{}},
		{"it works", Seen{State: session.Running, Prompt: typed, Answer: talk.Reply{Texts: []string{"I look."}}}, Outcome{}},
		{"answered", Seen{State: session.Running, Prompt: typed, Answer: talk.Reply{Ending: talk.EndedTurn, Texts: []string{"a", "b"}}}, Outcome{Kind: Answered, Text: "a\n\nb"}},
		{"answered, and asks again", Seen{State: session.Running, Phase: talk.PhaseWaitingAnswer, Prompt: typed, Answer: talk.Reply{Ending: talk.EndedTurn}}, Outcome{Kind: Textless}},
		{"stopped, and lost since", Seen{State: session.Lost, Prompt: typed, Answer: talk.Reply{Ending: talk.StoppedTurn}}, Outcome{Kind: Stopped}},
		{"at a limit", Seen{State: session.Running, Prompt: typed, Answer: talk.Reply{Ending: talk.FailedTurn, Failure: limit}}, Outcome{Kind: Failed, Failure: limit}},
		{"taken back", Seen{State: session.Running, Prompt: Prompt{Finished: true}}, Outcome{Kind: Withdrawn}},
		{"not proven", Seen{State: session.Running, Prompt: Prompt{Mark: &talk.Mark{}, Unproven: true}}, Outcome{Kind: Unproven}},
		{"lost", Seen{State: session.Lost, Prompt: typed}, Outcome{Kind: SessionEnded}},
		{"asks", Seen{State: session.Running, Phase: talk.PhaseWaitingPermission, Prompt: typed}, Outcome{Kind: Asks}},
		{"idle for long", Seen{State: session.Running, Prompt: typed, Idle: Silence}, Outcome{Kind: IdleAgain}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) { assert.Equal(t, tt.want, tt.seen.Outcome()) })
	}
}

// TestAnswerFindsLateTranscript: Claude Code makes the file of a conversation at the first prompt,
// after the mark.
func TestAnswerFindsLateTranscript(t *testing.T) {
	projects, id := t.TempDir(), uuid.New()
	path := filepath.Join(projects, "-src", id.String()+".jsonl")
	p := Prompt{Text: "fix it", Mark: &talk.Mark{AgentSessionID: id}, Finished: true}
	files := claude.NewTranscripts(projects)
	by := agent.Agent{Transcripts: files, Replies: files}
	answer, _ := p.Answer(by, session.Record{})
	require.Nil(t, answer)
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
	require.NoError(t, os.WriteFile(path, nil, 0o600))
	answer, found := p.Answer(by, session.Record{})
	require.NotNil(t, answer)
	assert.Equal(t, path, found)
	p.Finished = false
	answer, _ = p.Answer(by, session.Record{})
	assert.Nil(t, answer, "it may be typed once more")
}
