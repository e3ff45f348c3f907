package hookwire

import (
	"errors"
	"os"
	"syscall"
)

// readFile reads a whole small file; EFBIG when it has more than limit bytes. Unlike os.ReadFile it
// does not use the poller, which costs six system calls per file: a hook opens five or more files
// for each prompt.
func readFile(path string, limit int) ([]byte, error) {
	fd, err := again(func() (int, error) { return syscall.Open(path, syscall.O_RDONLY|syscall.O_CLOEXEC, 0) })
	if err != nil {
		return nil, &os.PathError{Op: "open", Path: path, Err: err}
	}
	defer func() { _ = syscall.Close(fd) }() // nothing was written
	data := make([]byte, 0, 1024)
	for len(data) <= limit {
		if len(data) == cap(data) {
			data = append(data, 0)[:len(data)]
		}
		n, err := again(func() (int, error) { return syscall.Read(fd, data[len(data):cap(data)]) })
		if err != nil {
			return nil, &os.PathError{Op: "read", Path: path, Err: err}
		}
		if n == 0 {
			return data, nil
		}
		data = data[:len(data)+n]
	}
	return nil, &os.PathError{Op: "read", Path: path, Err: syscall.EFBIG}
}

// create makes a file that does not exist yet, also without the poller.
func create(path string) (*os.File, error) {
	fd, err := again(func() (int, error) {
		return syscall.Open(path, syscall.O_WRONLY|syscall.O_CREAT|syscall.O_EXCL|syscall.O_CLOEXEC, 0o600)
	})
	if err != nil {
		return nil, &os.PathError{Op: "open", Path: path, Err: err}
	}
	return os.NewFile(uintptr(fd), path), nil
}

// again repeats a call that a signal interrupted; the runtime's own signals do that.
func again(call func() (int, error)) (int, error) {
	for {
		n, err := call()
		if !errors.Is(err, syscall.EINTR) {
			return n, err
		}
	}
}
