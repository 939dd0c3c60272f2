// Command chi is a resource server with go-chi. Run it beside "make run":
//
//	go run ./chi
package main

import "github.com/mintmark-auth/mintmark/middleware/examples/internal/service"

func main() { service.Serve(byPolicy) }
