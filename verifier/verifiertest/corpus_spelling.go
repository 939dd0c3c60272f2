package verifiertest

import (
	"encoding/base64"
	"strings"

	"github.com/mintmark-auth/mintmark/verifier"
)

// spelling adds tokens with the right octets that are not their one compact
// serialization.
func (c *corpus) spelling() {
	good := c.good()
	h, p, s := parts(good)
	add := func(name, token, why string) { c.add(name, token, verifier.ReasonMalformed, why) }
	add("empty", "", "no token")
	add("one-part", h, "RFC 7515 §7.1: three parts")
	add("two-parts", h+"."+p, "RFC 7515 §7.1: three parts")
	add("four-parts", good+"."+s, "RFC 7515 §7.1: three parts")
	add("five-parts", h+"..."+p+"."+s, "RFC 7516 §7.1: that is a JWE")
	add("only-dots", "..", "RFC 7515 §7.1")
	add("empty-header", "."+p+"."+s, "RFC 7515 §7.1")
	add("empty-payload", h+".."+s, "RFC 7519 §3: the payload is a claim set")
	add("empty-signature", h+"."+p+".", "RFC 7518 §3.6: an unsecured JWS")
	add("unsigned-alg-none", b64([]byte(text(changed(c.header, members{"alg": "none"}))))+"."+p+".", "RFC 8725 §3.2: an unsecured JWS")
	add("json-serialization", text(members{"protected": h, "payload": p, "signature": s}), "RFC 7519 §3: compact serialization only")
	add("json-general-serialization", text(members{"payload": p, "signatures": []members{{"protected": h, "signature": s}}}), "RFC 7519 §3: compact serialization only")
	add("padding-behind", good+"==", "RFC 7515 §2: no padding")
	add("padding-in-header", h+"=."+p+"."+s, "RFC 7515 §2: no padding")
	add("padding-in-payload", h+"."+p+"=."+s, "RFC 7515 §2: no padding")
	add("space-before", " "+good, "RFC 7515 §2: no white space")
	add("space-behind", good+" ", "RFC 7515 §2: no white space")
	add("tab-behind", good+"\t", "RFC 7515 §2: no white space")
	add("line-break-behind", good+"\n", "RFC 7515 §2: no line breaks, which base64 decoders of many languages skip")
	add("line-break-in-header", h[:4]+"\r\n"+h[4:]+"."+p+"."+s, "RFC 7515 §2: no line breaks")
	add("line-break-in-signature", h+"."+p+"."+s[:20]+"\n"+s[20:], "RFC 7515 §2: no line breaks")
	add("nul-behind", good+"\x00", "not in the base64url alphabet")
	add("comma-behind", good+",", "RFC 6750 §2.1: not in b64token; two headers joined")
	add("percent-encoded", strings.Replace(good, ".", "%2E", 1), "not in the base64url alphabet")
	add("bearer-twice", "Bearer "+good, "not in the base64url alphabet")
	add("standard-alphabet", c.standardAlphabet(), "RFC 7515 §2: base64url, not base64")
	add("loose-last-character", loosened(good), "RFC 4648 §3.5: bits after the last octet are zero; a second spelling would evade caches and deny lists keyed by the token")
	// The issuer itself signed these spellings; readers that decode them get the right
	// octets.
	add("padding-in-header-signed", c.key.sealParts(padded(h), p), "RFC 7515 §2: no padding")
	add("padding-in-payload-signed", c.key.sealParts(h, padded(p)), "RFC 7515 §2: no padding")
	add("line-break-in-payload-signed", c.key.sealParts(h, p[:8]+"\n"+p[8:]), "RFC 7515 §2: no line breaks")
	add("loose-last-character-of-header-signed", c.key.sealParts(loosePart(text(c.header)), p), "RFC 4648 §3.5: bits after the last octet are zero")
	add("loose-last-character-of-payload-signed", c.key.sealParts(h, loosePart(text(c.claims))), "RFC 4648 §3.5: bits after the last octet are zero")
	add("impossible-length", h+"."+p+"."+s+"AAA", "RFC 4648 §4: no octets have a base64 of this length")
	add("longer-than-8-KiB", c.withClaims(members{"pad": strings.Repeat("x", 8<<10)}), "profile: a token is at most 8 KiB")
	add("just-longer-than-8-KiB", c.justTooLong(), "profile: a token is at most 8 KiB")
	add("longer-than-64-KiB", c.withClaims(members{"pad": strings.Repeat("x", 64<<10)}), "longer than HTTP servers allow a header to be")
}

// standardAlphabet returns a good token with + or / in place of - or _. Signatures are
// random, so one with these characters comes soon.
func (c *corpus) standardAlphabet() string {
	for {
		h, p, s := parts(c.good())
		if odd := strings.NewReplacer("-", "+", "_", "/").Replace(s); odd != s {
			return h + "." + p + "." + odd
		}
	}
}

const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"

// padded returns a part with base64 padding, or with one "=" if it needs no padding.
func padded(part string) string { return part + strings.Repeat("=", max(1, (4-len(part)%4)%4)) }

// loosePart returns JSON in base64url, with a nonzero bit after its last octet.
func loosePart(json string) string {
	for len(json)%3 != 1 {
		json += " "
	}
	part := b64([]byte(json))
	last := len(part) - 1
	return part[:last] + string(alphabet[strings.IndexByte(alphabet, part[last])|1])
}

// justTooLong is good, but for one to three characters more than 8 KiB.
func (c *corpus) justTooLong() string {
	claims := changed(c.claims, members{"pad": ""})
	around := len(b64([]byte(text(c.header)))) + len("..") + base64.RawURLEncoding.EncodedLen(64)
	pad := 0
	for around+base64.RawURLEncoding.EncodedLen(len(text(claims))+pad) <= 8<<10 {
		pad++
	}
	claims["pad"] = strings.Repeat("x", pad)
	return c.withClaims(claims)
}

// loosened sets a bit behind the last octet: 64 octets leave four in the last
// character.
func loosened(token string) string {
	last := len(token) - 1
	odd := token[:last] + string(alphabet[strings.IndexByte(alphabet, token[last])|1])
	_, _, s := parts(odd)
	must(base64.RawURLEncoding.DecodeString(s))
	return odd
}
