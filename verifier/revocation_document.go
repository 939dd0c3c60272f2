package verifier

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// revocationsType is the typ of the feed's document. It differs from that of a token, so
// neither is accepted as the other (RFC 8725 §3.11).
const revocationsType = "mintmark-revocations+jwt"

// revocationDocument is the payload of the feed.
type revocationDocument struct {
	issuer         string
	fresh          int64 // iat: the document has every revocation up to then
	version, after string
	since          int64 // complete_since
	window         int64 // seconds
	revoked        []revocation
}

// revocation revokes the tokens with these claims and an iat of until or before.
type revocation struct {
	grant, subject, client string
	until                  int64
	lifted                 bool
}

// readRevocations verifies a document as strictly as a token.
func readRevocations(text string, keyOf func(kid string) (Key, error)) (*revocationDocument, error) {
	jws, err := splitParts(text)
	if err != nil {
		return nil, err
	}
	h, err := readHeader(jws.header)
	if err != nil {
		return nil, err
	}
	if h.typ != revocationsType {
		return nil, errors.New("typ is not " + revocationsType)
	}
	key, err := keyOf(h.kid)
	if err != nil {
		return nil, err
	}
	if h.alg != key.Algorithm() || !key.verify(jws.signed, jws.signature) {
		return nil, errors.New("signature is not the issuer's")
	}
	d, err := parseRevocations(jws.payload)
	if err != nil {
		return nil, fmt.Errorf("claims: %w", err)
	}
	return d, nil
}

func parseRevocations(text string) (*revocationDocument, error) {
	d := &revocationDocument{}
	s := scanner{in: text}
	err := s.object(func(name string) (err error) {
		switch name {
		case "iss":
			d.issuer, err = s.text()
		case "iat":
			d.fresh, err = s.seconds()
		case "version":
			d.version, err = s.text()
		case "after":
			d.after, err = s.text()
		case "complete_since":
			d.since, err = s.seconds()
		case "window":
			d.window, err = s.seconds()
		case "revoked":
			return s.array(func() error {
				r, err := s.revocation()
				d.revoked = append(d.revoked, r)
				return err
			})
		default:
			err = s.value()
		}
		return err
	})
	if err == nil {
		err = s.end()
	}
	if err != nil {
		return nil, err
	}
	if _, _, ok := splitVersion(d.version); !ok || d.fresh == 0 || d.window <= 0 || d.window > maxWindow {
		return nil, errors.New("a claim is missing or out of bounds")
	}
	return d, nil
}

// maxWindow is longer than the tokens of any issuer should be valid, in seconds.
const maxWindow = 24 * 60 * 60

// revocation reads one entry of the list. An unknown member would narrow it, and is
// ignored: that revokes too much rather than too little.
func (s *scanner) revocation() (r revocation, err error) {
	err = s.object(func(name string) (err error) {
		switch name {
		case "grant_id":
			r.grant, err = s.text()
		case "sub":
			r.subject, err = s.text()
		case "client_id":
			r.client, err = s.text()
		case "at":
			r.until, err = s.seconds()
		case "lifted":
			r.lifted, err = s.boolean()
		default:
			err = s.value()
		}
		return err
	})
	return r, err
}

// splitVersion splits a version into the timeline of the issuer and a number that grows
// within it.
func splitVersion(version string) (timeline string, number uint64, ok bool) {
	i := strings.LastIndexByte(version, '-')
	if i < 1 {
		return "", 0, false
	}
	number, err := strconv.ParseUint(version[i+1:], 10, 64)
	return version[:i], number, err == nil
}
