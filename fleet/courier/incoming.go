package courier

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"ccbot/internal/spool"
)

// maxReady is the number of items that wait for Next or Done, beyond which no item is taken: the
// others stay at the sender.
const maxReady = 256

// maxEarlier is the number of earlier lives of the sender whose items are known. Each start of the sender is a
// life.
const maxEarlier = 64

// maxTombstones is the number of settled tombstones that are removed at once.
const maxTombstones = 32

// incoming are the items that this end took. An item that is done leaves a tombstone, until the
// sender reports that it is settled: a later copy of it is then known by its number alone.
type incoming struct {
	folder spool.Folder
	state
	complete uint64          // all items up to it were taken
	open     map[string]mark // by name
	dead     map[string]bool // names of items with a tombstone
}

// mark describes an item that is not done.
type mark struct {
	life     string
	seq      uint64
	returned bool // by Next
}

const tombstone = ".done"

func openIncoming(f spool.Folder) (in incoming, err error) {
	if err := f.Make(); err != nil {
		return incoming{}, err
	}
	if err := f.Tidy(); err != nil {
		return incoming{}, err
	}
	in = incoming{folder: f, open: make(map[string]mark), dead: make(map[string]bool)}
	if in.state, err = readState(f); err != nil {
		return incoming{}, err
	}
	in.complete = in.Settled
	names, err := f.List()
	if err != nil {
		return incoming{}, err
	}
	for _, name := range names {
		base, isDead := strings.CutSuffix(name, tombstone)
		life, number, _ := strings.Cut(base, "_")
		seq, err := strconv.ParseUint(number, 10, 64)
		switch {
		case err != nil: // the state, or a foreign file
		case isDead:
			in.dead[base] = true
		default:
			in.open[name] = mark{life: life, seq: seq}
		}
	}
	if err := in.bury(); err != nil {
		return incoming{}, err
	}
	in.count()
	return in, nil
}

// bury ends what a crash left between a tombstone and the end of its item, and removes the tombstones
// that a number tells as well.
func (in *incoming) bury() error {
	for name := range in.dead {
		if _, both := in.open[name]; both {
			if err := in.folder.Remove(name); err != nil {
				return err
			}
			delete(in.open, name)
		}
		life, number, _ := strings.Cut(name, "_")
		seq, _ := strconv.ParseUint(number, 10, 64)
		if life == in.Life {
			continue
		}
		if i := in.earlier(life); i < 0 || seq <= in.Earlier[i].Seq {
			if err := in.removeTombstone(name); err != nil {
				return err
			}
		}
	}
	return nil
}

func (in *incoming) removeTombstone(name string) error {
	if err := in.folder.Remove(name + tombstone); err != nil {
		return fmt.Errorf("remove a tombstone: %w", err) // the next start removes it
	}
	delete(in.dead, name)
	return nil
}

func (in *incoming) earlier(life string) int {
	return slices.IndexFunc(in.Earlier, func(s span) bool { return s.Life == life })
}

func itemName(life string, seq uint64) string { return life + "_" + nameOf(seq) }

// count raises complete over all items that are known.
func (in *incoming) count() {
	for in.has(in.Life, in.complete+1) {
		in.complete++
	}
}

// has reports whether an item was taken.
func (in *incoming) has(life string, seq uint64) bool {
	complete := in.complete
	if life != in.Life {
		i := in.earlier(life)
		if i < 0 {
			return false
		}
		complete = in.Earlier[i].Seq
	}
	name := itemName(life, seq)
	_, open := in.open[name]
	return seq <= complete || open || in.dead[name]
}

// take stores an item unless it was taken before, and reports whether this end has it.
func (in *incoming) take(f frame) (mine bool, err error) {
	if in.has(f.Life, f.Seq) && f.Life != in.Life {
		return true, nil
	}
	if f.Life != in.Life {
		if err := in.begin(f.Life); err != nil {
			return false, err
		}
	}
	if f.Settled > in.Settled {
		in.Settled = f.Settled
		in.complete = max(in.complete, f.Settled)
		if err := in.forget(); err != nil {
			return false, err
		}
	}
	if in.has(f.Life, f.Seq) {
		return true, nil
	}
	if !in.hasRoom(f.Seq) {
		return false, nil
	}
	name := itemName(f.Life, f.Seq)
	if err := in.folder.Put(name, f.body); err != nil {
		return false, err
	}
	in.open[name] = mark{life: f.Life, seq: f.Seq}
	in.count()
	return true, nil
}

// hasRoom reports whether an item may be taken. An honest sender has at most maxSent items on the
// way, so that no item has a number further ahead.
func (in *incoming) hasRoom(seq uint64) bool {
	if seq-in.Settled > maxSent {
		return false
	}
	ready := 0
	for _, m := range in.open {
		if m.life != in.Life || m.seq <= in.complete {
			ready++
		}
	}
	return ready < maxReady
}

// begin begins a life of the sender, or continues an earlier one: the folder of a sender may have been copied.
// Items of the life before that are not done stay.
func (in *incoming) begin(life string) error {
	fresh := state{Life: life, Earlier: in.Earlier}
	if i := in.earlier(life); i >= 0 {
		fresh.Settled = in.Earlier[i].Seq
		fresh.Earlier = slices.Delete(slices.Clone(in.Earlier), i, i+1)
	}
	if in.Life != "" {
		fresh.Earlier = append(slices.Clip(fresh.Earlier), span{in.Life, in.complete})
	}
	fresh.Earlier = fresh.Earlier[max(0, len(fresh.Earlier)-maxEarlier):]
	if len(in.dead) > maxSent+maxTombstones { // no honest sender has left out so many
		fresh.Earlier = nil
	}
	if err := fresh.write(in.folder); err != nil {
		return err
	}
	in.state, in.complete = fresh, fresh.Settled
	in.count()
	return in.bury()
}

// forget removes the tombstones of settled items, after the number is on disk.
func (in *incoming) forget() error {
	var over []string
	for name := range in.dead {
		if name <= itemName(in.Life, in.Settled) && strings.HasPrefix(name, in.Life+"_") {
			over = append(over, name)
		}
	}
	if len(over) < maxTombstones {
		return nil
	}
	if err := in.write(in.folder); err != nil {
		return err
	}
	for _, name := range over {
		if err := in.removeTombstone(name); err != nil {
			return err
		}
	}
	return nil
}

// next returns the first item that was not returned yet and has none missing before it. Items of an
// earlier life come first.
func (in *incoming) next() (Item, bool, error) {
	for _, name := range slices.Sorted(maps.Keys(in.open)) {
		m := in.open[name]
		if m.returned || m.life == in.Life && m.seq > in.complete {
			continue
		}
		body, err := in.folder.Read(name)
		if err != nil {
			return Item{}, false, err
		}
		m.returned = true
		in.open[name] = m
		return Item{m.life, m.seq, body}, true, nil
	}
	return Item{}, false, nil
}

// done writes the tombstone of an item before it removes the item.
func (in *incoming) done(life string, seq uint64) error {
	name := itemName(life, seq)
	if _, open := in.open[name]; !open {
		return errors.New("an item that is not open is done")
	}
	if i := in.earlier(life); life == in.Life || i >= 0 && seq > in.Earlier[i].Seq {
		if err := in.folder.Put(name+tombstone, nil); err != nil {
			return err
		}
		in.dead[name] = true
	}
	delete(in.open, name)
	return in.folder.Remove(name)
}
