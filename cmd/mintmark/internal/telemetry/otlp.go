package telemetry

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
)

// A spanExporter sends spans as OTLP over HTTP in JSON, which every collector accepts.
// OpenTelemetry's own exporter links gRPC and would add 7 MB to the program. Spans that
// the collector does not accept are lost.
type spanExporter struct {
	url    string
	client *http.Client
	log    *slog.Logger
	failed atomic.Bool // limits the log to the first failure and the recovery
}

func newSpanExporter(endpoint string, log *slog.Logger) *spanExporter {
	return &spanExporter{
		url: strings.TrimSuffix(endpoint, "/") + "/v1/traces", log: log,
		client: &http.Client{
			Timeout: 10 * time.Second,
			// A redirect would send the spans to another host than the configured one.
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
	}
}

// ExportSpans implements sdktrace.SpanExporter. It returns no error, because the SDK
// would print each one.
func (e *spanExporter) ExportSpans(ctx context.Context, spans []sdktrace.ReadOnlySpan) error {
	err := e.send(ctx, spans)
	switch failed := err != nil; {
	case failed && !e.failed.Swap(true):
		e.log.Warn("traces not sent, dropping them until the collector accepts them", "error", err)
	case !failed && e.failed.Swap(false):
		e.log.Info("traces sent again")
	}
	return nil
}

func (e *spanExporter) send(ctx context.Context, spans []sdktrace.ReadOnlySpan) error {
	body, err := json.Marshal(otlpOf(spans))
	if err != nil {
		return fmt.Errorf("encode spans: %w", err)
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, e.url, bytes.NewReader(body))
	if err != nil {
		return fmt.Errorf("send spans: %w", err)
	}
	request.Header.Set("Content-Type", "application/json")
	response, err := e.client.Do(request)
	if err != nil {
		return fmt.Errorf("send spans: %w", err)
	}
	defer response.Body.Close()
	_, _ = io.CopyN(io.Discard, response.Body, 64<<10) // so that the connection can be reused
	if response.StatusCode/100 != 2 {
		return fmt.Errorf("send spans: the collector answered %d", response.StatusCode)
	}
	return nil
}

// Shutdown implements sdktrace.SpanExporter.
func (e *spanExporter) Shutdown(context.Context) error {
	e.client.CloseIdleConnections()
	return nil
}

// The types below are ExportTraceServiceRequest of OTLP 1.x in its JSON
// encoding, as far as it is used: ids in hexadecimal, 64-bit numbers as strings.
type (
	otlpRequest struct {
		ResourceSpans []otlpResourceSpans `json:"resourceSpans"`
	}
	otlpResourceSpans struct {
		Resource struct {
			Attributes []otlpAttribute `json:"attributes,omitempty"`
		} `json:"resource"`
		ScopeSpans []otlpScopeSpans `json:"scopeSpans"`
	}
	otlpScopeSpans struct {
		Scope struct {
			Name string `json:"name"`
		} `json:"scope"`
		Spans []otlpSpan `json:"spans"`
	}
	otlpSpan struct {
		TraceID    string          `json:"traceId"`
		SpanID     string          `json:"spanId"`
		ParentID   string          `json:"parentSpanId,omitempty"`
		Name       string          `json:"name"`
		Kind       trace.SpanKind  `json:"kind"` // the numbers are the same
		Start      int64           `json:"startTimeUnixNano,string"`
		End        int64           `json:"endTimeUnixNano,string"`
		Attributes []otlpAttribute `json:"attributes,omitempty"`
		Status     otlpStatus      `json:"status"`
	}
	otlpStatus struct {
		Code    int    `json:"code,omitempty"`
		Message string `json:"message,omitempty"`
	}
	otlpAttribute struct {
		Key   string    `json:"key"`
		Value otlpValue `json:"value"`
	}
	otlpValue struct {
		Text   *string `json:"stringValue,omitempty"`
		Number *string `json:"intValue,omitempty"`
	}
)

const otlpError = 2 // STATUS_CODE_ERROR

// otlpOf groups spans by instrumentation scope. All have the resource of this process.
func otlpOf(spans []sdktrace.ReadOnlySpan) otlpRequest {
	var of otlpResourceSpans
	byScope := map[string]int{}
	for i, s := range spans {
		if i == 0 {
			of.Resource.Attributes = otlpAttributes(s.Resource().Attributes())
		}
		name := s.InstrumentationScope().Name
		at, known := byScope[name]
		if !known {
			at = len(of.ScopeSpans)
			byScope[name] = at
			of.ScopeSpans = append(of.ScopeSpans, otlpScopeSpans{})
			of.ScopeSpans[at].Scope.Name = name
		}
		of.ScopeSpans[at].Spans = append(of.ScopeSpans[at].Spans, otlpSpanOf(s))
	}
	return otlpRequest{[]otlpResourceSpans{of}}
}

func otlpSpanOf(s sdktrace.ReadOnlySpan) otlpSpan {
	span := otlpSpan{
		TraceID: s.SpanContext().TraceID().String(), SpanID: s.SpanContext().SpanID().String(),
		Name: s.Name(), Kind: s.SpanKind(),
		Start: s.StartTime().UnixNano(), End: s.EndTime().UnixNano(),
		Attributes: otlpAttributes(s.Attributes()),
	}
	if s.Parent().HasSpanID() {
		span.ParentID = s.Parent().SpanID().String()
	}
	if s.Status().Code == codes.Error {
		span.Status = otlpStatus{otlpError, s.Status().Description}
	}
	return span
}

func otlpAttributes(list []attribute.KeyValue) []otlpAttribute {
	attributes := make([]otlpAttribute, len(list))
	for i, a := range list {
		attributes[i].Key = string(a.Key)
		text := a.Value.String()
		if a.Value.Type() == attribute.INT64 {
			attributes[i].Value.Number = &text
			continue
		}
		attributes[i].Value.Text = &text
	}
	return attributes
}
