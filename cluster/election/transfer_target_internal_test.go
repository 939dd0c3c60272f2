package election

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestChooseTransferTarget(t *testing.T) {
	type peers = map[string]Candidate
	fine := func(applied uint64) Candidate { return Candidate{Applied: applied, Healthy: true, CanDecide: true} }
	low := func(applied uint64) Candidate {
		return Candidate{Applied: applied, CanDecide: true}
	}
	off := func(applied uint64, by time.Duration) Candidate {
		return Candidate{Applied: applied, Healthy: true, CanDecide: true, Offset: by}
	}
	for name, row := range map[string]struct {
		peers         peers
		fine, decides string
	}{
		"nobody is known":     {nil, "", ""},
		"the furthest":        {peers{"b": fine(10), "c": fine(11)}, "c", "c"},
		"one in trouble":      {peers{"b": fine(10), "c": low(11)}, "b", "c"},
		"all in trouble":      {peers{"b": low(11), "c": low(10)}, "", "b"},
		"all, and one is out": {peers{"b": low(10), "c": {Applied: 11}}, "", "b"},
		"none can decide":     {peers{"b": {}, "c": {}}, "", ""},
		"in trouble, and of an older version that does not say": {peers{"b": {}}, "", ""},
		"one that was silent":  {peers{"b": fine(10), "c": {Applied: 11, Healthy: true, CanDecide: true, Age: 4 * time.Second}}, "b", "b"},
		"one of another clock": {peers{"b": fine(10), "c": off(11, time.Hour)}, "b", "b"},
		"this node's clock is the wrong one": {
			peers{"b": off(10, -time.Hour), "c": off(11, -time.Hour+time.Second)}, "c", "c",
		},
		"no two clocks agree":       {peers{"b": off(10, time.Hour), "c": off(10, -time.Hour)}, "", ""},
		"one that is no voter":      {peers{"b": fine(10), "x": fine(11)}, "b", "b"},
		"what it says of itself":    {peers{"a": fine(12), "b": fine(10)}, "b", "b"},
		"a clock that nobody knows": {peers{"c": off(10, time.Hour)}, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			voters := []string{"a", "b", "c"}
			require.Equal(t, row.fine, chooseTarget("a", voters, row.peers, isHealthy))
			require.Equal(t, row.decides, chooseTarget("a", voters, row.peers, canDecide), "instead of a leader that can't decide")
		})
	}
}
