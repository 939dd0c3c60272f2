// Package examples has one small resource server for each of several routers,
// to be copied from: nethttp, chi, httprouter, gin, echo and grpc. Each is
// guarded twice, route by route and by a policy, and each is held to the same
// answers.
//
// It owns nothing that a resource server needs to import. It is a module of its
// own, so that the routers are dependencies of the examples only.
package examples
