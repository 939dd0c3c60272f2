package member

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"strings"
)

// A flipped bit can turn keys and addresses of the peer list into other valid ones: the
// node would then reject its own key, or the cluster's. So the file has the SHA-256 of
// its content, computed with zeroPeerListSum in its place.
var zeroPeerListSum = strings.Repeat("0", hex.EncodedLen(sha256.Size))

// encodePeerList returns the text of the file.
func encodePeerList(l PeerListData) ([]byte, error) {
	l.Sum = zeroPeerListSum
	text, err := json.MarshalIndent(l, "", "  ")
	if err != nil {
		return nil, err
	}
	text = append(text, '\n')
	return bytes.Replace(text, []byte(zeroPeerListSum), []byte(peerListSum(text)), 1), nil
}

// peerListIntact reports whether the sum in a file is right. It checks the text, since a
// later version may have more fields.
func peerListIntact(text []byte, sum string) bool {
	return sum != "" && sum == peerListSum(bytes.Replace(text, []byte(sum), []byte(zeroPeerListSum), 1))
}

func peerListSum(text []byte) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}
