// Command nethttp is a resource server with the router of net/http. Run it beside "make
// run":
//
//	go run ./nethttp
package main

import "github.com/mintmark-auth/mintmark/middleware/examples/internal/service"

func main() { service.Serve(byPolicy) }
