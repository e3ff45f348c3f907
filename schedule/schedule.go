package schedule

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strconv"
	"time"

	"github.com/google/uuid"

	"ccbot/internal/each"
	"ccbot/internal/keepjson"
	"ccbot/internal/session"
	"ccbot/internal/spool"
	"ccbot/lifecycle/outcome"
	"ccbot/port"
)

// Version is the schema version of the files that this program writes.
const Version = 1

// Run is an occurrence whose prompt is due, or was sent.
type Run struct {
	At   time.Time `json:"at"`
	Left int       `json:"left,omitempty"` // missed occurrences before it, which are left out
	Sent bool      `json:"sent,omitempty"` // the queue has the prompt
	// Typed is the prompt once the inbox has finished it. The inbox forgets it after two days.
	Typed *outcome.Prompt `json:"typed,omitempty"`
	Tries int             `json:"tries,omitempty"` // to resume the session
	Tried time.Time       `json:"tried,omitzero"`  // the time of the last one
}

// Schedule is a schedule as its file has it. Its file is removed at its end.
type Schedule struct {
	Version int `json:"version"`
	port.Schedule
	Conversation session.Conversation  `json:"conversation"` // of the session, as last seen
	Spec         string                `json:"spec"`
	Decided      time.Time             `json:"decided"` // the last decided occurrence, or the creation
	Run          *Run                  `json:"run,omitempty"`
	Reports      []port.ScheduleReport `json:"reports,omitempty"` // those that the chat has not got
	Ended        port.SkipReason       `json:"ended,omitempty"`
	ClockBack    time.Time             `json:"clock_back,omitzero"` // the Decided that was reported to be in the future

	unknown keepjson.Unknown // fields of a later program; they survive a rewrite
	rule    rule             // of Spec and Zone, see inZone
}

type plain Schedule

// MarshalJSON writes the schedule with the unknown fields.
func (s Schedule) MarshalJSON() ([]byte, error) { return keepjson.Marshal(plain(s), s.unknown) }

// UnmarshalJSON reads a schedule and keeps the unknown fields.
func (s *Schedule) UnmarshalJSON(data []byte) (err error) {
	if s.unknown, err = keepjson.Unmarshal(data, Version, (*plain)(s)); err != nil {
		return err
	}
	if s.ID == uuid.Nil || s.Session == uuid.Nil {
		return errors.New("the id or the session is missing")
	}
	return s.inZone(s.Zone)
}

// inZone sets the time zone, and with it the next occurrence. A zone that this machine does not
// know is the machine's.
func (s *Schedule) inZone(name string) (err error) {
	s.Zone = name
	s.rule, err = ruleOf(s.Spec, s.CreatedAt, location(name))
	s.Next = s.next()
	return err
}

func location(name string) *time.Location {
	if zone, err := time.LoadLocation(name); err == nil {
		return zone
	}
	return time.Local
}

// Clone returns a deep copy.
func (s Schedule) Clone() Schedule {
	s.Reports = slices.Clone(s.Reports)
	if s.Run != nil {
		run := *s.Run
		s.Run = &run
	}
	return s
}

// next returns the first occurrence that is not decided. It returns zero if there is none.
func (s *Schedule) next() time.Time {
	if s.Ended != "" {
		return time.Time{}
	}
	return s.rule.after(s.Decided)
}

// over reports whether there is nothing left to do.
func (s *Schedule) over() bool { return s.Run == nil && len(s.Reports) == 0 && s.next().IsZero() }

// Key identifies the prompt of the run.
func (s *Schedule) Key() uuid.UUID {
	return uuid.NewSHA1(s.ID, []byte(strconv.FormatInt(s.Run.At.Unix(), 10)))
}

const suffix = ".json"

// read reads the schedules of a folder, the oldest first. Files that cannot be understood go to
// quarantine, if it is not empty.
func read(folder spool.Folder, quarantine string, log *slog.Logger) (all []Schedule, err error) {
	_, err = spool.Loader{Quarantine: quarantine, Report: quarantine != "", Log: log}.Load(folder, suffix, func(name string, data []byte) error {
		var s Schedule
		if err := s.UnmarshalJSON(data); err != nil {
			return err
		}
		if s.ID.String()+suffix != name {
			return fmt.Errorf("the file is named %s, and has the schedule %s", name, s.ID)
		}
		all = append(all, s)
		return nil
	})
	slices.SortFunc(all, byAge)
	return all, err
}

// Read reads the schedules of a folder that a running ccbot may write, the oldest first.
func Read(dir string, log *slog.Logger) ([]port.Schedule, error) {
	all, err := read(spool.Folder{Path: dir}, "", log)
	return each.As(all, described), err
}

func described(s Schedule) port.Schedule { return s.Schedule }

func byAge(a, b Schedule) int {
	return cmp.Or(a.CreatedAt.Compare(b.CreatedAt), bytes.Compare(a.ID[:], b.ID[:]))
}
