// Package clientdoc fetches Client ID Metadata Documents
// (draft-ietf-oauth-client-id-metadata-document): a client whose client_id is an https URL
// publishes its metadata there.
//
// It owns which addresses may be connected to, the limits of a fetch, and which documents are
// valid. Package oauth has the rules for their URLs. A URL comes from anybody who can sign
// in, and a document from anybody: neither may make this service reach into a network of its
// operator, use much memory, or wait for long.
//
// It also parses registrations (RFC 7591), whose members are the same.
//
// It knows no client and no publisher. The caller decides whether a URL may be fetched at
// all, and what a document means.
package clientdoc
