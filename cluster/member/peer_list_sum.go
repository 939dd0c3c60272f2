package member

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"strings"
)

// The list of peers has keys and addresses in it that a changed bit makes others,
// and leaves well formed: the node would blame its own key, or the cluster's. So
// the file has the SHA-256 of itself, with this in the place of it.
var zeroPeerListSum = strings.Repeat("0", hex.EncodedLen(sha256.Size))

// encodePeerList is the text of the file.
func encodePeerList(l PeerListData) ([]byte, error) {
	l.Sum = zeroPeerListSum
	text, err := json.MarshalIndent(l, "", "  ")
	if err != nil {
		return nil, err
	}
	text = append(text, '\n')
	return bytes.Replace(text, []byte(zeroPeerListSum), []byte(peerListSum(text)), 1), nil
}

// peerListIntact reports whether a file is as it was written, by the sum in it. It goes
// by the text: a later version may have more to say.
func peerListIntact(text []byte, sum string) bool {
	return sum != "" && sum == peerListSum(bytes.Replace(text, []byte(sum), []byte(zeroPeerListSum), 1))
}

func peerListSum(text []byte) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}
