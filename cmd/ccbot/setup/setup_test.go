package setup

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestOfferService(t *testing.T) {
	yes, no := true, false
	for _, tt := range []struct {
		name  string
		flags Flags
		none  bool // there is no service
		want  bool // it is installed
	}{
		{"by its flag", Flags{Service: &yes}, false, true},
		{"not, by its flag", Flags{Service: &no, Yes: true}, false, false},
		{"without a question", Flags{Yes: true}, false, true},
		{"there is none", Flags{Yes: true}, true, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var said strings.Builder
			installed := false
			s := Setup{Flags: tt.flags, Terminal: Terminal{Out: &said}, Service: func(context.Context) error {
				installed = true
				return nil
			}}
			if tt.none {
				s.Service = nil
			}
			require.NoError(t, s.OfferService(t.Context()))
			assert.Equal(t, tt.want, installed)
			assert.Equal(t, !tt.want, strings.Contains(said.String(), "Start it with `ccbot`"))
			assert.Equal(t, tt.none, strings.Contains(said.String(), "docs/systemd.md"))
		})
	}
}
