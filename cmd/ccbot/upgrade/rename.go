package upgrade

import (
	"bytes"
	"encoding/json"
	"net/url"
	"path"
	"strings"
	"unicode/utf8"

	"ccbot/internal/lazyregexp"
	"ccbot/recovery"
)

// The files of version 2 whose keys had other names than the fields that they hold.
var renamedFiles = []string{
	"asks/*.json", "backups/*.tar.gz", "backups/purged/*", "cards/*.json", "chats/*.json", "inbox/*", "loops/*.json",
	"prompts/*", "schedules/*.json", "sessions/*.json", "windows.json",
}

// object names the keys of a JSON object anew, and before that those of the objects in it.
type object struct {
	keys   map[string]string
	inside map[string]object // by their former key; "*": each element
}

var (
	record = object{
		keys: map[string]string{
			"agent": "agent_name", "claude_session_id": "agent_session_id", "earlier_claude_ids": "earlier_session_ids",
			"asked_moment": "requested_moment", "haunted": "growth_reported", "below": "descendants", "hook_sha256": "hook_digest",
			"wish": "mode_request",
		},
		inside: map[string]object{"binding": {keys: map[string]string{"argv_sha256": "argv_digest"}}},
	}
	// Of a loop and of a schedule.
	typed  = object{keys: map[string]string{"asked": "undecided"}}
	plan   = object{inside: map[string]object{"typed": typed, "before": typed, "run": {inside: map[string]object{"typed": typed}}}}
	prompt = object{keys: map[string]string{"repeated": "repeats"}}
	entry  = object{keys: map[string]string{"aged": "stale", "told": "reported", "told_edit": "reported_edit"}}
	ask    = object{
		keys:   map[string]string{"state": "stage", "desk": "in_terminal"},
		inside: map[string]object{"outcome": {keys: map[string]string{"said": "reply"}}},
	}
	conversation = object{
		keys:   map[string]string{"shown": "turns", "had": "unread", "asked_of": "last_prompted"},
		inside: map[string]object{"topic": {keys: map[string]string{"over": "ended"}}},
	}
	movedChats = object{keys: map[string]string{"told": "reported"}}
	windows    = object{inside: map[string]object{"windows": {inside: map[string]object{"*": {keys: map[string]string{"told": "reported"}}}}}}
	cardKeys   = map[string]string{"look": "content", "asked": "waits_since", "below": "extra_options"}
	cardLook   = object{keys: map[string]string{"asked": "waits_since"}}
	// The payloads of cards, by their kind.
	payloads = map[string]object{
		"page":       {keys: map[string]string{"heard": "reply"}},
		"idle":       {keys: map[string]string{"left_out": "spared"}},
		"stop-asked": {keys: map[string]string{"mark": "fingerprint"}},
		"screenshot": {keys: map[string]string{"mark": "fingerprint"}},
		"where":      {keys: map[string]string{"folder": "dir"}},
		"turn":       {keys: map[string]string{"asked": "submitted", "behind": "read_up_to", "mark": "snapshot", "said": "responded"}},
	}
)

// rename gives the keys of a file the names of the fields that they hold.
func rename(file string, data []byte) ([]byte, error) {
	switch dir, name := path.Split(file); {
	case strings.HasSuffix(name, ".tar.gz"):
		return recovery.ChangeBackup(data, record.rename)
	case dir == "sessions/", dir == "backups/purged/" && path.Ext(name) == ".json":
		return record.rename(data)
	case dir == "loops/", dir == "schedules/", dir == "backups/purged/":
		return plan.rename(data)
	case dir == "prompts/":
		return prompt.rename(data)
	case dir == "inbox/":
		return entry.rename(data)
	case dir == "asks/":
		return ask.rename(data)
	case file == "chats/moved.json":
		return movedChats.rename(data)
	case dir == "chats/":
		return conversation.rename(data)
	case dir == "cards/":
		var card struct {
			Kind string          `json:"kind"`
			Look json.RawMessage `json:"look"`
		}
		err := json.Unmarshal(data, &card)
		if err == nil && card.Look != nil { // only once: a path may have a percent sign
			data, err = unescaped(data)
		}
		if err != nil {
			return nil, err
		}
		return object{cardKeys, map[string]object{"look": cardLook, "payload": payloads[card.Kind]}}.rename(data)
	default:
		return windows.rename(data)
	}
}

// rename returns a file with the new names, or the file itself if it has none of the former ones.
func (o object) rename(data []byte) ([]byte, error) {
	if !json.Valid(data) {
		return nil, json.Unmarshal(data, new(any))
	}
	next, changed, err := o.renamed(data)
	if err != nil || !changed {
		return data, err
	}
	return append(next, '\n'), nil
}

// renamed keeps all values as they are written. What is no object, and no list if there are names for
// its elements, stays. A key that has its new name stays too.
func (o object) renamed(data json.RawMessage) (_ json.RawMessage, changed bool, err error) {
	if each, ok := o.inside["*"]; ok {
		var list []json.RawMessage
		if json.Unmarshal(data, &list) != nil {
			return data, false, nil
		}
		for i := range list {
			next, is, err := each.renamed(list[i])
			if err != nil {
				return data, false, err
			}
			list[i], changed = next, changed || is
		}
		return encode(data, list, changed)
	}
	var all map[string]json.RawMessage
	if json.Unmarshal(data, &all) != nil || all == nil {
		return data, false, nil
	}
	for key, inner := range o.inside {
		value, ok := all[key]
		if !ok {
			continue
		}
		next, is, err := inner.renamed(value)
		if err != nil {
			return data, false, err
		}
		all[key], changed = next, changed || is
	}
	for former, key := range o.keys {
		value, has := all[former]
		if _, there := all[key]; !has || there {
			continue
		}
		delete(all, former)
		all[key], changed = value, true
	}
	return encode(data, all, changed)
}

func encode(data json.RawMessage, value any, changed bool) (json.RawMessage, bool, error) {
	if !changed {
		return data, false, nil
	}
	next, err := json.Marshal(value)
	return next, true, err
}

// address is that of a page of /new or /changes, as a button has it or the card of the page; paths in it were escaped as in a URL.
var (
	address     = lazyregexp.New(`^(to:)?(new|changes)/`)
	escapedPath = lazyregexp.New(`"(dir|file)":("[^"]*")`)
)

// unescaped returns a card with the paths in its addresses as they are.
func unescaped(data []byte) ([]byte, error) {
	var card any
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	if err := d.Decode(&card); err != nil {
		return nil, err
	}
	return json.Marshal(eachText(card, func(text string) string {
		if !address.MatchString(text) {
			return text
		}
		return escapedPath.ReplaceAllStringFunc(text, unescapePath)
	}))
}

// unescapePath unescapes the path in a pair of key and value. What is no escaped path stays.
func unescapePath(pair string) string {
	m := escapedPath.FindStringSubmatch(pair)
	var escaped string
	if json.Unmarshal([]byte(m[2]), &escaped) != nil {
		return pair
	}
	path, err := url.PathUnescape(escaped)
	if err != nil || path == escaped || !utf8.ValidString(path) {
		return pair
	}
	quoted, err := json.Marshal(path)
	if err != nil {
		return pair
	}
	return `"` + m[1] + `":` + string(quoted)
}

// eachText replaces each text in a value of JSON.
func eachText(value any, change func(string) string) any {
	switch v := value.(type) {
	case string:
		return change(v)
	case []any:
		for i := range v {
			v[i] = eachText(v[i], change)
		}
	case map[string]any:
		for key := range v {
			v[key] = eachText(v[key], change)
		}
	}
	return value
}
