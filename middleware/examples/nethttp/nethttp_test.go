package main

import (
	"testing"

	"github.com/mintmark-auth/mintmark/middleware/examples/internal/trial"
)

func TestByRoute(t *testing.T) { trial.ByRoute(t, byRoute) }

func TestByPolicy(t *testing.T) { trial.ByPolicy(t, byPolicy) }
