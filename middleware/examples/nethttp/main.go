// Command nethttp is a resource server with the router of net/http. It owns the example's
// routes, and not what they are guarded by. Run it beside "make run":
//
//	go run ./nethttp
package main

import "github.com/mintmark-auth/mintmark/middleware/examples/internal/service"

func main() { service.Serve(byPolicy) }
