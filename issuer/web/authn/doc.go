// Package authn verifies who somebody is: by a password, by a sign-in at a provider that the
// pages of signin have made, and again for an action that needs a recent proof.
//
// It limits guessing (limiter.go), bounds how many hashes are computed (hash_queue.go), and
// remembers in browsers who has signed in there (device.go), so that guesses by others lock
// nobody out. It shows no pages and creates no sessions.
package authn
