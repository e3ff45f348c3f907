package several

// Who identifies a bot of the group.
type Who int

// The zero value names no bot.
const (
	Nobody Who = iota
	Me
	Other
)

// Facts describe the bots that a message names or answers.
type Facts struct {
	To      Who  // the bot that its command names with @
	Answers Who  // the bot whose message it answers
	Opened  Who  // the bot that has opened its topic, if the message shows that
	Joined  bool // it is the news that another bot has joined the group
	Picks   bool // its command picks the bot that it names
}

// State is the state of a message's place when the message was written.
type State struct {
	Alone  bool // no other bot is known in the group
	Picked Who  // the bot that was picked last
	Opened bool // the place is a topic that this bot has opened
}

// Decision holds the result for one message.
type Decision struct {
	Acts   bool // the message is for this bot
	Sees   bool // it shows that there are several bots, which was not known
	Picked Who  // the bot that the message picks for a place
}

// Decide decides about a message of a group. A pick of this bot shows no other bot, because
// Telegram's apps may add the bot's name to a command from the menu.
func Decide(f Facts, s State) Decision {
	other := f.To == Other || f.Answers == Other || f.Opened == Other || f.Joined
	d := Decision{Sees: s.Alone && other}
	if f.Picks {
		d.Picked = f.To
	}
	switch {
	case f.To != Nobody:
		d.Acts = f.To == Me
	case f.Answers != Nobody:
		d.Acts = f.Answers == Me
	case s.Picked != Nobody:
		d.Acts = s.Picked == Me
	default:
		d.Acts = s.Opened || f.Opened == Me || s.Alone && !other
	}
	return d
}
