package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/mintmark-auth/mintmark/cluster/durable"
)

// devMark is a file in each folder that "mintmark dev" made. Users whose
// passwords everybody knows must not come into data that somebody relies on,
// and data that has them must not be served as if it had not.
const devMark = "made-by-dev"

// markDev is called before anything else is in the folder, so that whatever is
// in one without a mark was made by somebody else.
func (s *server) markDev() error {
	if err := durable.Replace(s.devMark(), nil); err != nil {
		return fmt.Errorf("mark the data folder as one of mintmark dev: %w", err)
	}
	return nil
}

func (s *server) devMark() string { return filepath.Join(s.config.DataDir, devMark) }

func (s *server) hasDevMark() (bool, error) {
	_, err := os.Lstat(s.devMark())
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("look who made the data folder: %w", err)
	}
	return true, nil
}

// requireDevMark refuses data that "mintmark dev" did not make.
func (s *server) requireDevMark() error {
	made, err := s.hasDevMark()
	if err != nil || made {
		return err
	}
	return fmt.Errorf("the data in %s was not made by mintmark dev, which adds users and clients whose passwords everybody knows: "+
		"run it with mintmark serve, or give dev another --data-dir (if an older mintmark dev made it, make the empty file %s and start again)",
		s.config.DataDir, s.devMark())
}

// refuseDevMark refuses data that "mintmark dev" made.
func (s *server) refuseDevMark() error {
	made, err := s.hasDevMark()
	if err != nil || !made {
		return err
	}
	return fmt.Errorf("the data in %s was made by mintmark dev, and has users and clients whose passwords everybody may know: "+
		"give serve another --data-dir", s.config.DataDir)
}
