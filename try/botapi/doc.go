// Package botapi is a strict stand-in of the Telegram Bot API on loopback, with a chat page to use
// a bot without Telegram.
//
// It promises to refuse what Telegram refuses, with Telegram's status, description and parameters:
// limits, entities, callback data, reactions, offsets, a second poller. It makes the same silent
// changes: to blanks around a text and control characters (a tab becomes one blank), to entities
// after the hundredth, to the keyboard of a message that is edited without one. If it differs it is
// stricter: parse_mode and reply keyboards are refused ("stand-in: …"), and so are pre and code
// that overlap another entity (Telegram drops one of them), unreadable entities (Telegram ignores
// them) and text above 4096 UTF-16 units (Telegram counts characters). Error texts follow the
// sources of tdlib/telegram-bot-api and tdlib/td.
//
// People act through [Person] in tests and through the chat page in a browser; both see the same
// state. Faults are injected with [Server.Fault] and [Server.InjectFaults], faults in the delivery
// of updates with [Server.Redeliver], [Server.ShuffleUpdates] and [Server.Inject].
//
// Rich messages are there with Options.Rich only: it checks their limits, counts their blocks
// roughly, keeps their source as it is, and the page draws the Markdown that agents write. Without
// it, and for webhooks, inline mode, payments and drafts always, their methods answer 404, as an
// older server does. It does not keep anything on disk, does not delay a conflicting poller, and
// never listens on anything but loopback.
package botapi
