package oauth

import "strings"

// MatchesETag reports whether the values of If-None-Match have the ETag of a document. A proxy
// may have weakened it, so the comparison is the weak one (RFC 9110 §13.1.2).
func MatchesETag(ifNoneMatch []string, etag string) bool {
	for _, line := range ifNoneMatch {
		for tag := range strings.SplitSeq(line, ",") {
			if tag = strings.TrimPrefix(strings.TrimSpace(tag), "W/"); tag == etag || tag == "*" {
				return true
			}
		}
	}
	return false
}
