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
		want  bool // it is installed
	}{
		{"by its flag", Flags{Service: &yes}, true},
		{"not, by its flag", Flags{Service: &no, Yes: true}, false},
		{"without a question", Flags{Yes: true}, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var said strings.Builder
			installed := false
			s := Setup{Flags: tt.flags, Terminal: Terminal{Out: &said}, Service: func(context.Context) error {
				installed = true
				return nil
			}}
			require.NoError(t, s.OfferService(t.Context()))
			assert.Equal(t, tt.want, installed)
			assert.Equal(t, !tt.want, strings.Contains(said.String(), "Start it with `ccbot`"))
		})
	}
}
