package bot

import (
	"context"

	"ccbot/bot/chat"
	"ccbot/internal/session"
	"ccbot/lifecycle"

	"github.com/google/uuid"
)

// In the lines about buttons SESSION is a session's id, WISH one with where and how to resume it,
// WRITERS a hash of the processes that the message shows, MARK one of what the terminal or the window
// shows, PLACE the message that the button is under, BY the person who was asked. The verbs about
// writers begin with the letter of their scene; behind WRITERS may stand that nobody had asked.

type (
	taps = map[string]tap
	news = map[lifecycle.NoteKind]func(ctx context.Context, n lifecycle.Note) error
)

// features are all that the bot can do, in the order in which a text is offered to them.
func (b *Bot) features() []chat.Feature {
	return []chat.Feature{b.asksFeature(), b.answersFeature(), b.outputs.Feature(), b.dialogFeature(), b.sessionsFeature(),
		b.writersFeature(), b.reportFeature(), b.promptFeature()}
}

// sessionsFeature starts, shows, ends and resumes sessions.
func (b *Bot) sessionsFeature() chat.Feature {
	return chat.Feature{
		Commands: []chat.Command{{Name: "new", Run: b.newSession}, {Name: "list", Run: b.list}, {Name: "stop", Run: b.stop, Now: true},
			{Name: "kill", Run: b.kill}, {Name: "done", Run: b.done}, {Name: "resume", Run: b.resume}, {Name: "why", Run: b.why},
			{Name: "help", Run: b.help}, {Name: "start", Run: b.help, Hidden: true}}, // which Telegram sends when a person opens the bot
		Taps: taps{
			"cur":  b.tapCurrent,                // SESSION: make it the current one
			"kill": b.tapEnd(session.Archived),  // SESSION:BY: end it, as archived
			"done": b.tapEnd(session.Completed), // SESSION:BY: end it, as completed
			"no":   b.byAsker(0, b.tapCancel),   // BY: take the question back
			"undo": b.tapUndo,                   // SESSION:TIME: take the end back that was then, seconds since 1970
			"res":  b.tapResume,                 // WISH: bring it back
			"mkd":  b.tapMakeDir,                // WISH: make its directory again, then bring it back
			"try":  b.tapRetry,                  // SESSION: try again to end what is left of it
		},
		News: news{
			lifecycle.NoteReady:   func(ctx context.Context, n lifecycle.Note) error { return b.tellReady(ctx, n.Session) },
			lifecycle.NoteFailed:  b.tellFailed,
			lifecycle.NoteLost:    b.tellLost,
			lifecycle.NoteStopped: b.tellStopped,
			lifecycle.NoteEnded:   b.tellEnded,
		},
	}
}

// promptFeature brings what people write to the agent, and asks them about what cannot be brought.
func (b *Bot) promptFeature() chat.Feature {
	return chat.Feature{
		Taps: taps{
			"rns":   b.tapResumeAndSend, // KEY: bring its session back, and type it then
			"again": b.tapAgain,         // KEY: type an unproven prompt again
			"drop":  b.tapDrop,          // KEY: give an unproven prompt up
			"old":   b.tapOld,           // DECISION:KEY: type an old prompt, or give it up
			"any":   b.tapAnyway,        // KEY: type a prompt that waits behind a draft
		},
		News: news{
			lifecycle.NoteTyped:        b.markTyped,
			lifecycle.NoteDelivered:    b.markReceived,
			lifecycle.NoteQueued:       b.tellQueued,
			lifecycle.NoteHeldDialog:   b.tellHeldDialog,
			lifecycle.NoteHeldUnknown:  b.tellHeldUnknown,
			lifecycle.NoteHeldBash:     b.tellHeldBash,
			lifecycle.NoteHeldDraft:    b.tellHeldDraft,
			lifecycle.NoteDraftCleared: b.tellDraft,
			lifecycle.NoteUnproven:     b.tellUnproven,
		},
		Run: b.runPrompts,
	}
}

// answersFeature shows what agents write.
func (b *Bot) answersFeature() chat.Feature {
	return chat.Feature{
		News: news{
			lifecycle.NoteTranscript: func(_ context.Context, n lifecycle.Note) error { b.answers.follow(n.Session); return nil },
		},
		Heard:    b.answers.heardNews,
		Run:      b.answers.Run,
		Unparked: b.answers.unparked,
	}
}

