package outbox

import (
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strconv"
	"strings"
	"sync"
	"time"

	"ccbot/internal/logkey"
	"ccbot/internal/spool"
)

const (
	postVersion = 1
	maxPost     = 1 << 20 // bytes of a file; a message with 4096 characters has a fraction of it
)

// letter is one file in outbox/: a message that must reach the chat. Its name is the time of
// writing in nanoseconds, with leading zeros, so that the order of the names is the order of
// posting, also over restarts.
type letter struct {
	Version int       `json:"version"`
	Created time.Time `json:"created"`
	Message Message   `json:"message"`
}

type shelf struct {
	folder spool.Folder
	aside  spool.Loader
	log    *slog.Logger

	mu       sync.Mutex // held during disk writes and queueing, so that both have the same order
	loaded   bool       // the posts of earlier runs are queued
	lastName int64
	named    map[string]string // the file of each name for which the owner is still to be asked
}

// queueing puts posts into the queue: the files of the parts of a message, or the file of a message
// from an earlier run.
type queueing func(files []string, m Message)

// load queues, at its first call, the posts of earlier runs. Only the names of the files are kept
// in memory; the chat of each post decides its queue.
func (s *shelf) load(queue queueing) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.loaded {
		return nil
	}
	files, err := s.folder.List()
	if err = errors.Join(err, s.folder.Tidy()); err != nil {
		return err
	}
	for _, file := range files {
		if n, err := strconv.ParseInt(strings.TrimSuffix(file, ".json"), 10, 64); err == nil {
			s.lastName = max(s.lastName, n)
		}
		if m, ok := s.read(file); ok {
			s.named[m.Name] = file
			queue([]string{file}, m)
		}
	}
	s.loaded = true
	return nil
}

// write keeps a message on disk, all of it or nothing, and queues it. Of a named message only the
// name is kept, unless a post of that name waits already.
func (s *shelf) write(m Message, queue queueing) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	parts := []Message{{Name: m.Name, To: m.To, Session: m.Session, Rank: m.Rank}}
	switch {
	case m.Name == "":
		parts = Parts(m)
	case s.named[m.Name] != "":
		return nil
	}
	var files []string
	for _, part := range parts {
		now := time.Now()
		s.lastName = max(now.UnixNano(), s.lastName+1) // a clock that is set back must not change the order
		file := fmt.Sprintf("%020d.json", s.lastName)
		data, err := json.Marshal(letter{Version: postVersion, Created: now.UTC(), Message: part})
		if err == nil {
			err = s.folder.Put(file, data)
		}
		if err != nil {
			for _, file := range files {
				err = errors.Join(err, s.folder.Remove(file))
			}
			return err
		}
		files = append(files, file)
		s.named[m.Name] = file
	}
	queue(files, m)
	return nil
}

var errLetter = errors.New("not a message of this version")

// read gives the message of a file, or false when there is none. A file that will never be readable
// goes to quarantine, as spool.Untold; a file that may be readable later stays for the next start.
func (s *shelf) read(file string) (m Message, ok bool) {
	_, err := s.aside.LoadOne(s.folder, file, func(data []byte) error {
		var l letter
		if json.Unmarshal(data, &l) != nil || l.Version != postVersion || l.Message.To.ChatID == 0 ||
			l.Message.Text.Blank() && l.Message.Name == "" {
			return errLetter
		}
		m, ok = l.Message, true
		return nil
	})
	if err != nil {
		s.log.Warn("queued_message_unreadable", logkey.File, file, logkey.Error, err)
	}
	return m, ok
}

func (s *shelf) putAside(file string, why error) error {
	return s.folder.Quarantine(file, s.aside.Quarantine, why.Error())
}

// asks notes whether the owner of a post's name is being asked now, or the post still waits. Only a
// post that still waits makes another post of the same name needless.
func (s *shelf) asks(name, file string, being bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case being && s.named[name] == file:
		delete(s.named, name)
	case !being && s.named[name] == "":
		s.named[name] = file
	}
}
