package cluster

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
var noListSum = strings.Repeat("0", hex.EncodedLen(sha256.Size))

// sealList is the text of the file.
func sealList(l rosterList) ([]byte, error) {
	l.Sum = noListSum
	text, err := json.MarshalIndent(l, "", "  ")
	if err != nil {
		return nil, err
	}
	text = append(text, '\n')
	return bytes.Replace(text, []byte(noListSum), []byte(listSum(text)), 1), nil
}

// wholeList reports whether a file is as it was written, by the sum in it. It goes
// by the text: a later version may have more to say.
func wholeList(text []byte, sum string) bool {
	return sum != "" && sum == listSum(bytes.Replace(text, []byte(sum), []byte(noListSum), 1))
}

func listSum(text []byte) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}
