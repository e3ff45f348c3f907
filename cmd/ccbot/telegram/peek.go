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

	"ccbot/internal/token"
)

// Errors of Peek that do not go away by trying again.
var (
	ErrRival   = errors.New("another program asks Telegram for the messages of this bot")
	ErrWebhook = errors.New("a webhook is set for this bot: its messages go there")
)

// MostUpdates is how many updates Telegram gives at once.
const MostUpdates = 100

const (
	peekSlack = 10 * time.Second // how much longer than its wait an answer may take
	maxPeek   = 64 << 20         // 100 updates of the longest texts are well below it
)

// Peek shows the updates that wait at Telegram, each as Telegram sent it. If there is none it waits
// for one. Offset 0 takes none of them away, so a bot gets them all later; another offset takes
// away what is below it. ErrRevoked, ErrRival and ErrWebhook are final.
func Peek(ctx context.Context, client *http.Client, server string, offset int64, wait time.Duration) ([]json.RawMessage, error) {
	ctx, cancel := context.WithTimeout(ctx, wait+peekSlack)
	defer cancel()
	// Without allowed_updates Telegram goes on keeping the kinds that the bot has asked for.
	ask, err := json.Marshal(map[string]int64{"offset": offset, "timeout": int64(wait / time.Second), "limit": MostUpdates})
	if err != nil {
		return nil, err
	}
	q, err := http.NewRequestWithContext(ctx, http.MethodPost, server+"/bot"+token.Standin+"/getUpdates", bytes.NewReader(ask))
	if err != nil {
		return nil, errors.New("getUpdates: no request")
	}
	q.Header.Set("Content-Type", "application/json")
	resp, err := redacting{client}.Do(q)
	if err != nil {
		return nil, fmt.Errorf("getUpdates: %w", err)
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(io.LimitReader(resp.Body, maxPeek))
	if err != nil {
		return nil, fmt.Errorf("getUpdates: %w", err)
	}
	return updatesIn(resp.StatusCode, data)
}

func updatesIn(status int, data []byte) ([]json.RawMessage, error) {
	var answer struct {
		OK          bool              `json:"ok"`
		Result      []json.RawMessage `json:"result"`
		ErrorCode   int               `json:"error_code"`
		Description string            `json:"description"`
	}
	if err := json.Unmarshal(data, &answer); err != nil {
		return nil, fmt.Errorf("getUpdates: the server answers %d, and no JSON", status)
	}
	switch {
	case answer.OK:
		return answer.Result, nil
	case answer.ErrorCode == http.StatusUnauthorized, answer.ErrorCode == http.StatusNotFound:
		return nil, ErrRevoked
	case answer.ErrorCode == http.StatusConflict && strings.Contains(answer.Description, "webhook"):
		return nil, ErrWebhook
	case answer.ErrorCode == http.StatusConflict:
		return nil, ErrRival
	}
	return nil, fmt.Errorf("getUpdates: the server answers %d", answer.ErrorCode)
}
