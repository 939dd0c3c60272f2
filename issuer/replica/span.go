package replica

import (
	"errors"
	"fmt"
	"strings"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"

	"github.com/mintmark-auth/mintmark/cluster/command"
	"github.com/mintmark-auth/mintmark/issuer/ledger"
	"github.com/mintmark-auth/mintmark/issuer/oauth"
)

// endProposal ends the span of a proposal. The span names the command and its outcome, but
// no client or user, since spans leave the machine.
func endProposal(span trace.Span, c command.Command, o ledger.Outcome, index uint64, err error) {
	if !span.IsRecording() {
		span.End()
		return
	}
	_, name, _ := strings.Cut(fmt.Sprintf("%T", c), ".")
	span.SetAttributes(attribute.String("mintmark.command", name))
	switch {
	case errors.Is(err, oauth.ErrOutcomeUnknown):
		span.SetStatus(codes.Error, "outcome unknown")
	case errors.Is(err, oauth.ErrUnavailable):
		span.SetStatus(codes.Error, "unavailable")
	case err != nil:
		span.SetStatus(codes.Error, "failed")
	case o.Refusal != nil:
		span.SetAttributes(attribute.String("mintmark.refusal", o.Refusal.Cause.String()))
	default:
		span.SetAttributes(attribute.Int64("mintmark.index", int64(index)))
	}
	span.End()
}
