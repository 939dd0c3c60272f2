package telemetry

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

// Tracing makes a span of each request, and of each decision for it. A nil *Tracing
// traces nothing. OTEL_TRACES_SAMPLER and OTEL_TRACES_SAMPLER_ARG set the share of
// requests that is traced, as OpenTelemetry defines.
type Tracing struct {
	provider *sdktrace.TracerProvider
	http     trace.Tracer
}

// NewTracing sends traces to the collector at endpoint, an origin. node and version are
// attributes of the traces. It returns nil if endpoint is "".
func NewTracing(endpoint, node, version string, log *slog.Logger) *Tracing {
	if endpoint == "" {
		return nil
	}
	// Errors in OTEL_RESOURCE_ATTRIBUTES are ignored.
	own, _ := resource.Merge(resource.Default(), resource.NewSchemaless(
		attribute.String("service.name", "mintmark"),
		attribute.String("service.version", version),
		attribute.String("service.instance.id", node),
	))
	provider := sdktrace.NewTracerProvider(sdktrace.WithResource(own), sdktrace.WithBatcher(newSpanExporter(endpoint, log)))
	return &Tracing{provider, provider.Tracer("github.com/mintmark-auth/mintmark/cmd/mintmark")}
}

// IssuerTracer returns the tracer of decisions, nil without tracing.
func (t *Tracing) IssuerTracer() trace.Tracer {
	if t == nil {
		return nil
	}
	return t.provider.Tracer("github.com/mintmark-auth/mintmark/issuer")
}

// begin starts the span of a request. The trace of a request is taken only from a trusted
// proxy: any other client could have everything traced, or put its requests into the
// trace of another. It is not linked either, because a link has the same ids.
func (t *Tracing) begin(r *http.Request, trusted proxy.Trusted) (*http.Request, trace.Span) {
	if t == nil {
		return r, nil
	}
	ctx := r.Context()
	if peer, _, err := net.SplitHostPort(r.RemoteAddr); err == nil && trusted.Trusts(peer) {
		ctx = propagation.TraceContext{}.Extract(ctx, propagation.HeaderCarrier(r.Header))
	}
	ctx, span := t.http.Start(ctx, r.Method, trace.WithSpanKind(trace.SpanKindServer))
	return r.WithContext(ctx), span
}

// end ends the span of a request, with its status and its route, which has the names of
// parameters and never their values. Status 0 is a connection that was cut.
func (t *Tracing) end(span trace.Span, route *Route, status int) {
	if t == nil {
		return
	}
	if span.IsRecording() {
		span.SetName(route.Method + " " + route.Pattern)
		span.SetAttributes(
			attribute.String("http.request.method", route.Method),
			attribute.String("http.route", route.Pattern),
			attribute.Int("http.response.status_code", status),
		)
		if status == 0 || status >= http.StatusInternalServerError {
			span.SetStatus(codes.Error, http.StatusText(status))
		}
	}
	span.End()
}

// traceResponse is the header of a response that names its span, in the form of
// traceparent (W3C Trace Context HTTP Response Headers Format).
const traceResponse = "Traceresponse"

func traceResponseOf(s trace.SpanContext) string {
	return "00-" + s.TraceID().String() + "-" + s.SpanID().String() + "-" + s.TraceFlags().String()
}

// Transport makes a span of each request that has the context of a span, and sends its
// trace along (traceparent). It does not send tracestate, which may have what only the
// systems in front should know. Without tracing it returns next.
func (t *Tracing) Transport(next http.RoundTripper) http.RoundTripper {
	if t == nil {
		return next
	}
	return tracedTransport{t, next}
}

type tracedTransport struct {
	tracing *Tracing
	next    http.RoundTripper
}

// RoundTrip implements http.RoundTripper.
func (t tracedTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	if !trace.SpanContextFromContext(r.Context()).IsValid() {
		return t.next.RoundTrip(r)
	}
	ctx, span := t.tracing.http.Start(r.Context(), "upstream "+r.Method, trace.WithSpanKind(trace.SpanKindClient))
	defer span.End()
	r = r.Clone(ctx)
	propagation.TraceContext{}.Inject(ctx, propagation.HeaderCarrier(r.Header))
	r.Header.Del("Tracestate")
	answer, err := t.next.RoundTrip(r)
	if err != nil {
		span.SetStatus(codes.Error, "no response")
		return nil, err
	}
	span.SetAttributes(attribute.Int("http.response.status_code", answer.StatusCode))
	return answer, nil
}

// Close sends the remaining spans.
func (t *Tracing) Close(ctx context.Context) error {
	if t == nil {
		return nil
	}
	return t.provider.Shutdown(ctx)
}
