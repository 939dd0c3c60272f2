// Package examples has one small resource server for each of several routers, to be
// copied: nethttp, chi, httprouter, gin, echo and grpc, and an MCP server for AI
// assistants: mcp. Each is a program that accepts the tokens of "make run":
//
//	go run ./chi
//
// Those with a router are guarded in two ways, route by route and by a policy that checks
// whether the user belongs to the team in the path; the same tests run on each. Code that
// doesn't depend on the router, such as that policy, is in internal/service.
//
// Resource servers import nothing from here. It is a separate module, so that the routers
// are dependencies of the examples only.
package examples
