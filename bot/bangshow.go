package bot

import (
	"context"

	"ccbot/bot/render"
	"ccbot/internal/session"
	"ccbot/internal/transcript"
)

// bashSign is the command of an item that is a shell's, as transcripts have it.
const bashSign = "!"

func isOutput(item transcript.Item) bool {
	return item.Kind == transcript.LocalOutput && item.Command == bashSign
}

// showOutput shows what a command of bash mode has printed in the message that has
// grown with it; false: there is none.
func (p *passage) showOutput(ctx context.Context, r session.Record, part render.Part, i int) (done bool, err error) {
	if i > 0 || !isOutput(p.item) {
		return false, nil
	}
	return p.bangs.finish(ctx, r, p.item, part)
}

// endOutput does so for a session that is not the current one: for all else its
// notice counts as the answer.
func (p *passage) endOutput(ctx context.Context, r session.Record, item transcript.Item, said said) error {
	if !isOutput(item) {
		return nil
	}
	_, err := p.bangs.finish(ctx, r, item, said.parts[0])
	return err
}
