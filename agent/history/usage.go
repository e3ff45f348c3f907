package history

import (
	"context"
	"time"
)

// Usage reads what an agent has used.
type Usage interface {
	// Folder returns the folder below which the agent writes its conversations.
	Folder() string
	// Conversation returns the conversation that a file below the folder belongs to, or "" if it is
	// no such file. The name alone of a conversation's own file is enough.
	Conversation(below string) string
	// Answers calls see with the answers in a file, from an offset to the present end or until ctx
	// ends, and returns the offset of the following line. It passes lines that it cannot read.
	Answers(ctx context.Context, path string, from int64, see func(Answer)) (next int64, err error)
	// Prices returns the agent's prices with the changes of a person's file. If the file is unusable,
	// it returns an error and the prices without it; a missing file is not an error.
	Prices(file string) (Prices, error)
}

// Answer is one answer of the API, and what it has cost in tokens. Each line of the answer may
// repeat that, and so may the files of subagents, and of copies of a conversation.
type Answer struct {
	ID string // the same on two lines of one answer, and on no other answer of the agent
	// The conversation that has asked, also on a line of a copy; empty: the line does not say it.
	Session string
	Model   string
	Dir     string // in which the agent worked
	At      time.Time
	Tokens
}

// Tokens are the tokens of an answer.
type Tokens struct {
	Input, Output, CacheRead int64
	Write5m, Write1h         int64 // into the cache, by how long it is kept
	Searches                 int64 // in the web
}

// Prices has the prices of models, and where they come from.
type Prices struct {
	Date   string // as 2026-11-18
	Source string
	Table  Table
}

// Table estimates the cost of answers.
type Table interface {
	// Cost returns the price of an answer in dollars; known is false if the model has none.
	Cost(model string, t Tokens) (dollars float64, known bool)
	// Name returns the name of a model for people.
	Name(model string) string
}
