package doctor

import (
	"cmp"
	"context"
	"crypto/x509"
	"errors"
	"net/url"
	"os"
	"time"

	botapi "ccbot/cmd/ccbot/telegram"
	"ccbot/internal/apianswer"
)

const (
	askTimeout = 10 * time.Second
	// maxSkew is more than a slow answer and two clocks that are set right can differ.
	maxSkew = 30 * time.Second
)

// telegram asks who the bot is and where its messages go. It takes no update: that would take it
// from the bot.
func telegram(ctx context.Context, w *World) []Finding {
	switch {
	case w.wrong != nil:
		return []Finding{unseen("telegram", errNoSettings)}
	case !w.Token.Valid() || w.CheckAPI() != nil:
		return []Finding{skipped("telegram", "there is no token here to ask with")}
	}
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	asked := time.Now()
	client := botapi.Client(w.Token, w.APIURL, w.Proxy())
	name, webhook, at, err := botapi.Who(ctx, client, w.APIURL)
	switch {
	case errors.Is(err, botapi.ErrRevoked):
		return []Finding{found("token_refused", "ask @BotFather for the present token, and put it into TELEGRAM_BOT_TOKEN", "Telegram does not know TELEGRAM_BOT_TOKEN")}
	case errors.Is(err, botapi.ErrBusy):
		return []Finding{unseen("telegram", botapi.ErrBusy)}
	case err != nil:
		return []Finding{found("telegram_unreachable", "look at "+botapi.CheckHint(err), "the Bot API does not answer: %v", err)}
	}
	all := []Finding{good("telegram", "the token is that of @%s", name)}
	if webhook != "" {
		where := "somewhere"
		if u, err := url.Parse(webhook); err == nil { // its path may be a secret
			where = u.Host
		}
		all = append(all, found("webhook_set", "let the program that set it call deleteWebhook; docs/operations.md has a command that does not show the token", "the messages of this bot go to %s", where))
	}
	all = append(all, clock(asked, time.Now(), at))
	for _, group := range botapi.RestrictedGroups(ctx, client, w.APIURL, w.AllowedChats) {
		all = append(all, found("group_privacy", "", "in the group %d the bot gets commands and replies only", group))
	}
	return all
}

// certificates looks at the files of certificates that the settings name. A program that
// cannot read its file trusts fewer servers, and does not report it.
func certificates(w *World) (all []Finding) {
	for _, name := range []string{"SSL_CERT_FILE", "NODE_EXTRA_CA_CERTS"} {
		path := cmp.Or(w.Network[name], w.Agents[name], w.vars[name])
		if path == "" {
			continue
		}
		data, err := os.ReadFile(path)
		if err == nil && !x509.NewCertPool().AppendCertsFromPEM(data) {
			err = errors.New("it has no certificate")
		}
		if err != nil {
			all = append(all, found("ca_unreadable", "", "%s=%s: %v", name, path, err))
		}
	}
	return all
}

// clock compares the server's time with that before and after the question.
func clock(before, after, at time.Time) Finding {
	if at.IsZero() {
		return Finding{ID: "clock", Status: Unknown, Summary: "the Bot API does not report its time"}
	}
	if skew := apianswer.Skew(before, after, at).Abs(); skew > maxSkew {
		return found("clock_skewed", "sudo timedatectl set-ntp true", "the clock differs from Telegram's by %s", skew.Round(time.Second))
	}
	return good("clock", "as Telegram's")
}
