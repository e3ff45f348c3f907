package wire

import (
	"encoding/json"
	"fmt"
)

// unmarshal reads the body of an envelope into the variable that to points to.
func unmarshal(body json.RawMessage, to any) error {
	if err := checkLists(body); err != nil {
		return err
	}
	return json.Unmarshal(body, to)
}

// maxEntries is the number of entries of all lists in a body. An entry of two bytes may take a
// thousand in memory.
const maxEntries = 1 << 16

// errEntries is returned for a body with more than maxEntries.
var errEntries = fmt.Errorf("more than %d entries of lists", maxEntries)

// checkLists returns errEntries before such a body takes memory. Other faults are the decoder's.
func checkLists(body []byte) error {
	entries, text := 0, false
	var lists []bool // of the open brackets, whether it is one of a list
	for i := 0; i < len(body); i++ {
		switch c := body[i]; {
		case text:
			if c == '\\' {
				i++
			}
			text = c != '"'
		case c == '"':
			text = true
		case c == '[', c == '{':
			lists = append(lists, c == '[')
		case (c == ']' || c == '}') && len(lists) > 0:
			lists = lists[:len(lists)-1]
		case c == ',' && len(lists) > 0 && lists[len(lists)-1]:
			if entries++; entries >= maxEntries {
				return errEntries
			}
		}
	}
	return nil
}
