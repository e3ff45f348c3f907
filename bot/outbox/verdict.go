package outbox

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	tgbot "github.com/go-telegram/bot"

	"ccbot/internal/lazyregexp"
	"ccbot/internal/pause"
)

// answer is the meaning of an answer of the Bot API for the job.
type answer int

const (
	later       answer = iota // ask again after a while: it was not sent, or Telegram failed at it
	taken                     // done, or equal to done
	paused                    // not done; this chat must wait
	plain                     // not done; try once without formatting
	document                  // not done; try once as a document instead of a photo
	refused                   // never
	blocked                   // not done; refused as long as the chat accepts nothing
	moved                     // not done; the group has a new id
	topicGone                 // the topic does not exist
	topicShut                 // the topic is closed, and the bot may not write there
	generalShut               // not done; General is closed as well, and the message waits until it opens
	vanished                  // the target no longer exists
	unknown                   // the server does not know the method, or it does not know the token
	denied                    // not done, because Telegram does not know the token; ask again after a while
	lost                      // of a new message: no answer came, so it is perhaps in the chat
)

type verdict struct {
	answer answer
	wait   time.Duration // paused
	chat   int64         // moved
	err    error         // refused, blocked: why
	known  bool          // denied: getMe is answered, so that the server may lack the method
	unsent bool          // later: there was no connection, so it is surely not done
	// strayed: the message is in the plain chat, because its topic does not exist.
	strayed bool
}

// isAnswer reports that Telegram was reached, and answered in time.
func (v verdict) isAnswer() bool { return v.answer != later && v.answer != lost }

func (v verdict) final() bool {
	return v.answer == taken || v.answer == vanished || v.answer == refused
}

// clientError matches the library's text for codes it has no type for, and for the page of a proxy
// that takes no file so large. Asking again does not help after a 4xx.
var clientError = lazyregexp.New(`(?s)^error response from telegram for method \w+, 4\d\d |` +
	`^error decode response body for method \w+, .*\b413\b.*Too Large`)

// serverError matches the library's text for a failure that Telegram itself reports.
var serverError = lazyregexp.New(`^error response from telegram for method \w+, 5\d\d `)

// Telegram's texts about a message that people have deleted, about a topic, and about a chat. They
// come from the Bot API server itself, or from Telegram's own servers (tdlib/telegram-bot-api,
// Client.cpp, check_message_topic; reports of bots). A topic that is only closed still exists.
var (
	messageGone   = lazyregexp.New(`message to edit not found|message can't be edited|message_id_invalid`)
	topicGoneText = lazyregexp.New(`message thread not found|topic_deleted|topic_id_invalid`)
	// A chat in which the bot was never started, or a group whose members may not write.
	chatShut = lazyregexp.New(`(?i)^bad request, .*(chat not found|chat_write_forbidden|chat_restricted|` +
		`(not enough|have no) rights to send (text messages|a message))`)
)

// unreadableYes is the library's text if Telegram returned ok and the library does not know the
// kind of the rest of the answer. Another attempt would send the message again, for ever. For an
// edit the library returns the decoder's own error instead: there every error that does not begin
// like the errors of a call counts as such a yes.
const unreadableYes = "error decode response result for method "

// judge reads the error of a call. How the library reports errors was found by experiment: 429 is a
// type that errors.Is does not match with its own sentinel; "not modified" is a bad request that
// only its text distinguishes; a 5xx and a broken connection have no type. A 5xx in Telegram's form
// is an answer. Without an answer it is unknown whether the call was carried out, unless it never
// had a connection.
func judge(err error, j *job) verdict {
	var tooMany *tgbot.TooManyRequestsError
	var migrated *tgbot.MigrateError
	switch {
	case err == nil:
		return verdict{answer: taken}
	case errors.Is(err, errStrayed):
		return verdict{answer: taken, strayed: true}
	case errors.Is(err, errUnread), errors.Is(err, ErrNoRich), errors.Is(err, ErrMoved):
		return verdict{answer: refused, err: err}
	case errors.As(err, &tooMany):
		return verdict{answer: paused, wait: pause.RetryAfter(tooMany.RetryAfter)}
	case errors.As(err, &migrated):
		return verdict{answer: moved, chat: int64(migrated.MigrateToChatID)}
	case errors.Is(err, tgbot.ErrorNotFound) && j.isRich():
		return verdict{answer: unknown}
	case errors.Is(err, tgbot.ErrorUnauthorized), errors.Is(err, tgbot.ErrorNotFound):
		return verdict{answer: denied}
	case errors.Is(err, tgbot.ErrorForbidden), chatShut.MatchString(err.Error()):
		return verdict{answer: blocked, err: fmt.Errorf("%w: %w", ErrBlocked, err)}
	case errors.Is(err, tgbot.ErrorBadRequest):
		return badRequest(err, j)
	case errors.Is(err, errUnconnected):
		return verdict{answer: later, unsent: true}
	case errors.Is(err, tgbot.ErrorConflict), serverError.MatchString(err.Error()):
		return verdict{answer: later}
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return unanswered(j)
	case strings.HasPrefix(err.Error(), unreadableYes), j.kind == edit && !strings.HasPrefix(err.Error(), "error "):
		return verdict{answer: taken}
	case clientError.MatchString(err.Error()):
		return verdict{answer: refused, err: err}
	}
	return unanswered(j)
}

// unanswered is the verdict without an answer. A repeated edit does no harm, a repeated message does.
func unanswered(j *job) verdict {
	if j.isNew() {
		return verdict{answer: lost}
	}
	return verdict{answer: later}
}

func badRequest(err error, j *job) verdict {
	text := strings.ToLower(err.Error())
	switch {
	case j.kind == edit && strings.Contains(text, "message is not modified"):
		return verdict{answer: taken}
	case j.kind == edit && messageGone.MatchString(text):
		return verdict{answer: refused, err: fmt.Errorf("%w: %w", ErrGone, err)}
	case j.isNew() && j.to.ThreadID != 0 && topicGoneText.MatchString(text):
		return verdict{answer: topicGone}
	case j.isNew() && j.to.ThreadID != 0 && strings.Contains(text, "topic_closed"):
		return verdict{answer: topicShut}
	case j.isNew() && j.to.ChatID < 0 && strings.Contains(text, "topic_closed"):
		return verdict{answer: generalShut, err: err}
	case j.isPhoto() && !strings.Contains(text, "entit"): // otherwise the caption is at fault
		return verdict{answer: document, err: err}
	case j.formatted() && !j.plain:
		return verdict{answer: plain, err: err}
	}
	return verdict{answer: refused, err: err}
}

const (
	firstBackoff = time.Second
	maxBackoff   = 5 * time.Second

	// A message that is perhaps in the chat waits longer, because each try may show it again.
	firstUnsure = 30 * time.Second
	maxUnsure   = 10 * time.Minute
	// So does one for a closed General: only people open it.
	firstShut = 30 * time.Second
	maxShut   = 10 * time.Minute
	marked    = 2 // after this number of lost answers people read that it may be a repetition
)

// backoff returns how long to wait after a number of failures in a row (1 is the first), at most
// maxBackoff. jitter is in [0, 1).
func backoff(failures int, jitter float64) time.Duration {
	return min(maxBackoff, time.Duration(float64(pause.Doubled(firstBackoff, maxBackoff, failures-1))*(0.75+0.5*jitter)))
}
