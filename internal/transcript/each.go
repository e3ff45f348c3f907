package transcript

import (
	"errors"

	"ccbot/internal/suspect"
)

// Each calls see with the items from a place to the present end, until it returns false. loose: the place may
// stand inside a line.
func Each(from Cursor, loose bool, see func(Item) bool) (err error) {
	r := Open(from)
	r.loose = loose
	defer func() { err = errors.Join(err, r.Close()) }()
	for {
		item, ok, err := r.Next()
		if err != nil || !ok {
			return err
		}
		if !see(item) {
			reads.Load().Passed(from.Path, suspect.Items)
			return nil
		}
	}
}
