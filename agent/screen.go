package agent

import "time"

// Reader reads a capture of an agent's screen.
type Reader interface {
	// Read reads a capture with its styles. Status has outputs of the person's status line command.
	Read(capture string, status ...string) Screen
	// Holds reports whether the draft is text and nothing else, as far as the screen can show.
	Holds(b Box, text string) bool
	// Runs reports whether a command, with or without its sign, is the one that runs.
	Runs(s *Shell, command string) bool
	// Steady returns a row without what changes by itself: with a space for its sign, or "".
	Steady(row string) string
	// Hides reports whether a row stands for others that are not shown.
	Hides(row string) bool
}

// Screen is the content of a capture. The zero value means that nothing was recognised.
type Screen struct {
	Box        Box
	Dialog     *Dialog       // it is open, and takes the keys instead of the box
	Models     *Models       // the dialog is the list of models
	Shell      *Shell        // the command of bash mode that runs
	Busy       bool          // a turn runs
	Background bool          // the turn has ended, and only agents in the background work
	Agents     int           // that work in the background, as far as they are shown
	Compacts   bool          // the turn shortens the conversation
	Continues  bool          // when a limit ends, the agent continues, unless the key that ends a turn is pressed
	Exits      bool          // another press of the interrupt key would end the agent
	Mode       string        // the permission mode in the agent's words; "" if it is not known
	Editor     string        // the mode of a modal editor, if that has a name
	Visual     bool          // in that mode the key that submits does nothing
	Flat       bool          // the layout for screen readers: without cursor and colours
	Text       string        // all of it as plain text, without trailing blanks
	Retry      string        // the failure of a request that will be repeated; "": none
	RetryIn    time.Duration // until then, when the screen was drawn
}

// Box is the prompt box. If it is not present no text may be typed.
type Box struct {
	Present bool
	Empty   bool   // nothing typed; a hint counts as nothing
	Text    string // the draft as shown, one line per row; "" when Empty
	Whole   bool   // the box is present, and no part of the draft is replaced by a placeholder
	Bash    bool   // a submitted text runs as a shell command
}

// Dialog is an open thing that takes keys. Without options it can only be closed.
type Dialog struct {
	Title    string   // its first line
	Lines    []string // all that it shows, without rules
	Head     []string // the Lines above the first option; without options all, or if Stops those that name what runs
	Options  []string // labels as shown, without numbers
	Selected int      // index into Options; -1 without options
	Whole    bool     // its upper edge is on the screen, and no row hides others
	FromTop  bool     // it begins in the first row: it is whole only if nothing has scrolled
	Question bool     // the agent asks a question, and no permission; certain only if Whole
	Permits  bool     // it has the answers of a permission
	Opened   bool     // it looks like a list that a person has opened, and allows nothing by a choice
	Stops    bool     // it is about one command or agent in the background, which the key "x" stops
	Suspends bool     // it is no dialog: the agent is suspended, and needs a SIGCONT
	Keys     []string // if the answer is typed: the text of each of Options
	Typed    string   // the answer that was typed, before its Enter
}

// Models is the list in which a model is chosen.
type Models struct {
	Names   []string // in the order of the dialog's options
	Current int      // index of the one in use; -1 when none is marked
}

// Shell is a command of bash mode, as the screen shows it.
type Shell struct {
	Command string   // without the sign; its rows joined by a space
	Lines   []string // the last rows of the output
	Above   int      // number of lines above them that are not shown
}
