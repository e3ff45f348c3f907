package appserver

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"ccbot/internal/jsonrpc"
)

// Event is a change of a joined conversation. At most one of its parts is set, apart from Asks.
type Event struct {
	Status   *Thread  // its status; only ID, Status and Asks are set
	Received string   // the id of a client's text that the agent has now
	Began    string   // the turn that has begun
	Ended    string   // the turn that has ended
	Request  *Request // a request that waits for an answer
	Patch    *Patch   // of a change of files that has begun: it may be asked about next
	Asks     bool     // a request of any kind, with Request if ccbot can answer it
	Resolved string   // the request that no longer waits, whoever answered it
}

// Request is a question of the agent about what it may do.
type Request struct {
	ID      string // of the server, as long as it runs
	Kind    Kind
	Thread  string
	Turn    string
	Call    string // of the tool, as in the rollout
	Command string
	Dir     string
	Reason  string
	Choices []Choice // that the terminal offers; an empty list: Accept and Decline
	Beyond  bool     // it permits more than the command or the change, or something else
}

// Patch is the patch of a call.
type Patch struct{ Call, Text string }

// Kind is the kind of a request.
type Kind string

// The kinds of requests. Others are answered at the terminal only.
const (
	AsksCommand Kind = "item/commandExecution/requestApproval"
	AsksChange  Kind = "item/fileChange/requestApproval"
)

// Choice is an answer to a request.
type Choice string

// The answers that ccbot gives. After Decline the turn continues, Cancel also interrupts it.
const (
	Accept  Choice = "accept"
	Decline Choice = "decline"
	Cancel  Choice = "cancel"
)

// params are the parts of a message's parameters that are used.
type params struct {
	ThreadID  string          `json:"threadId"`
	TurnID    string          `json:"turnId"`
	ItemID    string          `json:"itemId"`
	RequestID json.RawMessage `json:"requestId"`
	Status    status          `json:"status"`
	Turn      struct {
		ID string `json:"id"`
	} `json:"turn"`
	Item      item              `json:"item"`
	Command   string            `json:"command"`
	Cwd       string            `json:"cwd"`
	Reason    string            `json:"reason"`
	Decisions []json.RawMessage `json:"availableDecisions"`
	Kind      string            `json:"kind"` // "command" if empty
	Approval  any               `json:"approvalId"`
	More      any               `json:"additionalPermissions"`
	Network   any               `json:"networkApprovalContext"`
	Root      any               `json:"grantRoot"`
}

// item is a part of a turn.
type item struct {
	Type     string   `json:"type"`
	ID       string   `json:"id"`
	ClientID string   `json:"clientId"`
	Changes  []change `json:"changes"`
}

// changesFiles is the type of an item that changes files.
const changesFiles = "fileChange"

// Next waits for the next event of a conversation. Events of others are passed.
func (c *Conn) Next(ctx context.Context, t Thread) (Event, error) {
	for {
		m, err := c.Conn.Next(ctx)
		if err != nil {
			return Event{}, wrap(err)
		}
		if e, ok := eventOf(m, t); ok {
			return e, nil
		}
	}
}

// eventOf returns the event of a message; false: it says nothing, or belongs to another conversation.
func eventOf(m jsonrpc.Message, t Thread) (e Event, ok bool) {
	var p params
	if m.Params != nil && json.Unmarshal(m.Params, &p) != nil {
		return e, false
	}
	if p.ThreadID != t.ID.String() {
		// A subagent asks. The terminal shows it, and closes its dialog only by its own keys: an event
		// without a part makes ccbot look at the screen.
		return e, m.ID != nil || m.Method == "serverRequest/resolved"
	}
	e.Asks = m.ID != nil
	switch m.Method {
	case "thread/status/changed":
		e.Status = &Thread{ID: t.ID}
		e.Status.note(p.Status)
	case "thread/goal/updated": // the rollout has it
	case "error": // it is repeated, or the turn ends: the terminal shows it
	case "turn/started":
		e.Began = p.Turn.ID
	case "turn/completed":
		e.Ended = p.Turn.ID
	case "item/started":
		if p.Item.Type == changesFiles {
			e.Patch = &Patch{Call: p.Item.ID, Text: patchOf(p.Item.Changes)}
			return e, true
		}
		e.Received = p.Item.ClientID
		return e, p.Item.Type == "userMessage" && p.Item.ClientID != ""
	case "serverRequest/resolved":
		e.Resolved = string(p.RequestID)
	case string(AsksCommand), string(AsksChange):
		e.Request = &Request{ID: string(m.ID), Kind: Kind(m.Method), Thread: p.ThreadID, Turn: p.TurnID, Call: p.ItemID,
			Command: p.Command, Dir: p.Cwd, Reason: p.Reason,
			Beyond: p.Kind != "" && p.Kind != "command" || p.Approval != nil || p.More != nil || p.Network != nil || p.Root != nil || m.Method == string(AsksCommand) && p.Command == ""}
		for _, d := range p.Decisions {
			var one Choice
			if json.Unmarshal(d, &one) == nil { // others would change the person's rules
				e.Request.Choices = append(e.Request.Choices, one)
			}
		}
		return e, e.Asks
	default:
		return e, e.Asks
	}
	return e, true
}

// change is the change of a file.
type change struct {
	Path string `json:"path"`
	Kind struct {
		Type   string `json:"type"`
		MoveTo string `json:"move_path"`
	} `json:"kind"`
	Diff string `json:"diff"` // of a new or a deleted file: its content
}

// patchOf returns changes in the form of a patch; empty: one of them is of a kind that ccbot does not
// know, and could not be shown.
func patchOf(changes []change) string {
	var b strings.Builder
	for _, c := range changes {
		sign := ""
		switch c.Kind.Type {
		case "add":
			b.WriteString("*** Add File: " + c.Path + "\n")
			sign = "+"
		case "delete":
			b.WriteString("*** Delete File: " + c.Path + "\n")
			sign = "-"
		case "update":
			b.WriteString("*** Update File: " + c.Path + "\n")
			if c.Kind.MoveTo != "" {
				b.WriteString("*** Move to: " + c.Kind.MoveTo + "\n")
			}
		default:
			return ""
		}
		for line := range strings.Lines(c.Diff) {
			b.WriteString(sign + strings.TrimSuffix(line, "\n") + "\n")
		}
	}
	return b.String()
}

// Answer answers a request. If it no longer waits, the server ignores the answer: Resolved reports
// in each case that it is over, perhaps before this write returns. A write whose context ends would end the
// connection.
func (c *Conn) Answer(ctx context.Context, q Request, choice Choice) error {
	if !slices.Contains([]Choice{Accept, Decline, Cancel}, choice) {
		return fmt.Errorf("appserver: answer %q", choice)
	}
	result, err := json.Marshal(map[string]Choice{"decision": choice})
	if err != nil {
		return fmt.Errorf("appserver: %w", err)
	}
	ctx, done := context.WithTimeout(context.WithoutCancel(ctx), readTimeout)
	defer done()
	return c.send(ctx, jsonrpc.Message{ID: json.RawMessage(q.ID), Result: result})
}
