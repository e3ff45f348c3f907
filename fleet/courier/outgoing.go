package courier

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strconv"
	"time"

	"github.com/google/uuid"

	"ccbot/internal/spool"
)

const (
	stateName = "state"
	// maxSent limits the items that wait for their answers at the same time.
	maxSent = 256
)

// state is a file of both folders. In out, all items up to Settled are at the other end; those that
// follow are of Life, and those above the numbers of Later are of later lives. In in, it is what the
// sender's frames had, and Earlier has the lives before.
type state struct {
	Life    string `json:"life"`
	Settled uint64 `json:"settled"`
	Later   []span `json:"later,omitempty"`
	Earlier []span `json:"earlier,omitempty"`
}

// span is a life with a number. In out, the items of the life are above it; in in, all up to it were
// taken.
type span struct {
	Life string `json:"life"`
	Seq  uint64 `json:"seq"`
}

func readState(f spool.Folder) (s state, err error) {
	data, err := f.Read(stateName)
	if err == nil {
		err = json.Unmarshal(data, &s)
	}
	if errors.Is(err, fs.ErrNotExist) {
		return state{}, nil
	}
	return s, err
}

func (s state) write(f spool.Folder) error {
	data, err := json.Marshal(s)
	if err != nil {
		return err
	}
	return f.Put(stateName, data)
}

// outgoing are the items that this end sends.
type outgoing struct {
	folder spool.Folder
	state
	last  uint64
	items []waiting // in order, from the lowest open item on
	since time.Time // the first item is the first
}

// waiting is an item between Put and the answers of all items before it.
type waiting struct {
	seq   uint64
	round uint64 // in which it was sent last
	mine  bool   // the other end has it
}

func openOutgoing(f spool.Folder) (o outgoing, err error) {
	if err := f.Make(); err != nil {
		return outgoing{}, err
	}
	if err := f.Tidy(); err != nil {
		return outgoing{}, err
	}
	o = outgoing{folder: f, since: time.Now()}
	if o.state, err = readState(f); err != nil {
		return outgoing{}, err
	}
	names, err := f.List()
	if err != nil {
		return outgoing{}, err
	}
	o.last = o.Settled
	for _, name := range names {
		seq, err := strconv.ParseUint(name, 10, 64)
		switch {
		case err != nil: // the state, or a foreign file
		case seq <= o.Settled:
			if err := f.Remove(name); err != nil {
				return outgoing{}, err
			}
		default:
			o.items = append(o.items, waiting{seq: seq})
			o.last = seq
		}
	}
	return o, nil
}

// beginLife begins another life: a folder that was copied or set back has the numbers of items
// that it did not see. Items that are open keep their life, in which the other end may have them.
func (o *outgoing) beginLife() error {
	life, err := uuid.NewV7() // an earlier program takes a later one for higher
	if err != nil {
		return err
	}
	fresh := span{life.String(), o.last}
	switch n := len(o.Later); {
	case o.last == o.Settled:
		o.Life, o.Later = fresh.Life, nil
	case n > 0 && o.Later[n-1].Seq == o.last: // the start before has put nothing
		o.Later[n-1] = fresh
	default:
		o.Later = append(o.Later, fresh)
	}
	return o.write(o.folder)
}

// end returns the last number that is sent now. The items of a later life wait until the other end has
// all of this one, because an earlier program knows one life at a time.
func (o *outgoing) end() uint64 {
	if len(o.Later) > 0 {
		return o.Later[0].Seq
	}
	return o.last
}

func (o *outgoing) put(body []byte) error {
	seq := o.last + 1
	if err := o.folder.Put(nameOf(seq), body); err != nil {
		return err
	}
	o.last = seq
	if len(o.items) == 0 {
		o.since = time.Now()
	}
	o.items = append(o.items, waiting{seq: seq})
	return nil
}

// nameOf is a name whose order is the order of the numbers.
func nameOf(seq uint64) string { return fmt.Sprintf("%020d", seq) }

// answered notes that the other end has an item. An item is removed after all items before it, so
// that its number is never used again: a restart counts from the highest file and Settled.
func (o *outgoing) answered(life string, seq uint64) error {
	if life != o.Life {
		return nil
	}
	i, found := o.find(seq)
	if !found {
		return nil
	}
	o.items[i].mine = true
	return o.settle()
}

func (o *outgoing) find(seq uint64) (int, bool) {
	return slices.BinarySearchFunc(o.items, seq, func(w waiting, seq uint64) int { return cmp.Compare(w.seq, seq) })
}

// settle removes the first items as far as the other end has them.
func (o *outgoing) settle() error {
	n := slices.IndexFunc(o.items, func(w waiting) bool { return !w.mine })
	if n < 0 {
		n = len(o.items)
	}
	if n == 0 {
		return nil
	}
	settled := state{Life: o.Life, Settled: o.items[n-1].seq, Later: o.Later}
	if len(o.Later) > 0 && settled.Settled == o.Later[0].Seq {
		settled.Life, settled.Later = o.Later[0].Life, o.Later[1:]
	}
	if err := settled.write(o.folder); err != nil {
		return err // the next answer tries again
	}
	over := o.items[:n]
	o.state, o.items, o.since = settled, slices.Clone(o.items[n:]), time.Now()
	var errs []error
	for _, w := range over {
		errs = append(errs, o.folder.Remove(nameOf(w.seq))) // a file that stays is removed at the next start
	}
	return errors.Join(errs...)
}

// due returns the first item that has to be sent in a round.
func (o *outgoing) due(round uint64) (frame, bool, error) {
	for i := range min(len(o.items), maxSent) {
		w := &o.items[i]
		if w.seq > o.end() {
			break
		}
		if w.mine || w.round+1 >= round && w.round > 0 {
			continue
		}
		w.round = round
		body, err := o.folder.Read(nameOf(w.seq))
		if err != nil {
			return frame{}, false, err
		}
		return frame{V: 1, Life: o.Life, Seq: w.seq, Settled: o.Settled, body: body}, true, nil
	}
	return frame{}, false, nil
}

func (o *outgoing) forgetRounds() {
	for i := range o.items {
		o.items[i].round = 0
	}
}
