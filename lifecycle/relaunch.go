package lifecycle

import (
	"slices"

	"github.com/google/uuid"

	"ccbot/internal/claudeflags"
	"ccbot/internal/logkey"
	"ccbot/internal/session"
	"ccbot/internal/transcript"
)

// configured returns the launch settings of a new session.
func (k *kit) configured() *session.Launch {
	return &session.Launch{Command: k.Command, Flags: slices.Clone(k.Flags), PermissionMode: k.PermissionMode}
}

// relaunch returns the settings with which a session's agent is started with a conversation.
func relaunch(w *work, conversation []string) session.Launch {
	seen := w.lastSeen(conversation)
	return claudeflags.Relaunch(w.r.Launch, *w.configured(), claudeflags.Seen{Mode: seen.PermissionMode,
		Model: seen.Requested, ModelSet: w.Env["ANTHROPIC_MODEL"] != "", Resumes: conversation[0] == "--resume"})
}

// lastSeen returns what is known of the conversation that a launch continues: a person may have
// changed its model and its permission mode in the terminal.
func (w *work) lastSeen(conversation []string) transcript.Progress {
	if w.r.ForkOf == uuid.Nil || w.r.Progress.Path != "" || !slices.Contains(conversation, w.r.ForkOf.String()) {
		return w.r.Progress
	}
	path, err := transcript.Find(w.Observer.ProjectsDir, w.r.ForkOf)
	if err != nil {
		return transcript.Progress{}
	}
	p, err := transcript.Progress{}.Advance(path)
	if err != nil {
		w.Log.Debug("transcript_unreadable", logkey.SessionID, w.r.ID.String(), logkey.Error, err.Error())
	}
	return p
}
