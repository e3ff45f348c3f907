package answer

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"

	"ccbot/bot/outbox"
	"ccbot/bot/render"
)

func TestFallbacks(t *testing.T) {
	for _, tt := range []struct {
		name string
		part render.Part
		rich bool
		want []way
	}{
		{"text", render.Part{Text: render.Plain("x")}, false, []way{byText, byFile}},
		{"text of a server with rich messages", render.Part{Text: render.Plain("x")}, true, []way{byText, byFile}},
		{"rich", render.Part{Rich: "x"}, true, []way{byRich, byEntities}},
		{"rich, and the server has lost them", render.Part{Rich: "x"}, false, []way{byEntities}},
		{"a picture", render.Part{File: &render.File{Photo: true}}, true, []way{byFile}},
		{"a file", render.Part{Text: render.Plain("x"), File: &render.File{}}, true, []way{byFile}},
	} {
		t.Run(tt.name, func(t *testing.T) { assert.Equal(t, tt.want, fallbacks(tt.part, tt.rich)) })
	}
}

func TestNeedsFallback(t *testing.T) {
	for _, tt := range []struct {
		name string
		err  error
		want bool
	}{
		{"yes", nil, false},
		{"a refusal for good", &outbox.Refused{Err: errors.New("bad request")}, true},
		{"no rich messages", fmt.Errorf("send: %w", &outbox.Refused{Err: outbox.ErrNoRich}), false},
		{"blocked", fmt.Errorf("send: %w", &outbox.Refused{Err: outbox.ErrBlocked}), false},
		{"a stop", outbox.ErrClosed, false},
		{"a dead token", outbox.ErrRevoked, false},
		{"not known", errors.Join(outbox.ErrUnsure, context.Canceled), false},
	} {
		t.Run(tt.name, func(t *testing.T) { assert.Equal(t, tt.want, needsFallback(tt.err)) })
	}
}
