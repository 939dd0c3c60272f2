package server

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/mintmark-auth/mintmark/cluster/durable"
)

// DevMark is a file in each data folder that "mintmark dev" made. Users with well-known
// passwords must not get into production data, and data with such users must not be
// served as production data.
const DevMark = "made-by-dev"

// markDev marks an empty folder. It is called before anything is written, so a folder
// with data and without a mark was not made by "mintmark dev".
func (s *Server) markDev() error {
	if err := durable.Replace(s.devMark(), nil); err != nil {
		return fmt.Errorf("mark data folder for development: %w", err)
	}
	return nil
}

func (s *Server) devMark() string { return filepath.Join(s.config.DataDir, DevMark) }

func (s *Server) hasDevMark() (bool, error) {
	_, err := os.Lstat(s.devMark())
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("read mark of data folder: %w", err)
	}
	return true, nil
}

// requireDevMark refuses data that "mintmark dev" did not make.
func (s *Server) requireDevMark() error {
	made, err := s.hasDevMark()
	if err != nil || made {
		return err
	}
	return fmt.Errorf("%s: %w", s.config.DataDir, ErrNotDevData)
}

// refuseDevMark refuses data that "mintmark dev" made.
func (s *Server) refuseDevMark() error {
	made, err := s.hasDevMark()
	if err != nil || !made {
		return err
	}
	return fmt.Errorf("%s: %w", s.config.DataDir, ErrDevData)
}
