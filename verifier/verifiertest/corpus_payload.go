package verifiertest

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/mintmark-auth/mintmark/verifier"
)

// payloads adds claim sets on which two JSON readers may differ, signed by the issuer.
func (c *corpus) payloads() {
	add := func(name, token, why string) { c.add("payload-"+name, token, verifier.ReasonClaims, why) }
	good := text(c.claims)
	add("claim-twice", c.withFirst(`"sub":"admin"`), "RFC 8725 §2.6: readers may use the first or the last")
	add("claim-twice-escaped", c.withFirst(`"s\u0075b":"admin"`), "RFC 7519 §4: names are unique, however spelled")
	add("claim-twice-in-two-cases", c.withFirst(`"Sub":"admin"`), "RFC 7519 §4: readers that ignore letter case confuse the two")
	add("claim-twice-with-long-s", c.withFirst(`"ſub":"admin"`), "Unicode folds U+017F to s, as some readers do")
	add("exp-twice", c.withFirst(`"exp":4102444800`), "RFC 7519 §4: names are unique")
	add("unknown-claim-twice", c.withFirst(`"x":1,"x":2`), "RFC 7519 §4: names are unique")
	add("member-twice-inside", c.withFirst(`"x":{"a":1,"a":2}`), "RFC 8725 §2.6")
	add("claim-in-other-case", c.withClaims(members{"legacy": nil, "LEGACY": true}), "RFC 7519 §4: names are case-sensitive; a reader that ignores letter case sees a token that allows everything")
	add("two-values", c.withPayload(good+"{}"), "RFC 7519 §3: one object")
	add("garbage-behind", c.withPayload(good+"x"), "RFC 7519 §3: one object")
	add("nul-behind", c.withPayload(good+"\x00"), "RFC 8259 §2")
	add("an-array", c.withPayload("["+good+"]"), "RFC 7519 §3: one object")
	add("a-string", c.withPayload(string(must(json.Marshal(good)))), "RFC 7519 §3: one object")
	add("null", c.withPayload("null"), "RFC 7519 §3: one object")
	add("empty-object", c.withPayload("{}"), "RFC 9068 §2.2")
	add("white-space", c.withPayload(" "), "RFC 7519 §3: one object")
	add("not-json", c.withPayload("sub=user-1"), "RFC 7519 §3: one object")
	add("cut-short", c.withPayload(good[:len(good)-1]), "RFC 8259 §4")
	add("trailing-comma", c.withPayload(good[:len(good)-1]+",}"), "RFC 8259 §4")
	add("comment", c.withFirst(`/**/"x":1`), "RFC 8259 §2")
	add("unquoted-name", c.withFirst(`x:1`), "RFC 8259 §4")
	add("single-quotes", c.withFirst(`'x':1`), "RFC 8259 §7")
	add("number-as-name", c.withFirst(`1:1`), "RFC 8259 §4")
	add("byte-order-mark", c.withPayload("\ufeff"+good), "RFC 8259 §8.1")
	add("invalid-utf-8", c.withFirst("\"x\":\"\xff\""), "RFC 8259 §8.1")
	add("overlong-utf-8", c.withFirst("\"x\":\"\xc0\xaf\""), "RFC 3629 §3")
	add("utf-16", c.withPayload(utf16le(good)), "RFC 7519 §7.1: UTF-8")
	add("half-a-surrogate-pair", c.withFirst(`"x":"\ud800"`), "RFC 8259 §8.2: readers disagree about it")
	add("surrogates-in-wrong-order", c.withFirst(`"x":"\ude00\ud83d"`), "RFC 8259 §8.2")
	add("control-character", c.withFirst("\"x\":\"\x01\""), "RFC 8259 §7")
	add("line-break-in-string", c.withFirst("\"x\":\"a\nb\""), "RFC 8259 §7")
	add("unknown-escape", c.withFirst(`"x":"\x41"`), "RFC 8259 §7")
	add("huge-number", c.withFirst(`"x":1e400`), "RFC 8259 §6: readers disagree about its value")
	add("leading-zero", c.withFirst(`"x":01`), "RFC 8259 §6")
	add("too-deep", c.withFirst(`"x":`+strings.Repeat("[", 1000)+strings.Repeat("]", 1000)), "profile: depth is bounded; recursive readers run out of stack")
	add("nine-deep", c.withFirst(`"x":`+strings.Repeat("[", 8)+strings.Repeat("]", 8)), "profile: eight levels at most")
	add("too-many-members", c.withPayload(manyMembers(good)), "profile: the number of members is bounded, since the search for duplicates is quadratic")
	add("in-base64-twice", c.withPayload(b64([]byte(good))), "RFC 7519 §3: one object")
	add("a-jwt-inside", c.withPayload(c.good()), "RFC 7519 §5.2: nested, without cty")
}

func manyMembers(good string) string {
	var b strings.Builder
	b.WriteString("{")
	for n := range 200 {
		fmt.Fprintf(&b, `"m%d":0,`, n)
	}
	return b.String() + good[1:]
}

func utf16le(text string) string {
	var b strings.Builder
	for _, r := range []byte(text) {
		b.WriteByte(r)
		b.WriteByte(0)
	}
	return b.String()
}

func marshal(v any) ([]byte, error) { return json.Marshal(v) }

func decode(part string) ([]byte, error) { return base64.RawURLEncoding.DecodeString(part) }
