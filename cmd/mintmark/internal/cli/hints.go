package cli

import (
	"errors"
	"fmt"

	"github.com/mintmark-auth/mintmark/cluster/recovery"
	"github.com/mintmark-auth/mintmark/cmd/mintmark/internal/config"
	"github.com/mintmark-auth/mintmark/cmd/mintmark/internal/server"
)

// hints is the one table from an error to what an operator can do about it. Errors are
// facts and name no command or flag, because the packages that return them know neither.
var hints = []struct {
	err    error
	advice string
}{
	{server.ErrListen, "see --" + config.KeyListen},
	{server.ErrListenOps, "see --" + config.KeyOpsListen},
	{server.ErrListenCluster, "see --" + config.KeyClusterListen},
	{server.ErrReadToken, "see --" + config.KeyTokenFile},
	{recovery.ErrInterrupted, "run mintmark cluster recover again"},
}

// withHint adds to an error what an operator can do about it, if hints knows that.
func withHint(err error) error {
	for _, h := range hints {
		if errors.Is(err, h.err) {
			return fmt.Errorf("%w (%s)", err, h.advice)
		}
	}
	return err
}
