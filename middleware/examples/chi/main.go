// Command chi is a resource server with go-chi. It owns the example's
// routes, and not what they are guarded by. Run it beside "make run":
//
//	go run ./chi
package main

import "github.com/mintmark-auth/mintmark/middleware/examples/internal/service"

func main() { service.Serve(byPolicy) }
