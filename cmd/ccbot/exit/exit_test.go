package exit

import (
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestExitCodes(t *testing.T) {
	assert.Equal(t, Failure, Code(errors.New("x")))
	assert.Equal(t, Misuse, Code(fmt.Errorf("x: %w", Usage(errors.New("y")))))
	assert.Equal(t, Running, Code(fmt.Errorf("x: %w", ErrRunning)))
}
