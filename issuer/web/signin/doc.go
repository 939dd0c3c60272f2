// Package signin serves the pages that applications send users to: signing in, by password or at
// a provider, signing out, and the authorization step with its consent page and its errors.
//
// Its pages have neither navigation nor script: whoever reaches them may have come from anywhere.
package signin
