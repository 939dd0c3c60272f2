package testkit

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"
)

// A Description is the OpenAPI description of a server's API.
type Description struct{ doc *openapi3.T }

// described is the description of the server under test; nil before [Describe].
var described *Description

// Describe reads a description. From then on [http.DefaultTransport] and each client of this
// package fail a request whose answer is not as described. TestMain calls it before it starts
// anything, at most once.
func Describe(text []byte) (*Description, error) {
	doc, err := openapi3.NewLoader().LoadFromData(text)
	if err != nil {
		return nil, fmt.Errorf("read OpenAPI description: %w", err)
	}
	openapi3filter.RegisterBodyDecoder("application/jwk-set+json", openapi3filter.JSONBodyDecoder)
	openapi3filter.RegisterBodyDecoder("application/mintmark-revocations+jwt", openapi3filter.PlainBodyDecoder)
	described = &Description{doc}
	http.DefaultTransport = Verified(http.DefaultTransport)
	return described, nil
}

// Lacks returns an error if an answer has a status, header or member that the description
// lacks. A path or method without an operation is reported by another test.
func (d *Description) Lacks(r *http.Request, a Answer) error {
	item := d.doc.Paths.Value(r.URL.EscapedPath()) // a path in another spelling is another path
	if item == nil || item.GetOperation(r.Method) == nil {
		return nil
	}
	if len(item.Servers) > 0 && a.Status == http.StatusNotFound { // a path of another listener
		return nil
	}
	return openapi3filter.ValidateResponse(r.Context(), &openapi3filter.ResponseValidationInput{
		RequestValidationInput: &openapi3filter.RequestValidationInput{
			Request: r, Route: &routers.Route{Spec: d.doc, Path: r.URL.Path, PathItem: item, Method: r.Method, Operation: item.GetOperation(r.Method)},
		},
		Status: a.Status, Header: a.Header, Body: io.NopCloser(bytes.NewReader([]byte(a.Body))),
		Options: &openapi3filter.Options{
			IncludeResponseStatus: true,
			// The answer to a request without a token has no body (RFC 6750 §3.1).
			ExcludeResponseBody: a.Status == http.StatusUnauthorized && a.Body == "",
		},
	})
}

// Verified returns a transport that fails requests whose answer is not as described. Only the
// answers of the server under test have an X-Request-Id; those of proxies and of resource
// servers pass, and all before [Describe].
func Verified(base http.RoundTripper) http.RoundTripper {
	if described == nil {
		return base
	}
	return verified{base}
}

type verified struct{ base http.RoundTripper }

// CloseIdleConnections lets [http.Client.CloseIdleConnections] reach the transport.
func (v verified) CloseIdleConnections() {
	if c, ok := v.base.(interface{ CloseIdleConnections() }); ok {
		c.CloseIdleConnections()
	}
}

// RoundTrip implements [http.RoundTripper].
func (v verified) RoundTrip(r *http.Request) (*http.Response, error) {
	response, err := v.base.RoundTrip(r)
	if err != nil || response.Header.Get("X-Request-Id") == "" || described.doc.Paths.Value(r.URL.EscapedPath()) == nil {
		return response, err
	}
	body, err := io.ReadAll(response.Body)
	if closed := response.Body.Close(); err != nil || closed != nil {
		return nil, errors.Join(err, closed)
	}
	if err := described.Lacks(r, Answer{response.StatusCode, response.Header, string(body)}); err != nil {
		return nil, fmt.Errorf("the answer %d to %s %s is not as described: %w: %s", response.StatusCode, r.Method, r.URL.Path, err, body)
	}
	response.Body = io.NopCloser(bytes.NewReader(body))
	return response, nil
}
