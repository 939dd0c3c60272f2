package declare

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/mintmark-auth/mintmark/cmd/mintmark/internal/config"
	"github.com/mintmark-auth/mintmark/issuer/admin"
)

// Stdin is the path that stands for standard input.
const Stdin = "-"

// Disk returns a Reader of files, and of standard input. A file that others can read may
// hold no secret in clear, and no file that it names may be readable by others. Reading ends
// with ctx: a pipe, or a terminal, may never have anything to read.
func Disk(ctx context.Context, stdin io.Reader) Reader {
	credentials := os.Getenv("CREDENTIALS_DIRECTORY")
	return Reader{
		Open: func(path string) ([]byte, func() error, error) {
			var text []byte
			var exposed error
			read := make(chan error, 1)
			go func() {
				var err error
				text, exposed, err = open(path, stdin, credentials)
				read <- err
			}()
			select {
			case err := <-read:
				return text, func() error { return exposed }, err
			case <-ctx.Done():
				return nil, nil, fmt.Errorf("read %s: %w", path, ctx.Err())
			}
		},
		Secret: func(path string) (admin.Plain, error) { return config.ReadSecretFile(path, credentials) },
	}
}

// open returns the text of a file, and an error in exposed if others can read the file.
func open(path string, stdin io.Reader, credentials string) (text []byte, exposed, err error) {
	if path == Stdin {
		text, err = readAll(stdin)
		return text, nil, err
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, nil, err
	}
	defer func() { _ = f.Close() }()
	exposed = config.RequirePrivate(f, "declaration", credentials)
	if text, err = readAll(f); err != nil {
		err = fmt.Errorf("read %s: %w", path, err)
	}
	return text, exposed, err
}

// maxFile is the maximum size of a declaration, in bytes.
const maxFile = 64 << 20

func readAll(r io.Reader) ([]byte, error) {
	text, err := io.ReadAll(io.LimitReader(r, maxFile+1))
	if err == nil && len(text) > maxFile {
		err = errors.New("the file is longer than 64 MiB")
	}
	return text, err
}
