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

// maxMembers is the number of members of one object, which may be a map of a machine's sessions.
const maxMembers = 1 << 12

// maxDepth is the number of brackets in each other.
const maxDepth = 1000

// errEntries is returned for a body with more of them.
var errEntries = fmt.Errorf("more than %d entries of lists, or %d of an object", maxEntries, maxMembers)

// checkLists returns errEntries before such a body takes memory. Other faults are the decoder's.
func checkLists(body []byte) error {
	const isList = -1
	entries, text := 0, false
	var open []int // of the open brackets, the members of an object
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
			if len(open) == maxDepth {
				return errEntries
			}
			open = append(open, 1)
			if c == '[' {
				open[len(open)-1] = isList
			}
		case (c == ']' || c == '}') && len(open) > 0:
			open = open[:len(open)-1]
		case c == ',' && len(open) > 0 && open[len(open)-1] == isList:
			if entries++; entries >= maxEntries {
				return errEntries
			}
		case c == ',' && len(open) > 0:
			if open[len(open)-1]++; open[len(open)-1] > maxMembers {
				return errEntries
			}
		}
	}
	return nil
}
