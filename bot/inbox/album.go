package inbox

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/go-telegram/bot/models"

	"ccbot/internal/cuttext"
)

// albumQuiet is the silence after which an album counts as whole: Telegram sends each file as a
// message, without the number of files. The rest of a text that Telegram has cut is awaited for as
// long.
const albumQuiet = 1500 * time.Millisecond

// jobOf returns the job of an accepted entry. An update that cannot be decoded belongs to no album:
// it fails alone.
func jobOf(key string, raw json.RawMessage) job {
	var u models.Update
	g := glance(raw)
	if g.kind != models.AllowedUpdateMessage || json.Unmarshal(raw, &u) != nil || u.Message == nil {
		g, u.Message = seen{}, &models.Message{}
	}
	return job{key: key, came: time.Now(), from: g.from, album: g.album, text: cuttext.Of(u.Message)}
}

// firstOf returns the first job of a queue and the jobs after it. The job of an album has all its
// messages in the queue; the job of a cut text, all its parts. pause is the time in which further
// messages may still come: until albumQuiet after the last one, or 0 if the sender has written
// another message.
func firstOf(jobs []job, now time.Time) (first job, behind []job, pause time.Duration) {
	first, last, over := jobs[0], jobs[0], false
	for _, j := range jobs[1:] {
		if j.continues(last) {
			first.rest, first.left, last = append(first.rest, j.key), first.left || j.left, j
			continue
		}
		behind, over = append(behind, j), over || j.from == first.from
	}
	if !over && (first.album != "" || last.text.Long) {
		pause = max(0, last.came.Add(albumQuiet).Sub(now))
	}
	return first, behind, pause
}

// continues reports whether a message belongs to the same album or the same text as the message
// before it.
func (j job) continues(last job) bool {
	sameAlbum := j.album != "" && j.album == last.album
	return j.from == last.from && (sameAlbum || j.text.Continues(last.text))
}

// join moves the updates of an album's, or a cut text's, accepted entries into the first of these
// entries, then finishes the others. It returns ErrNoEntry if none is accepted. An entry that can
// never be read goes to quarantine; if an entry cannot be read now, nothing is joined. All of that
// is on disk before the album is handled, so only the first entry decides about it. After a crash
// in between the other entries come again, and are only finished if the first one has their
// updates.
func (s *Store) join(keys []string, late bool) (first Entry, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var others []Entry
	for _, key := range keys {
		e, err := s.presentLocked(key)
		switch {
		case err != nil: // without this message the album would be handled as if it were whole
			return Entry{}, err
		case e.State != Accepted: // or it is finished, or in quarantine
		case first.Key == "":
			first = e
		default:
			others = append(others, e)
		}
	}
	switch {
	case first.Key == "":
		return Entry{}, ErrNoEntry
	case len(others) == 0 && !late:
		return first, nil
	}
	first.Late = first.Late || late
	for _, o := range others {
		for _, raw := range append([]json.RawMessage{o.Update}, o.Rest...) {
			same := func(has json.RawMessage) bool { return glance(has).id == glance(raw).id }
			if !slices.ContainsFunc(first.Rest, same) {
				first.Rest = append(first.Rest, raw)
			}
		}
	}
	err = s.writeLocked(first)
	if s.Failpoint != nil && err == nil {
		s.Failpoint("parts-joined")
	}
	for _, o := range others {
		if err == nil {
			err = s.finishLocked(o.Key)
		}
	}
	if err != nil {
		return Entry{}, fmt.Errorf("join messages: %w", err)
	}
	return first, nil
}
