// Command otlp reads the requests to a collector, as the OpenTelemetry Collector does,
// and prints a line for each span: its service, kind, name and attributes.
package main

import (
	"fmt"
	"io"
	"log"
	"os"

	"go.opentelemetry.io/collector/pdata/ptrace/ptraceotlp"
)

func main() {
	body, err := io.ReadAll(os.Stdin)
	if err != nil {
		log.Fatal(err)
	}
	request := ptraceotlp.NewExportRequest()
	if err := request.UnmarshalJSON(body); err != nil {
		log.Fatal(err)
	}
	for _, of := range request.Traces().ResourceSpans().All() {
		service, _ := of.Resource().Attributes().Get("service.name")
		for _, scope := range of.ScopeSpans().All() {
			for _, s := range scope.Spans().All() {
				if s.TraceID().IsEmpty() || s.SpanID().IsEmpty() || s.StartTimestamp() == 0 || s.EndTimestamp() < s.StartTimestamp() {
					log.Fatalf("not a span: %s", s.Name())
				}
				fmt.Println(service.Str(), s.Kind(), s.Status().Code(), s.Name(), s.Attributes().AsRaw())
			}
		}
	}
}
