package main

import (
	"context"
	"log/slog"
	"net"
	"net/http"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"

	"github.com/mintmark-auth/mintmark/cmd/mintmark/internal/proxy"
)

// tracing makes a span of each request, and of what was decided for it. It is
// off, and nil, unless somebody collects. How many requests are traced is told by
// OpenTelemetry's own OTEL_TRACES_SAMPLER and OTEL_TRACES_SAMPLER_ARG.
type tracing struct {
	provider *sdktrace.TracerProvider
	http     trace.Tracer
	trusted  proxy.Trusted
}

// newTracing returns nil where the endpoint is "".
func newTracing(endpoint, node string, trusted proxy.Trusted, log *slog.Logger) *tracing {
	if endpoint == "" {
		return nil
	}
	// What can't be read of OTEL_RESOURCE_ATTRIBUTES is left out.
	own, _ := resource.Merge(resource.Default(), resource.NewSchemaless(
		attribute.String("service.name", "mintmark"),
		attribute.String("service.version", version),
		attribute.String("service.instance.id", node),
	))
	provider := sdktrace.NewTracerProvider(sdktrace.WithResource(own), sdktrace.WithBatcher(newSpanExporter(endpoint, log)))
	return &tracing{provider, provider.Tracer("github.com/mintmark-auth/mintmark/cmd/mintmark"), trusted}
}

// issuer is the tracer of decisions.
func (t *tracing) issuer() trace.Tracer {
	if t == nil {
		return nil
	}
	return t.provider.Tracer("github.com/mintmark-auth/mintmark/issuer")
}

// begin makes the span of a request. Only a proxy in front may say which trace
// it is a part of: a stranger could have everything traced.
func (t *tracing) begin(r *http.Request) (*http.Request, trace.Span) {
	if t == nil {
		return r, nil
	}
	ctx := r.Context()
	if peer, _, err := net.SplitHostPort(r.RemoteAddr); err == nil && t.trusted.Trusts(peer) {
		ctx = propagation.TraceContext{}.Extract(ctx, propagation.HeaderCarrier(r.Header))
	}
	ctx, span := t.http.Start(ctx, r.Method, trace.WithSpanKind(trace.SpanKindServer))
	return r.WithContext(ctx), span
}

// end says what became of a request: its route, with the names of parameters and
// never their values. Status 0 is a connection that was cut.
func (t *tracing) end(span trace.Span, route *routeMetrics, status int) {
	if t == nil {
		return
	}
	if span.IsRecording() {
		span.SetName(route.method + " " + route.pattern)
		span.SetAttributes(
			attribute.String("http.request.method", route.method),
			attribute.String("http.route", route.pattern),
			attribute.Int("http.response.status_code", status),
		)
		if status == 0 || status >= http.StatusInternalServerError {
			span.SetStatus(codes.Error, http.StatusText(status))
		}
	}
	span.End()
}

// close sends what is left.
func (t *tracing) close(ctx context.Context) error {
	if t == nil {
		return nil
	}
	return t.provider.Shutdown(ctx)
}
