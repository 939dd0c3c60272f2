package echo_test

import (
	"testing"

	"github.com/mintmark-auth/mintmark/middleware/examples/echo"
	"github.com/mintmark-auth/mintmark/middleware/examples/internal/trial"
)

func TestByRoute(t *testing.T) { trial.ByRoute(t, echo.ByRoute) }

func TestByPolicy(t *testing.T) { trial.ByPolicy(t, echo.ByPolicy) }
