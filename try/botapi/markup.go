package botapi

import (
	"encoding/json"
	"net/url"
	"slices"
	"strings"
	"unicode/utf8"
)

// maxButtons is Telegram's limit of one keyboard.
const maxButtons = 100

// rawButton keeps what was given, to tell an empty field from none.
type rawButton struct {
	Text     string  `json:"text"`
	Style    string  `json:"style"`
	Data     *string `json:"callback_data"`
	URL      *string `json:"url"`
	CopyText *struct {
		Text string `json:"text"`
	} `json:"copy_text"`
	Disabled *struct{} `json:"disabled"`
}

// keyboard reads reply_markup. Only inline keyboards are known here.
func (p params) keyboard() (json.RawMessage, [][]Button, *apiError) {
	if !p.has("reply_markup") {
		return nil, nil, nil
	}
	raw := json.RawMessage(p.str("reply_markup"))
	var markup map[string]json.RawMessage
	if err := json.Unmarshal(raw, &markup); err != nil {
		return nil, nil, badRequest("object expected as reply markup")
	}
	list, inline := markup["inline_keyboard"]
	if !inline {
		return nil, nil, badRequest("stand-in: only inline keyboards are supported")
	}
	var rows [][]rawButton
	if err := json.Unmarshal(list, &rows); err != nil {
		return nil, nil, badRequest("can't parse inline keyboard button: %v", err)
	}
	keyboard, refusal := readKeyboard(rows)
	if refusal != nil || keyboard == nil {
		return nil, nil, refusal
	}
	return mustJSON(map[string]json.RawMessage{"inline_keyboard": list}), keyboard, nil
}

func readKeyboard(rows [][]rawButton) (keyboard [][]Button, refusal *apiError) {
	count := 0
	for _, row := range rows {
		var keys []Button
		for _, raw := range row {
			b, refusal := readButton(raw)
			if refusal != nil {
				return nil, refusal
			}
			keys = append(keys, b)
			count++
		}
		if keys != nil {
			keyboard = append(keyboard, keys)
		}
	}
	if count > maxButtons {
		return nil, badRequest("reply markup is too long")
	}
	return keyboard, nil
}

func readButton(raw rawButton) (Button, *apiError) {
	b := Button{Text: raw.Text, Style: raw.Style}
	if strings.TrimSpace(raw.Text) == "" {
		return b, badRequest("inline keyboard button text must be non-empty")
	}
	if !utf8.ValidString(raw.Text) {
		return b, badRequest("inline keyboard button text must be encoded in UTF-8")
	}
	if !slices.Contains([]string{"", "danger", "success", "primary"}, raw.Style) {
		return b, badRequest("can't parse inline keyboard button: invalid button style specified")
	}
	kinds := 0
	if raw.URL != nil && *raw.URL != "" {
		kinds++
		b.URL = *raw.URL
		if !buttonURL(b.URL) {
			return b, badRequest("inline keyboard button URL '%s' is invalid: Wrong HTTP URL", b.URL)
		}
	}
	if raw.Data != nil {
		kinds++
		b.Data = *raw.Data
		if len(b.Data) < 1 || len(b.Data) > 64 {
			return b, badRequest("BUTTON_DATA_INVALID")
		}
	}
	if raw.CopyText != nil {
		kinds++
		b.CopyText = raw.CopyText.Text
		if n := units(b.CopyText); n < 1 || n > 256 {
			return b, badRequest("BUTTON_COPY_TEXT_INVALID")
		}
	}
	if raw.Disabled != nil {
		kinds++
		b.Disabled = true
	}
	if kinds != 1 {
		return b, badRequest("can't parse inline keyboard button: Text buttons are unallowed in the inline keyboard")
	}
	return b, nil
}

// buttonURL accepts what Telegram does: web addresses with a dot in the host, and its own scheme.
func buttonURL(s string) bool {
	u, err := url.Parse(s)
	if err != nil {
		return false
	}
	switch u.Scheme {
	case "tg":
		return true
	case "http", "https":
		return strings.Contains(u.Hostname(), ".")
	}
	return false
}
