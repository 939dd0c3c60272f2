// Command echo is a resource server with echo. Run it beside "make run":
//
//	go run ./echo
package main

import "github.com/mintmark-auth/mintmark/middleware/examples/internal/service"

func main() { service.Serve(byPolicy) }
