package talk

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
)

// Ask is a request to a person, without any format of an agent: the chat draws the blocks and the
// pages, and returns a choice. The agent's side makes it, and makes the agent's answer of the
// choice.
type Ask struct {
	Kind    AskKind  `json:"kind"`
	Title   AskTitle `json:"title"`
	Tool    string   `json:"tool"` // the agent's name of the tool
	Blocks  []Block  `json:"blocks,omitempty"`
	Pages   []Page   `json:"pages,omitempty"` // of a question; none: it can only be answered in the terminal
	Choices []Choice `json:"choices"`
	// Wordless means that a denial takes no words of a person.
	Wordless bool `json:"wordless,omitempty"`
	// Whole means that the blocks, pages and choices contain all of the request, and that no
	// character of it is invisible. The chat still checks that all of them fit in a message.
	Whole bool `json:"whole,omitempty"`
	// Details are the whole request, field by field, in the agent's words. None: it is too big to be
	// shown, and the blocks have only its beginning.
	Details []Detail `json:"details,omitempty"`
}

// AskKind is the kind of a request.
type AskKind string

// The kinds of requests.
const (
	AskPermission AskKind = "permission" // to use a tool
	AskQuestion   AskKind = "question"   // the agent needs answers
	AskPlan       AskKind = "plan"       // the agent presents a plan for approval
)

// AskTitle is the subject of a request; another value means the use of Tool.
type AskTitle string

// The titles of requests.
const (
	TitleTool      AskTitle = "tool"
	TitleCommand   AskTitle = "command"
	TitleEdit      AskTitle = "edit"
	TitleWrite     AskTitle = "write"
	TitleRead      AskTitle = "read"
	TitleSearch    AskTitle = "search" // in files
	TitleFetch     AskTitle = "fetch"  // of a page
	TitleWebSearch AskTitle = "web_search"
	TitlePlan      AskTitle = "plan"
	TitleQuestion  AskTitle = "question"
)

// Block is a part of a request.
type Block struct {
	Kind   BlockKind `json:"kind"`
	Name   string    `json:"name,omitempty"` // of a field
	Text   string    `json:"text"`
	Before string    `json:"before,omitempty"` // of a diff: the text that Text replaces
}

// BlockKind is the kind of a block's content.
type BlockKind string

// The kinds of blocks. The text of a BlockFile, BlockURL or BlockCode is one line.
const (
	BlockCommand  BlockKind = "command" // for a shell
	BlockFile     BlockKind = "file"    // a path
	BlockURL      BlockKind = "url"
	BlockCode     BlockKind = "code"
	BlockText     BlockKind = "text"     // of a file
	BlockNote     BlockKind = "note"     // the agent's own words
	BlockMarkdown BlockKind = "markdown" // the agent's own words, formatted
	BlockDiff     BlockKind = "diff"
	BlockField    BlockKind = "field" // a named value; another kind is shown like it
)

// Page is one question.
type Page struct {
	Header  string   `json:"header,omitempty"`
	Text    string   `json:"text"`
	Several bool     `json:"several,omitempty"` // several options may be chosen
	Options []Option `json:"options"`
	Blocks  []Block  `json:"blocks,omitempty"`
}

// Option is an answer that a question offers.
type Option struct {
	Label       string  `json:"label"`
	Description string  `json:"description,omitempty"`
	Blocks      []Block `json:"blocks,omitempty"`
}

// Detail is a field of a request.
type Detail struct {
	Name string `json:"name"`
	Text string `json:"text"`
}

// Choice is one way to decide a request.
type Choice struct {
	ID     ChoiceID `json:"id"`
	Grants []Grant  `json:"grants,omitempty"` // the permissions beyond this request
}

// ChoiceID names a choice.
type ChoiceID string

// The choices.
const (
	ChoiceAllow        ChoiceID = "allow"
	ChoiceAllowSession ChoiceID = "allow_session" // also permits its grants until the session ends
	ChoiceAllowEdits   ChoiceID = "allow_edits"   // also permits edits and common file commands until the session ends
	ChoiceApprove      ChoiceID = "approve"       // a plan
	ChoiceApproveEdits ChoiceID = "approve_edits" // a plan, and all edits in the session
	ChoiceAnswer       ChoiceID = "answer"        // one answer for each page
	ChoiceDeny         ChoiceID = "deny"          // the turn continues
	ChoiceStop         ChoiceID = "stop"          // denies, and ends the turn
)

// Grant is a permission beyond a request.
type Grant struct {
	Text string    `json:"text"` // a rule or a folder
	Note GrantNote `json:"note,omitempty"`
}

// GrantNote is the meaning of a grant, if that is not obvious.
type GrantNote string

// The notes of grants.
const (
	GrantsEveryUse    GrantNote = "every_use"    // of a tool
	GrantsThisCommand GrantNote = "this_command" // only
	GrantsFolder      GrantNote = "folder"
)

// Choice returns a choice of the request. ok is false if the request does not offer it.
func (a Ask) Choice(id ChoiceID) (c Choice, ok bool) {
	for _, c := range a.Choices {
		if c.ID == id {
			return c, true
		}
	}
	return Choice{}, false
}

// Digest identifies the content: an answer to a request carries the digest of the content that the
// person saw.
func (a Ask) Digest() string {
	data, _ := json.Marshal(a) // texts always encode
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// Answer is a person's answer to a request.
type Answer struct {
	Choice  ChoiceID `json:"choice"`
	Text    string   `json:"text,omitempty"`    // why the person denies
	Answers []string `json:"answers,omitempty"` // for each page: a label, labels joined by ", ", or free text
	Shown   string   `json:"shown"`             // digest of the Ask that was shown
}

// Allows reports whether the answer permits what the agent asks for.
func (a Answer) Allows() bool { return a.Choice != ChoiceDeny && a.Choice != ChoiceStop }
