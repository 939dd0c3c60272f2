// Command httprouter is a resource server with julienschmidt/httprouter. Run it beside
// "make run":
//
//	go run ./httprouter
package main

import "github.com/mintmark-auth/mintmark/middleware/examples/internal/service"

func main() { service.Serve(byPolicy) }
