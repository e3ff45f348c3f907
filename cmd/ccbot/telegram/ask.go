package telegram

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	tgbot "github.com/go-telegram/bot"
	"github.com/go-telegram/bot/models"

	"ccbot/bot/attachment"
	"ccbot/internal/apianswer"
	"ccbot/internal/token"
)

// Errors of Ask. But for ErrBusy none of them goes away by trying again.
var (
	ErrRival   = errors.New("another program asks Telegram for the messages of this bot")
	ErrWebhook = errors.New("a webhook is set for this bot: its messages go there")
	ErrBusy    = errors.New("telegram asks for a pause")
)

// MostUpdates is the number of updates that Telegram returns at once.
const MostUpdates = 100

const (
	peekSlack = 10 * time.Second // how much longer than its wait an answer may take
	maxAnswer = 64 << 20         // 100 updates of the longest texts are well below it
)

// Peek shows the updates that wait at Telegram, each as Telegram sent it. If there is none it waits
// for one. Offset 0 takes none of them away, so a bot gets them all later; another offset takes
// away what is below it. The errors are those of Ask.
func Peek(ctx context.Context, client *http.Client, server string, offset int64, wait time.Duration) (updates []json.RawMessage, err error) {
	ctx, cancel := context.WithTimeout(ctx, wait+peekSlack)
	defer cancel()
	// Without allowed_updates Telegram continues to store the kinds that the bot has asked for.
	_, err = Ask(ctx, client, server, "getUpdates", map[string]int64{"offset": offset, "timeout": int64(wait / time.Second), "limit": MostUpdates}, &updates)
	return updates, err
}

// Who returns the name of the bot, and the address that a webhook sends its messages to, or "". at
// and the errors are as for Ask.
func Who(ctx context.Context, client *http.Client, server string) (name, webhook string, at time.Time, err error) {
	var answer struct {
		Username string `json:"username"`
		URL      string `json:"url"`
	}
	if at, err = Ask(ctx, client, server, "getMe", nil, &answer); err == nil {
		_, err = Ask(ctx, client, server, "getWebhookInfo", nil, &answer)
	}
	return answer.Username, answer.URL, at, err
}

// RestrictedGroups returns the groups in which privacy mode keeps plain texts from the bot, because
// it is not an administrator there. It leaves out a group if Telegram does not answer for it.
func RestrictedGroups(ctx context.Context, client *http.Client, server string, groups []int64) (all []int64) {
	var me models.User
	if _, err := Ask(ctx, client, server, "getMe", nil, &me); err != nil || me.CanReadAllGroupMessages {
		return nil
	}
	for _, group := range groups {
		var member struct {
			Status   string `json:"status"`
			IsMember bool   `json:"is_member"` // of the restricted
		}
		_, err := Ask(ctx, client, server, "getChatMember", map[string]int64{"chat_id": group, "user_id": me.ID}, &member)
		restricted := member.Status == string(models.ChatMemberTypeRestricted) && member.IsMember
		if err == nil && (restricted || member.Status == string(models.ChatMemberTypeMember)) {
			all = append(all, group)
		}
	}
	return all
}

// Ask calls a method of the Bot API and reads its result. at is the server's clock, or zero. An
// error shows neither the address nor the body, which may be any page; attachment.ErrFileTooBig is
// an answer about a file.
func Ask(ctx context.Context, client *http.Client, server, method string, params, result any) (at time.Time, err error) {
	ask, err := json.Marshal(params)
	if err != nil {
		return at, err
	}
	q, err := http.NewRequestWithContext(ctx, http.MethodPost, server+"/bot"+token.Standin+"/"+method, bytes.NewReader(ask))
	if err != nil {
		return at, fmt.Errorf("%s: invalid address", method)
	}
	q.Header.Set("Content-Type", "application/json")
	resp, err := redacting{client}.Do(q)
	if err != nil {
		return at, fmt.Errorf("%s: %w", method, err)
	}
	defer resp.Body.Close()
	at = apianswer.Date(resp.Header)
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer))
	if err != nil {
		return at, fmt.Errorf("%s: %w", method, err)
	}
	answer, err := apianswer.Parse(body)
	switch {
	case err != nil:
		return at, fmt.Errorf("%s: the server answers %d, and not as the Bot API does", method, resp.StatusCode)
	case answer.Result != nil:
		return at, json.Unmarshal(answer.Result, result)
	case answer.UnknownToken():
		return at, ErrRevoked
	case answer.Code == http.StatusConflict && strings.Contains(answer.Description, "webhook"):
		return at, ErrWebhook
	case answer.Code == http.StatusConflict:
		return at, ErrRival
	case answer.Code == http.StatusTooManyRequests:
		return at, fmt.Errorf("%w: %w", ErrBusy, &tgbot.TooManyRequestsError{RetryAfter: answer.RetryAfter})
	case strings.Contains(answer.Description, "file is too big"):
		return at, attachment.ErrFileTooBig
	}
	return at, fmt.Errorf("%s: the server answers %d", method, answer.Code)
}
