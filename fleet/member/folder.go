package member

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"

	"ccbot/fleet/join"
	"ccbot/internal/spool"
)

// Files of the folder. Its folders are links, one for each admission.
const (
	joiningName = "joining" // keys, until they are admitted
	memberName  = "member"
)

// ErrRemoved is returned for a machine that its chat has removed.
var ErrRemoved = errors.New("the chat has removed this machine")

// ErrReplaced is returned for a machine that has joined another chat since it began.
var ErrReplaced = errors.New("this machine has joined another chat")

// ErrNone is returned by Open on a machine that has not joined.
var ErrNone = errors.New("this machine has not joined a chat")

// stored is the stored form of a membership.
type stored struct {
	join.Admission
	Keys    json.RawMessage `json:"keys"`
	Removed bool            `json:"removed,omitempty"`
}

func files(path string) spool.Folder { return spool.Folder{Path: path, Fsync: true} }

// Keys returns the keys with which this machine asks to join. They are those of the last attempt
// unless that succeeded.
func Keys(path string) (join.HostKeys, error) {
	folder := files(path)
	if err := folder.Make(); err != nil {
		return join.HostKeys{}, err
	}
	data, err := folder.Read(joiningName)
	if err == nil {
		return join.ParseHostKeys(data)
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return join.HostKeys{}, fmt.Errorf("read the keys of this machine: %w", err)
	}
	keys, err := join.NewHostKeys()
	if err == nil {
		data, err = keys.Secret()
	}
	if err == nil {
		err = folder.Put(joiningName, data)
	}
	return keys, err
}

// Joined stores the admission of this machine, which replaces an earlier one.
func Joined(path string, a join.Admission, keys join.HostKeys) error {
	if err := store(path, stored{Admission: a}, keys); err != nil {
		return err
	}
	return files(path).Remove(joiningName)
}

// DropKeys removes the keys with which this machine has asked to join.
func DropKeys(path string) error { return files(path).Remove(joiningName) }

// IsMember reports whether the machine of a folder has joined a chat that has not removed it.
func IsMember(path string) (bool, error) {
	_, is, err := Membership(path)
	return is, err
}

// Membership returns the admission of the machine of a folder, if a chat has let it in and has not
// removed it.
func Membership(path string) (a join.Admission, is bool, err error) {
	a, _, err = load(path)
	if errors.Is(err, ErrNone) || errors.Is(err, ErrRemoved) {
		return a, false, nil
	}
	return a, err == nil, err
}

func store(path string, s stored, keys join.HostKeys) error {
	secret, err := keys.Secret()
	if err != nil {
		return err
	}
	s.Keys = secret
	data, err := json.Marshal(s)
	if err != nil {
		return err
	}
	return files(path).Put(memberName, data)
}

func load(path string) (a join.Admission, keys join.HostKeys, err error) {
	var s stored
	data, err := files(path).Read(memberName)
	if errors.Is(err, fs.ErrNotExist) {
		return a, keys, ErrNone
	}
	if err == nil {
		err = json.Unmarshal(data, &s)
	}
	if s.Removed {
		return a, keys, ErrRemoved
	}
	if err == nil {
		keys, err = join.ParseHostKeys(s.Keys)
	}
	if err != nil {
		return a, keys, fmt.Errorf("read the admission of this machine: %w", err)
	}
	return s.Admission, keys, nil
}
