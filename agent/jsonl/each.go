package jsonl

import (
	"errors"

	"ccbot/port/talk"
)

// Each calls see with the items from a place to the present end, until it returns false. loose: the
// place may stand inside a line.
func (f *Form) Each(from talk.Cursor, loose bool, see func(Item) bool) (err error) {
	r := f.Open(from)
	r.Loose = loose
	defer func() { err = errors.Join(err, r.Close()) }()
	return r.Items(see)
}

// Items calls see with the items from here on, until it returns false.
func (r *Reader) Items(see func(Item) bool) error {
	return r.noted(func() error {
		for {
			item, ok, err := r.item()
			if err != nil || !ok || !see(item) {
				return err
			}
		}
	})
}
