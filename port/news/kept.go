package news

import (
	"encoding/json"
	"fmt"
	"reflect"
)

// Kept makes a type that embeds it one of the News that are stored until the chat has them: they
// report a change of the record, which nothing else shows afterwards. The save of the change stores
// them; they are delivered after it, and a crash repeats them.
type Kept struct{}

// IsNews implements News.
func (Kept) IsNews() {}

func (Kept) isKept() {}

// kept has a value of each type of Kept news.
var kept = []News{Ready{}, Ended{}, Stopped{}, Transferred{}, Moved{}, Switched{}, Failed{}, Lost{}, OtherWriters{}}

// IsKept reports whether news are stored until the chat has them.
func IsKept(n News) bool {
	_, is := n.(interface{ isKept() })
	return is
}

// Encode returns the stored form of Kept news.
func Encode(n News) (kind, body string, err error) {
	data, err := json.Marshal(n)
	return reflect.TypeOf(n).Name(), string(data), err
}

// Decode returns Kept news from their stored form.
func Decode(kind, body string) (News, error) {
	for _, n := range kept {
		if of := reflect.TypeOf(n); of.Name() == kind {
			p := reflect.New(of)
			if err := json.Unmarshal([]byte(body), p.Interface()); err != nil {
				return nil, fmt.Errorf("news %s: %w", kind, err)
			}
			return p.Elem().Interface().(News), nil //nolint:forcetypeassert // each of kept is
		}
	}
	return nil, fmt.Errorf("unknown news %q", kind)
}
