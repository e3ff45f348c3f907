package toy

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"ccbot/agent"
	"ccbot/agent/history"
	"ccbot/port/talk"
)

// Transcripts reads the toy's transcripts.
type Transcripts struct{ Dir string }

// Folder is the folder of all transcripts.
func (t Transcripts) Folder() string { return t.Dir }

// Find looks for the one file that the conversation can have.
func (t Transcripts) Find(conversation uuid.UUID) (string, error) {
	path := filepath.Join(t.Dir, Name(conversation))
	_, err := os.Stat(path)
	return path, err
}

// All finds the one file that Find does.
func (t Transcripts) All(conversation uuid.UUID) ([]string, error) {
	path, err := t.Find(conversation)
	return []string{path}, err
}

// End is the end of the last whole line.
func (Transcripts) End(path string) (talk.Cursor, error) {
	if _, err := os.Stat(path); err != nil {
		return talk.Cursor{}, err
	}
	all, err := lines(talk.Cursor{Path: path})
	end := talk.Cursor{Path: path}
	if len(all) > 0 {
		end.Offset = all[len(all)-1].next
	}
	return end, err
}

// Own accepts a file in the folder.
func (t Transcripts) Own(path string, conversation uuid.UUID) string {
	if path != filepath.Join(t.Dir, Name(conversation)) {
		return ""
	}
	return path
}

// Sibling names the conversation's file.
func (Transcripts) Sibling(path string, conversation uuid.UUID) string {
	return filepath.Join(filepath.Dir(path), Name(conversation))
}

// Advance counts turns and letters.
func (Transcripts) Advance(p history.Progress, path string) (history.Progress, error) {
	next := p
	if path != p.Path {
		next = history.Progress{Path: path, TurnsWell: p.TurnsWell}
	}
	all, err := lines(talk.Cursor{Path: path, Offset: next.Offset})
	if err != nil || len(all) == 0 {
		return p, err
	}
	for _, l := range all {
		next.Offset = l.next
		switch l.Kind {
		case Prompt, Call, Result:
			next.OpenTurn, next.Failed = &history.Turn{At: l.At, Step: l.Text}, talk.Failure{}
		case Words:
			next.OpenTurn = &history.Turn{At: l.At}
			next.Tokens.Output += int64(len(l.Text))
		case End, Stop, Error:
			next.OpenTurn, next.LastTurnAt = nil, l.At
			next.Turns++
			if l.Kind == End {
				next.TurnsWell++
			}
		}
	}
	return next, nil
}

// Unsaid looks for words of the agent.
func (Transcripts) Unsaid(c talk.Cursor, before int64) bool {
	all, err := lines(c)
	return err != nil || slices.ContainsFunc(all, func(l Line) bool { return l.Kind == Words && l.from < before })
}

// Reply reads the transcript again each time.
func (Transcripts) Reply(mark talk.Cursor, since time.Time, text string) func() (talk.Reply, error) {
	return func() (a talk.Reply, err error) {
		all, err := lines(mark)
		begun := false
		for _, l := range all {
			switch {
			case !begun:
				begun = l.has(text, since)
			case l.Kind == Words:
				a.Texts = append(a.Texts, l.Text)
			case l.Kind == Call:
				a.Texts = nil
			case l.Kind == End:
				a.Ending = talk.EndedTurn
			case l.Kind == Stop:
				a.Ending = talk.StoppedTurn
			case l.Kind == Error:
				a.Ending, a.Failure = talk.FailedTurn, talk.Failure{Kind: talk.FailedRequest, Text: l.Text}
			}
			if a.Ending != "" {
				break
			}
		}
		return a, err
	}
}

// HasOthers counts prompts.
func (Transcripts) HasOthers(mark talk.Cursor, since time.Time, _ string) (bool, error) {
	all, err := lines(mark)
	prompts := slices.DeleteFunc(all, func(l Line) bool { return l.Kind != Prompt || l.At.Before(since) })
	return len(prompts) > 1, err
}

// Check finds no faults: the toy writes whole lines.
func (t Transcripts) Check(conversation uuid.UUID) (agent.Health, error) {
	path, err := t.Find(conversation)
	if err != nil {
		return agent.Health{}, err
	}
	info, err := os.Stat(path)
	if err != nil {
		return agent.Health{}, err
	}
	return agent.Health{Path: path, Size: info.Size()}, nil
}

// Repair is never asked for.
func (Transcripts) Repair(agent.Health, uuid.UUID, uuid.UUID) (string, error) {
	return "", agent.ErrNothingLeft
}

// Proof finds the proof of a prompt in a transcript.
type Proof struct{}

// Matches folds white space.
func (Proof) Matches(submitted, sent string, whole bool) bool {
	return folded(submitted) == folded(sent) || !whole && strings.Contains(folded(submitted), folded(sent))
}

// Trace looks for the prompt.
func (Proof) Trace(path string, offset int64, since time.Time, text string) (t agent.Trace, err error) {
	all, err := lines(talk.Cursor{Path: path, Offset: offset})
	for _, l := range all {
		switch {
		case l.At.Before(since):
			t.Earlier = true
		case l.has(text, since):
			t.Arrived = true
		case l.Kind == Prompt:
			t.Foreign = true
		}
	}
	return t, err
}

// HasInterrupt looks for a line of that kind.
func (Proof) HasInterrupt(from talk.Cursor) bool {
	all, _ := lines(from) // an unreadable transcript has none
	return slices.ContainsFunc(all, func(l Line) bool { return l.Kind == Stop })
}

// Grew compares sizes.
func (Proof) Grew(path string, offset int64) (bool, error) {
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil && info.Size() > offset, err
}

// LastPrompt reads all.
func (Proof) LastPrompt(_ context.Context, path string) (last string) {
	all, _ := lines(talk.Cursor{Path: path})
	for _, l := range all {
		if l.Kind == Prompt {
			last = l.Text
		}
	}
	return last
}
