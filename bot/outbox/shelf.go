package outbox

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"ccbot/internal/spool"
)

const (
	postVersion = 1
	maxPost     = 1 << 20 // bytes of a file; a message with 4096 characters has a fraction of it
)

// letter is one file in outbox/: a message that must reach the chat. Names are the time of writing
// in nanoseconds, with leading zeros, so that their order is the order of posting, over restarts
// too.
type letter struct {
	Version int       `json:"version"`
	Created time.Time `json:"created"`
	Message Message   `json:"message"`
}

// shelf is the folder of posts.
type shelf struct {
	folder     spool.Folder
	quarantine string
	log        *slog.Logger

	mu       sync.Mutex // held over disk writes and queueing, so that both have the same order
	loaded   bool       // what earlier runs left is queued
	lastName int64
	named    map[string]bool // names that wait; true: posted since the owner was asked
}

// queueing puts posts into the queue: files with parts of a message, or with one of an earlier run.
type queueing func(files []string, m Message)

// load queues, the first time, what earlier runs left. Only names are kept; the chat of each
// decides its queue.
func (s *shelf) load(queue queueing) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.loaded {
		return nil
	}
	files, err := s.folder.List()
	if err != nil {
		return err
	}
	for _, file := range files {
		if n, err := strconv.ParseInt(strings.TrimSuffix(file, ".json"), 10, 64); err == nil {
			s.lastName = max(s.lastName, n)
		}
		if m, ok := s.read(file); ok {
			s.named[m.Name] = true
			queue([]string{file}, m)
		}
	}
	s.loaded = true
	return nil
}

// write keeps a message, or nothing of it, and queues it. Of a named one only the name is kept,
// unless that waits already.
func (s *shelf) write(m Message, queue queueing) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	parts := []Message{{Name: m.Name, To: m.To, Session: m.Session, Rank: m.Rank}}
	if _, waits := s.named[m.Name]; m.Name != "" && waits {
		s.named[m.Name] = true
		return nil
	} else if m.Name == "" {
		parts = Parts(m)
	}
	var files []string
	for _, part := range parts {
		now := time.Now()
		s.lastName = max(now.UnixNano(), s.lastName+1) // a clock that goes back must not reorder
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
	}
	s.named[m.Name] = true
	queue(files, m)
	return nil
}

var errLetter = errors.New("not a message of this version")

// read gives the message of a file; false: there is none. A file that will never be readable goes
// to quarantine, one that may be readable later stays for the next start.
func (s *shelf) read(file string) (Message, bool) {
	var l letter
	data, err := s.folder.Read(file)
	if err == nil {
		if json.Unmarshal(data, &l) != nil || l.Version != postVersion || l.Message.To.ChatID == 0 ||
			l.Message.Text.Blank() && l.Message.Name == "" {
			err = errLetter
		}
	}
	forGood := []error{errLetter, spool.ErrForeign, spool.ErrTooBig}
	switch {
	case err == nil:
		return l.Message, true
	case errors.Is(err, fs.ErrNotExist):
	case !slices.ContainsFunc(forGood, func(e error) bool { return errors.Is(err, e) }):
		s.log.Warn("queued message cannot be read now", "file", file, "error", err)
	default:
		s.log.Warn("queued message put aside", "file", file, "error", err)
		if err := s.putAside(file, err); err != nil {
			s.log.Error("queued message cannot be put aside", "file", file, "error", err)
		}
	}
	return Message{}, false
}

func (s *shelf) putAside(file string, why error) error {
	return s.folder.Quarantine(file, s.quarantine, why.Error())
}

// ask notes that the owner of a name is about to be asked for its message.
func (s *shelf) ask(name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.named[name] = false
}

// end removes a named post. again: the name was posted after its owner had been asked, so the file
// stays. keep is why it must stay for the next run.
func (s *shelf) end(name, file string, keep error) (again bool, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if keep == nil && s.named[name] {
		return true, nil
	}
	delete(s.named, name)
	if keep != nil {
		return false, keep
	}
	return false, s.folder.Remove(file)
}
