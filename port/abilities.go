package port

// Abilities are the abilities of an agent that people use in the chat. The chat draws no button of
// an ability that is missing, and answers its commands with a sentence.
type Abilities struct {
	Modes   []Mode   // the permission modes that a person may choose; none: it cannot be switched
	Models  []string // the models that a person may choose; none: it cannot be switched
	Compact bool     // it shortens its conversation at /compact
	Bash    bool     // it runs a line after ! in its shell
}

// Switches reports whether the mode or the model can be switched.
func (a Abilities) Switches() bool { return len(a.Modes)+len(a.Models) > 0 }
