package transcript

import (
	"errors"

	"ccbot/port/talk"
)

// Each calls see with the items from a place to the present end, until it returns false. loose: the
// place may stand inside a line.
func (f *Form) Each(from talk.Cursor, loose bool, see func(Item) bool) (err error) {
	r := f.Open(from)
	r.loose = loose
	defer func() { err = errors.Join(err, r.Close()) }()
	return r.noted(func() error {
		for {
			item, ok, err := r.item()
			if err != nil || !ok || !see(item) {
				return err
			}
		}
	})
}
