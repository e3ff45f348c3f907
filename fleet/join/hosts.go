package join

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"strings"
	"time"

	"ccbot/fleet/rights"
	"ccbot/internal/spool"
)

// Host is a machine of the fleet.
type Host struct {
	ID      string    `json:"id"`
	Name    string    `json:"name"`
	Key     string    `json:"key"`   // public, of its seals
	Users   []string  `json:"users"` // public user keys; the last one is the newest
	Code    string    `json:"code"`  // the id of its code
	Joined  time.Time `json:"joined"`
	Until   time.Time `json:"until"` // the end of its rights
	Removed time.Time `json:"removed,omitzero"`
	// Revoked has the keys whose rights have ended, with the time of the end.
	Revoked rights.Revoked `json:"revoked,omitempty"`
}

// IsRemoved reports whether the host's rights were taken back.
func (h Host) IsRemoved() bool { return !h.Removed.IsZero() }

// Hosts stores the hosts of a fleet, each in a file with its id. The folder has Fsync.
type Hosts struct {
	Folder spool.Folder
}

// Unread is the error of a host whose file cannot be read.
type Unread struct {
	ID  string
	Err error
}

func (u *Unread) Error() string { return fmt.Sprintf("join: read the host %s: %v", u.ID, u.Err) }

// Unwrap returns why the file cannot be read.
func (u *Unread) Unwrap() error { return u.Err }

// List returns all hosts, with the removed ones, except the unread ones: the file of such a host may
// have a revocation.
func (h Hosts) List() (all []Host, unread []*Unread, err error) {
	names, err := h.Folder.List()
	if err != nil {
		return nil, nil, fmt.Errorf("join: read the hosts: %w", err)
	}
	for _, name := range names {
		switch host, err := h.get(name); {
		case err != nil:
			unread = append(unread, &Unread{name, err})
		default:
			all = append(all, host)
		}
	}
	return all, unread, nil
}

// Revoked returns the ids of the hosts that are not removed, and all keys whose rights have ended.
// The error is an Unread if some of these keys are not known; the ids are those of the other hosts.
func (h Hosts) Revoked() (ids []string, revoked rights.Revoked, err error) {
	all, unread, err := h.List()
	if err != nil {
		return nil, nil, err
	}
	if len(unread) > 0 {
		err = unread[0]
	}
	revoked = make(rights.Revoked)
	for _, host := range all {
		maps.Copy(revoked, host.Revoked)
		if !host.IsRemoved() {
			ids = append(ids, host.ID)
		}
	}
	return ids, revoked, err
}

func (h Hosts) get(id string) (host Host, err error) {
	data, err := h.Folder.Read(id)
	if err == nil {
		err = json.Unmarshal(data, &host)
	}
	if err != nil {
		return Host{}, fmt.Errorf("join: read the host %s: %w", id, err)
	}
	return host, nil
}

// has reports whether a host has an id, or had it.
func (h Hosts) has(id string) (bool, error) {
	_, err := h.get(id)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}

// find returns the host with an id that is not removed.
func (h Hosts) find(id string) (Host, error) {
	host, err := h.get(id)
	if err == nil && host.IsRemoved() {
		err = fmt.Errorf("join: the host %s: %w", id, fs.ErrNotExist)
	}
	return host, err
}

func (h Hosts) put(host Host) error {
	data, err := json.Marshal(host)
	if err != nil {
		return fmt.Errorf("join: %w", err)
	}
	if err := h.Folder.Put(host.ID, data); err != nil {
		return fmt.Errorf("join: store the host %s: %w", host.ID, err)
	}
	return nil
}

// named returns the host with a name that is not removed. Names differ in more than case.
func (h Hosts) named(name string) (Host, error) {
	all, _, err := h.List()
	if err != nil {
		return Host{}, err
	}
	for _, host := range all {
		if strings.EqualFold(host.Name, name) && !host.IsRemoved() {
			return host, nil
		}
	}
	return Host{}, fs.ErrNotExist
}

// checkName returns ErrNameTaken if a host has a name.
func (h Hosts) checkName(name string) error {
	switch _, err := h.named(name); {
	case err == nil:
		return ErrNameTaken
	case errors.Is(err, fs.ErrNotExist):
		return nil
	default:
		return err
	}
}
