package chi_test

import (
	"testing"

	"github.com/mintmark-auth/mintmark/middleware/examples/chi"
	"github.com/mintmark-auth/mintmark/middleware/examples/internal/trial"
)

func TestByRoute(t *testing.T) { trial.ByRoute(t, chi.ByRoute) }

func TestByPolicy(t *testing.T) { trial.ByPolicy(t, chi.ByPolicy) }