// asksFeature shows permission requests, questions and plans, and gives what people decide to the hooks.
func (b *Bot) asksFeature() chat.Feature {
	return chat.Feature{
		Taps: taps{
			"p":  b.tapAsk,       // REQUEST:VERB:…: answer a permission request
			"dw": b.tapDenyWith,  // REQUEST:KEY: deny it, with a prompt that waits as the reason
			"sa": b.tapSendAfter, // KEY: let a prompt wait behind the dialog
		},
		Heard:    b.asks.heardNews,
		Text:     b.asks.hear,
		Run:      b.asks.Run,
		Unparked: b.asks.unparked,
		Forget:   b.asks.forget,
	}
}

// dialogFeature shows what a terminal asks, with its keys.
func (b *Bot) dialogFeature() chat.Feature {
	return chat.Feature{
		Taps: taps{
			"opt": b.tapOption, // SESSION:MARK:OPTION: choose it in the terminal
			"key": b.tapKey,    // SESSION:MARK:KEY: press it in the terminal
		},
		News: news{
			lifecycle.NoteNotReporting: b.tellNotReady,
			lifecycle.NoteDialog:       b.tellDialog,
			lifecycle.NoteDialogGone:   func(ctx context.Context, n lifecycle.Note) error { return b.dialogs.close(ctx, n.Session.ID) },
		},
		Heard:    b.dialogs.heardNews,
		Run:      b.dialogs.Run,
		Unparked: b.dialogs.unparked,
		Forget:   func(_ context.Context, id uuid.UUID) error { return b.Dialogs.Forget(id) },
	}
}

// writersFeature shows who else writes a conversation, and which windows belong to no session.
func (b *Bot) writersFeature() chat.Feature {
	return chat.Feature{
		Taps: taps{
			"rsh":  b.onWriters(refused, b.showWriters),              // WISH:WRITERS: show all that is known
			"ras":  b.onWriters(refused, b.askEndWriters),            // WISH:WRITERS: ask whether to end them and resume
			"rdo":  b.byAsker(2, b.onWriters(refused, b.endWriters)), // WISH:WRITERS:BY: end them and resume
			"rfk":  b.onWriters(refused, b.fork),                     // WISH:WRITERS: go on with a copy
			"ssh":  b.onWriters(second, b.showWriters),               // SESSION:WRITERS: show all that is known
			"sas":  b.onWriters(second, b.askEndWriters),             // SESSION:WRITERS: ask whether to end them
			"sdo":  b.byAsker(2, b.onWriters(second, b.endWriters)),  // SESSION:WRITERS:BY: end them
			"sfk":  b.onWriters(second, b.fork),                      // SESSION:WRITERS: go on with a copy, archive the session
			"sno":  b.tapLeaveSecond,                                 // SESSION: leave both
			"gsh":  b.onWriters(ghost, b.showWriters),                // SESSION:WRITERS: show all that is known
			"gas":  b.onWriters(ghost, b.askEndWriters),              // SESSION:WRITERS: ask whether to end them
			"gdo":  b.byAsker(2, b.onWriters(ghost, b.endWriters)),   // SESSION:WRITERS:BY: end them
			"gad":  b.onWriters(ghost, b.adopt),                      // SESSION:WRITERS: go on where it runs
			"wad":  b.onWindow(b.adoptWindow),                        // WINDOW:MARK:PLACE: make it a session's
			"war":  b.onWindow(b.askArchiveWindow),                   // WINDOW:MARK:PLACE: ask whether to archive what runs in it
			"wyes": b.byAsker(3, b.onWindow(b.archiveWindow)),        // WINDOW:MARK:PLACE:BY: archive what runs in it
			"wig":  b.onWindow(b.ignoreWindow),                       // WINDOW:MARK:PLACE: mention it no more
		},
		News: news{
			lifecycle.NoteSecondWriter: b.tellSecond,
			lifecycle.NoteGhost:        b.tellGhost,
			lifecycle.NoteTransferred:  b.tellMoved,
		},
	}
}

// reportFeature tells what a start found and did.
func (b *Bot) reportFeature() chat.Feature {
	return chat.Feature{Taps: taps{
		"rall":  b.whileLost(b.tapResumeAll), // FROM:UNTIL: bring back what was lost here then, milliseconds since 1970
		"rpick": b.whileLost(b.tapPick),      // FROM:UNTIL: show what was lost here then
	}}
}
