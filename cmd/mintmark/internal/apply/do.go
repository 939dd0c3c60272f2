package apply

import (
	"context"
	"fmt"
	"strings"

	"github.com/mintmark-auth/mintmark/issuer/admin"
)

// Do carries the plan out, step by step, and reports each step that is done with its
// result: added, changed, unchanged (somebody else did the same meanwhile) or removed. It
// stops at the first step that fails, with an *InterruptedError.
func (p *Plan) Do(ctx context.Context, c *admin.Caller, report func(s *Step, result string) error) error {
	for i := range p.Steps {
		s := &p.Steps[i]
		result, err := s.do(ctx, c)
		if err != nil {
			return &InterruptedError{Err: err, Done: i, Left: p.Steps[i:]}
		}
		if err := report(s, result); err != nil {
			return err
		}
	}
	return nil
}

// ResultRemoved is the result of a removal.
const ResultRemoved = "removed"

func (s *Step) do(ctx context.Context, c *admin.Caller) (string, error) {
	switch {
	case s.settings != nil:
		_, err := admin.SetSettings.Call(ctx, c, *s.settings)
		return admin.ResultChanged, err
	case s.user != nil:
		a, err := admin.ApplyUser.Call(ctx, c, *s.user)
		return a.Result, err
	case s.removal != nil:
		_, err := admin.DeleteClient.Call(ctx, c, *s.removal)
		return ResultRemoved, err
	case s.resource != nil:
		a, err := admin.ApplyResourceServer.Call(ctx, c, *s.resource)
		return a.Result, err
	case s.resourceRemoval != nil:
		_, err := admin.RemoveResourceServer.Call(ctx, c, *s.resourceRemoval)
		return ResultRemoved, err
	case s.publisher != nil:
		a, err := admin.ApplyPublisher.Call(ctx, c, *s.publisher)
		return a.Result, err
	case s.publisherRemoval != nil:
		_, err := admin.RemovePublisher.Call(ctx, c, *s.publisherRemoval)
		return ResultRemoved, err
	default:
		a, err := admin.ApplyClient.Call(ctx, c, *s.client)
		return a.Result, err
	}
}

// An InterruptedError reports a plan that was not carried out to its end.
type InterruptedError struct {
	Err  error  // of the first step of Left
	Done int    // number of steps that were done
	Left []Step // that were not done; the fate of the first may be unknown, as Err reports
}

func (e *InterruptedError) Error() string {
	left := make([]string, len(e.Left))
	for i := range e.Left {
		left[i] = e.Left[i].Subject()
	}
	return fmt.Sprintf("%v; %d of %d changes are done, and not: %s",
		e.Err, e.Done, e.Done+len(e.Left), strings.Join(left, ", "))
}

func (e *InterruptedError) Unwrap() error { return e.Err }
