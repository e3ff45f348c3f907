package botapi

import (
	"encoding/json"
	"slices"
	"unicode/utf8"
)

// Limits of https://core.telegram.org/bots/api#inputrichmessage. The length is in characters, not
// UTF-16 units.
const (
	maxRichText    = 32_768
	maxRichBlocks  = 500
	maxRichDepth   = 16
	maxRichColumns = 20
	maxRichMedia   = 50
)

// richMethods are known to a server with Options.Rich only. The names are lower case.
var richMethods = map[string]func(*Server, params) (any, *apiError){"sendrichmessage": (*Server).sendRichMessage}

func (s *Server) sendRichMessage(p params) (any, *apiError) {
	source, refusal := p.rich()
	if refusal != nil {
		return nil, refusal
	}
	m, refusal := s.draft(p)
	if refusal != nil {
		return nil, refusal
	}
	m.setRich(source)
	return s.send(m), nil
}

func (m *Message) setRich(source string) {
	if m.RichMarkdown, m.Rich = source, nil; source != "" {
		m.Rich = &RichMessage{Blocks: []RichBlock{{Type: "paragraph", Text: source}}}
	}
}

// rich reads rich_message and returns its source. Telegram's errors for an empty or too long rich
// message are known from reports; for the other limits the description is the stand-in's own.
func (p params) rich() (source string, refusal *apiError) {
	var in struct {
		Markdown string          `json:"markdown"`
		HTML     string          `json:"html"`
		Blocks   json.RawMessage `json:"blocks"`
		Media    []any           `json:"media"`
	}
	if err := json.Unmarshal([]byte(p.str("rich_message")), &in); err != nil {
		return "", badRequest("can't parse InputRichMessage JSON object")
	}
	given := slices.DeleteFunc([]string{in.Markdown, in.HTML, string(in.Blocks)}, func(s string) bool { return s == "" })
	switch {
	case len(given) == 0:
		return "", badRequest("RICH_MESSAGE_CONTENT_REQUIRED")
	case len(given) > 1:
		return "", badRequest("stand-in: exactly one of markdown, html and blocks must be given")
	case len(in.Media) > maxRichMedia:
		return "", badRequest("RICH_MESSAGE_MEDIA_TOO_MANY")
	case !utf8.ValidString(given[0]):
		return "", badRequest("strings must be encoded in UTF-8")
	}
	var size richSize
	switch {
	case in.Markdown != "":
		size = sizeOfMarkdown(in.Markdown)
	case in.HTML != "":
		size = sizeOfHTML(in.HTML)
	default:
		size, refusal = sizeOfBlocks(in.Blocks)
	}
	if refusal == nil {
		refusal = size.check()
	}
	return given[0], refusal
}

// richSize holds the figures that are limited.
type richSize struct {
	characters, blocks, depth, columns int
	visible                            bool // there is something to see
	thinking                           bool // has a <tg-thinking>
}

func (r richSize) check() *apiError {
	switch {
	case !r.visible:
		return badRequest("RICH_MESSAGE_CONTENT_REQUIRED")
	case r.characters > maxRichText:
		return badRequest("RICH_MESSAGE_TEXT_TOO_LONG")
	case r.blocks > maxRichBlocks:
		return badRequest("RICH_MESSAGE_BLOCKS_TOO_MANY")
	case r.depth > maxRichDepth:
		return badRequest("stand-in: blocks are nested more than %d levels deep", maxRichDepth)
	case r.columns > maxRichColumns:
		return badRequest("stand-in: a table has more than %d columns", maxRichColumns)
	case r.thinking:
		return badRequest("stand-in: <tg-thinking> may stand in drafts only")
	}
	return nil
}

// enter counts a block that stands so deep in others.
func (r *richSize) enter(depth int) {
	r.blocks++
	r.depth = max(r.depth, depth)
}
