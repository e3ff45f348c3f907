package lifecycle

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"math"
	"os"
	"slices"
	"time"

	"github.com/google/uuid"

	"ccbot/internal/logkey"
	"ccbot/internal/process"
	"ccbot/internal/session"
	"ccbot/internal/transcript"
	"ccbot/lifecycle/evidence"
)

// noticeEvery is how often all processes are looked at for second writers that
// no presence file told of.
const noticeEvery = time.Minute

// NoticeWriters takes one look at all processes and tells every one that writes
// the conversation of a session without being its agent, and every conversation
// that goes on though its session is over. One that has come to a session whose
// own agent is gone may be the same person going on elsewhere: Came is asked
// first. Nobody is told twice of the same process, and nothing is ended.
func (s *Service) NoticeWriters(ctx context.Context) error {
	tidied := s.tidyTransfers(ctx)
	all := s.kit.Store.Shared()
	known := explained(all)
	notices := noticeable(all)
	var records []session.Record
	var conversations []uuid.UUID
	for _, r := range all {
		if notices(r) {
			records, conversations = append(records, r), append(conversations, r.ClaudeSessionID)
		}
	}
	if len(records) == 0 {
		return tidied
	}
	found, err := s.kit.Evidence.Read(ctx, conversations...)
	if err != nil {
		return errors.Join(tidied, err)
	}
	// Of two sessions with one conversation the open one is told.
	slices.SortStableFunc(records, func(a, b session.Record) int { return cmp.Compare(closed(a), closed(b)) })
	failed := []error{tidied}
	for _, r := range records {
		if len(found.Untold(r)) == 0 && !s.kit.haunted(r, known[r.ClaudeSessionID]) || s.came(ctx, r, found) {
			continue
		}
		err := s.do(ctx, r.ID, func(w *work) error { return w.noticeWriters(ctx) })
		if err != nil && !errors.Is(err, session.ErrNotFound) {
			failed = append(failed, err)
		}
	}
	return errors.Join(failed...)
}

// came asks whether a session has moved to one of those who came to its
// conversation. It runs on no worker: a session that moves needs its own.
func (s *Service) came(ctx context.Context, r session.Record, found *evidence.Evidence) bool {
	fresh := slices.DeleteFunc(found.Untold(r), func(v process.Verdict) bool { return v.Source != process.SourcePresence })
	if s.kit.Came == nil || len(fresh) == 0 || !r.State.MayMove(s.kit.ownAgent(r)) {
		return false
	}
	for _, one := range found.Describe(ctx, r, fresh) {
		if one.Adoptable() && s.kit.Came(ctx, one) {
			return true
		}
	}
	return false
}

func closed(r session.Record) int {
	if r.State.Live() {
		return 0
	}
	return 1
}

// noticed says whether a session's second writers can be told from its own
// agent: while it is being started or ended its worker decides. What another
// session goes on with, or what is too old to be meant, is that one's to tell.
func noticed(r session.Record) bool {
	return r.State != session.Stopping && r.Owns() && (!r.State.Live() || r.Binding != nil)
}

// noticeable finds the sessions that have something to tell of who else writes
// their conversation. One that is over leaves that to an open one with the same.
func noticeable(records []session.Record) func(session.Record) bool {
	open := make(map[uuid.UUID]bool)
	for _, r := range records {
		if r.State.Live() {
			open[r.ClaudeSessionID] = true
		}
	}
	return func(r session.Record) bool { return noticed(r) && (r.State.Live() || !open[r.ClaudeSessionID]) }
}

// explained is up to where it is known who has written each conversation: another
// session may have had it later, and ended later.
func explained(records []session.Record) map[uuid.UUID]int64 {
	known := make(map[uuid.UUID]int64)
	for _, r := range records {
		known[r.ClaudeSessionID] = max(known[r.ClaudeSessionID], r.Tail, r.Known)
	}
	return known
}

