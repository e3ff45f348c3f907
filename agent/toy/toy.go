package toy

import (
	"os/exec"
	"path/filepath"
	"slices"

	"github.com/google/uuid"

	"ccbot/agent"
	"ccbot/agent/claude/claudeui"
	"ccbot/agent/claude/presence"
)

// Program is the name of the toy's program.
const Program = "toy"

// Folder is the folder of the toy's transcripts, below the one in which it keeps its files.
func Folder(config string) string { return filepath.Join(config, "toys") }

// New returns the parts of the toy. config is the folder in which it keeps its files.
func New(config string, configured agent.Launch) agent.Agent {
	files := Transcripts{Dir: Folder(config)}
	return agent.Agent{Starter: starter{}, Witness: witness{}, Presences: presence.Dir{Path: filepath.Join(config, "sessions")}, Keys: func(string) agent.Keys { return agent.PlainKeys{Empties: "C-u"} },
		Reader: claudeui.Reader{}, Transcripts: files, Replies: files, Keeper: files, History: files,
		Excerpts: files, Folders: files, Usage: files, Proof: Proof{}, Launch: configured}
}

type starter struct{}

func (starter) Relaunch(_ *agent.Launch, configured agent.Launch, _ agent.Seen) (agent.Launch, string, error) {
	program, err := exec.LookPath(configured.Command)
	return configured, program, err
}

func (starter) Argv(program string, _ agent.Launch, s agent.Start) []string {
	switch {
	case s.Resumes:
		return []string{program, "resume", s.Conversation.String()}
	case s.CopyOf != uuid.Nil:
		return []string{program, "copy", s.CopyOf.String()}
	}
	return []string{program}
}

func (starter) WithModel(l agent.Launch, _ string) agent.Launch { return l }
func (starter) Bypasses(agent.Launch, string) bool              { return false }

type witness struct{}

func (witness) Names() []string { return []string{Program} }

func (witness) Conversations(args []string) []uuid.UUID {
	i := slices.Index(args, "resume")
	if i < 0 || i+1 >= len(args) {
		return nil
	}
	id, err := uuid.Parse(args[i+1])
	if err != nil {
		return nil
	}
	return []uuid.UUID{id}
}

func (witness) PrintsOnce([]string) bool { return false }
