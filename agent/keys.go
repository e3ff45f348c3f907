package agent

// Keys knows the keys, as tmux names them, that operate the prompt box of an agent. An error is a
// *KeyFault.
type Keys interface {
	// Submit returns the key that submits the text in the box.
	Submit() (key string, err error)
	// Cancel returns the key that ends a turn. Modal means that the screen shows an editor mode.
	Cancel(modal bool) (key string, err error)
	// Clear returns the key that empties the box. Whole means that only a key that removes all will
	// do.
	Clear(whole bool) (key string, err error)
	// Other returns an error if a key is bound to another action than by default: in the prompt box
	// if box is set, otherwise in a dialog.
	Other(key string, box bool) error
}

// PlainKeys are the keys of an agent that no person can change.
type PlainKeys struct {
	Empties string // the box
}

// Submit is Enter.
func (PlainKeys) Submit() (string, error) { return "Enter", nil }

// Cancel is Escape.
func (PlainKeys) Cancel(bool) (string, error) { return "Escape", nil }

// Clear is the key that empties the box.
func (k PlainKeys) Clear(bool) (string, error) { return k.Empties, nil }

// Other finds no key that a person has changed.
func (PlainKeys) Other(string, bool) error { return nil }

// Manners tells texts that have an effect of their own, and names the keys of modes and models.
type Manners struct {
	Ends     []string // texts that end the agent
	Lineless []string // commands whose interrupt leaves no line in the transcript; "!": any of bash mode

	NextMode, OpenModels, ThisSession string // keys; the last chooses a model for the session only
}

// KeyFault means that a person's bindings leave no key that ccbot could press for a purpose.
type KeyFault struct {
	File    string
	Binding string // as `Chat: enter → chat:newline`
}

func (f *KeyFault) Error() string { return f.File + " has " + f.Binding }