// haunted says whether the conversation of a session that is over has gone on,
// and that was not told yet. Of a session that is not proven to be over its own
// agent may write.
func (k *kit) haunted(r session.Record, known int64) bool {
	unknown := r.Tail == 0 && !r.Ended.Valid() // by a program that did not note it
	if !r.State.Over() || r.Haunted || unknown {
		return false
	}
	path := k.Observer.transcriptPath(r)
	info, err := os.Stat(path)
	if err != nil || info.Size() <= known {
		return false
	}
	grew, err := transcript.Grew(path, known)
	if err != nil {
		k.Log.Warn("transcript_unreadable", logkey.Path, path, logkey.Error, err.Error())
	}
	return grew
}

// noticeWriters tells what is still true on the session's worker.
func (w *work) noticeWriters(ctx context.Context) error {
	all := w.Store.Shared()
	known := explained(all)[w.r.ClaudeSessionID]
	if !noticeable(all)(*w.r) {
		return nil
	}
	found, err := w.Evidence.Settled(ctx, w.r.ClaudeSessionID)
	if err != nil {
		return err
	}
	fresh := found.Untold(*w.r)
	if len(fresh) == 0 {
		if !w.haunted(*w.r, known) {
			return nil
		}
		if slices.ContainsFunc(found.Strangers(*w.r), func(v process.Verdict) bool { return v.Writer == process.Yes }) {
			w.r.Haunted = true // by somebody who was told already
			return w.save()
		}
	}
	if len(fresh) > 0 && w.toldElsewhere(fresh) {
		return w.noteSeconds(fresh)
	}
	var who OtherWriters
	if len(fresh) > 0 { // then all who write are shown, also those who were told before
		who = found.Describe(ctx, *w.r, found.Strangers(*w.r))
	}
	for _, v := range fresh {
		w.Log.Warn("second_writer", logkey.PID, v.Process.PID, logkey.SessionID, w.r.ID.String(), logkey.Why, v.Why)
	}
	if err := w.tell(ctx, *w.r, who); err != nil {
		return err
	}
	w.at("second-told")
	return w.noteSeconds(fresh)
}

// noteSeconds puts on disk who the person was told of.
func (w *work) noteSeconds(told []process.Verdict) error {
	w.r.Seconds = w.Evidence.Living(w.r.Seconds)
	for _, v := range told {
		if v.Writer == process.Yes && !slices.Contains(w.r.Seconds, v.Process.Identity) {
			w.r.Seconds = append(w.r.Seconds, v.Process.Identity)
		}
	}
	w.r.Haunted = !w.r.State.Live()
	return w.save()
}

// toldElsewhere says whether all of them were told already, with another session
// of the same conversation.
func (w *work) toldElsewhere(fresh []process.Verdict) bool {
	var told []process.Identity
	for _, r := range w.Store.Shared() {
		if r.ID != w.r.ID && r.ClaudeSessionID == w.r.ClaudeSessionID {
			told = append(told, r.Seconds...)
		}
	}
	return !slices.ContainsFunc(fresh, func(v process.Verdict) bool { return !slices.Contains(told, v.Process.Identity) })
}

// EndWriters ends processes that write the session's conversation without being
// its agent: a person was shown them and has decided. Each is proven anew right
// before it is ended; one that is not what the person saw any more is spared.
func (s *Service) EndWriters(ctx context.Context, id uuid.UUID, who []process.Identity) (ended []Ending, err error) {
	err = s.do(ctx, id, func(w *work) error {
		prove := func(p process.Process) error {
			return w.proveWriter(ctx, p, func(found *evidence.Evidence, v process.Verdict) bool { return !found.IsOwn(*w.r, v) })
		}
		ended, _ = w.endWriting(ctx, who, prove)
		_, _ = w.endBelow(ctx) // their tools; one that stays is tried again with the session's end
		w.r.Seconds = w.Evidence.Living(w.r.Seconds)
		if !w.r.State.Live() {
			w.r.Known, w.r.Haunted = w.transcriptSize(), false
		}
		return w.save()
	})
	return ended, err
}

func (w *work) transcriptSize() int64 {
	info, err := os.Stat(w.Observer.transcriptPath(*w.r))
	switch {
	case err == nil:
		return info.Size()
	case errors.Is(err, fs.ErrNotExist):
		return 0
	}
	return math.MaxInt64 // not known: nothing that comes is growth
}
