package chaos

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Two parts of S9, judged by what all nodes published over time.

// publishDelay is the time after the publication of a key in which the node's key set was
// certainly fetched, if the node answered. A node that was not seen with a key this long
// after its first use lacked it.
const publishDelay = time.Second

// keysWereKnown: before the first use of a key, every node had published it.
func (j *keyLog) keysWereKnown(ops []op) (bad []string) {
	first := map[string]op{}
	for _, o := range ops {
		if f, seen := first[o.Key]; o.Key != "" && (!seen || o.End < f.End) {
			first[o.Key] = o
		}
	}
	for key, o := range first {
		for _, node := range j.lacked(key, o) {
			bad = append(bad, fmt.Sprintf("S9: %s did not publish key %s when it was first used: %s", node, key, o))
		}
	}
	return bad
}

// lacked returns the nodes whose JWKS had no key when it was used by an op.
func (j *keyLog) lacked(key string, o op) (nodes []string) {
	j.mu.Lock()
	defer j.mu.Unlock()
	for name, list := range j.published {
		last, soon := -1, false
		for i, e := range list {
			if e.first < o.Start {
				last = i
			}
			soon = soon || e.keys[key] && e.first < o.End+publishDelay
		}
		if last >= 0 && !list[last].keys[key] && !soon && !j.removed[name] {
			nodes = append(nodes, name)
		}
	}
	return nodes
}

// keysStayed: as long as a token is valid, every node publishes its key.
func (j *keyLog) keysStayed(ops []op) (bad []string) {
	j.mu.Lock()
	defer j.mu.Unlock()
	told := map[string]bool{}
	for _, o := range ops {
		if o.Key == "" || o.Class != ok {
			continue
		}
		for name, list := range j.published {
			for _, e := range list {
				if e.keys[o.Key] || e.last <= o.End {
					continue
				}
				seen := e.until // at some time after the token was issued, at the latest then
				if e.first > o.End {
					seen = e.at
				}
				if what := name + o.Key; seen < o.Expires && !told[what] {
					told[what] = true
					bad = append(bad, fmt.Sprintf("S9: %s does not publish key %s, %d s before the end of a token: %s", name, o.Key, o.Expires-seen, o))
				}
			}
		}
	}
	return bad
}

// nodeRemoved records that a node is no longer a member.
func (j *keyLog) nodeRemoved(node string) {
	j.mu.Lock()
	j.removed[node] = true
	j.mu.Unlock()
}

// maxKeys returns the number of keys in the longest current JWKS of a member.
func (j *keyLog) maxKeys() (most int) {
	j.mu.Lock()
	defer j.mu.Unlock()
	for name, list := range j.published {
		if !j.removed[name] {
			most = max(most, len(list[len(list)-1].keys))
		}
	}
	return most
}

func seenWith(first, last time.Duration, keys ...string) keySetVersion {
	e := keySetVersion{first: first, last: last, at: int64(first.Seconds()), until: int64(last.Seconds()), keys: map[string]bool{}}
	for _, k := range keys {
		e.keys[k] = true
	}
	return e
}

func usedKey(key string, at time.Duration) op {
	return op{Kind: refresh, Class: ok, Key: key, Start: at, End: at + time.Millisecond, Expires: int64(at.Seconds()) + 30}
}

// TestKeysWereKnown: the judge finds that one node lacks a key when another uses it.
func TestKeysWereKnown(t *testing.T) {
	j := &keyLog{published: map[string][]keySetVersion{
		"n1": {seenWith(1*time.Second, 5*time.Second, "old"), seenWith(5*time.Second, 20*time.Second, "old", "new")},
		"n2": {seenWith(1*time.Second, 9*time.Second, "old"), seenWith(9*time.Second, 20*time.Second, "old", "new")},
		"n3": {seenWith(1*time.Second, 3*time.Second, "old")},
	}, removed: map[string]bool{"n3": true}}
	require.Empty(t, j.keysWereKnown([]op{usedKey("old", 2*time.Second), usedKey("new", 10*time.Second)}))
	require.Empty(t, j.keysWereKnown([]op{usedKey("new", 8900*time.Millisecond)}), "no fetch in between")
	require.Len(t, j.keysWereKnown([]op{usedKey("new", 6*time.Second)}), 1)
	require.Len(t, j.keysWereKnown([]op{usedKey("unknown", 10*time.Second)}), 2)
}

// TestKeysStayed: the judge finds that one node drops a key too soon.
func TestKeysStayed(t *testing.T) {
	j := &keyLog{published: map[string][]keySetVersion{
		"n1": {seenWith(1*time.Second, 60*time.Second, "old", "new"), seenWith(60*time.Second, 99*time.Second, "new")},
		"n2": {seenWith(1*time.Second, 40*time.Second, "old", "new"), seenWith(40*time.Second, 99*time.Second, "new")},
	}}
	require.Empty(t, j.keysStayed([]op{usedKey("old", 5*time.Second), usedKey("new", 50*time.Second)}))
	require.Len(t, j.keysStayed([]op{usedKey("old", 5*time.Second), usedKey("old", 20*time.Second)}), 1)
	require.Len(t, j.keysStayed([]op{usedKey("old", 35*time.Second)}), 2)
}
