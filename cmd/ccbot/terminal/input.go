package terminal

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"golang.org/x/sys/unix"
)

// Input reads from in. If in is a file, the end of ctx also ends a read: a signal alone would not.
func Input(ctx context.Context, in io.Reader) io.Reader {
	f, isFile := in.(*os.File)
	if !isFile {
		return in
	}
	return reader(func(into []byte) (int, error) {
		if err := wait(ctx, f); err != nil {
			return 0, err
		}
		return f.Read(into)
	})
}

type reader func([]byte) (int, error)

func (r reader) Read(into []byte) (int, error) { return r(into) }

// wait returns when there is something to read, or ctx ends: a read itself would not end with ctx.
func wait(ctx context.Context, f *os.File) error {
	over, end, err := os.Pipe()
	if err != nil {
		return err
	}
	defer over.Close()
	closed := make(chan struct{})
	stop := context.AfterFunc(ctx, func() { end.Close(); close(closed) })
	defer func() {
		if stop() {
			end.Close()
			return
		}
		<-closed
	}()
	in, wake := int(f.Fd()), int(over.Fd())
	for ctx.Err() == nil {
		var set unix.FdSet // select, because poll knows no terminals on macOS
		set.Set(in)
		set.Set(wake)
		_, err := unix.Select(max(in, wake)+1, &set, nil, nil, nil)
		switch {
		case err == nil && set.IsSet(in) && ctx.Err() == nil:
			return nil
		case err != nil && !errors.Is(err, unix.EINTR):
			return fmt.Errorf("wait for an answer: %w", err)
		}
	}
	return ctx.Err()
}
