// Command gin is a resource server with gin. Run it beside "make run":
//
//	go run ./gin
package main

import "github.com/mintmark-auth/mintmark/middleware/examples/internal/service"

func main() { service.Serve(byPolicy) }
