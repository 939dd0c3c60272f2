// Package examples has one small resource server for each of several routers,
// to be copied from: nethttp, chi, httprouter, gin, echo and grpc. Each is a
// program, which takes the tokens of "make run":
//
//	go run ./chi
//
// Each is guarded twice, route by route and by a policy, which asks whether the
// user belongs to the team in the path; and each is held to the same answers.
// What is the same for all routers, that policy with it, is internal/service.
//
// It owns nothing that a resource server needs to import. It is a module of its
// own, so that the routers are dependencies of the examples only.
package examples
