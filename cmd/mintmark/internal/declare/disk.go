package declare

import (
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
// hold no secret in clear, and no file that it names may be readable by others.
func Disk(stdin io.Reader) Reader {
	credentials := os.Getenv("CREDENTIALS_DIRECTORY")
	return Reader{
		Open: func(path string) ([]byte, func() error, error) {
			if path == Stdin {
				text, err := readAll(stdin)
				return text, func() error { return nil }, err
			}
			f, err := os.Open(path)
			if err != nil {
				return nil, nil, err
			}
			defer func() { _ = f.Close() }()
			exposed := config.RequirePrivate(f, "declaration", credentials)
			text, err := readAll(f)
			if err != nil {
				err = fmt.Errorf("read %s: %w", path, err)
			}
			return text, func() error { return exposed }, err
		},
		Secret: func(path string) (admin.Plain, error) { return config.ReadSecretFile(path, credentials) },
	}
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
