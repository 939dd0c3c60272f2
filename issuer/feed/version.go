package feed

import (
	"encoding/hex"
	"strconv"
	"strings"

	"github.com/mintmark-auth/mintmark/cluster/command"
)

// A version is a position in the feed. Seqs are reused in another timeline of the cluster,
// so it includes the timeline.
type version struct {
	timeline command.ID
	seq      uint64 // of the last revocation; 0 if there is none
}

func (v version) String() string {
	return hex.EncodeToString(v.timeline[:]) + "-" + strconv.FormatUint(v.seq, 10)
}

// parseVersion parses the result of String.
func parseVersion(s string) (v version, ok bool) {
	timeline, seq, _ := strings.Cut(s, "-")
	if len(timeline) != 2*len(v.timeline) {
		return version{}, false
	}
	if _, err := hex.Decode(v.timeline[:], []byte(timeline)); err != nil {
		return version{}, false
	}
	n, err := strconv.ParseUint(seq, 10, 64)
	if err != nil {
		return version{}, false
	}
	v.seq = n
	return v, v.String() == s
}
