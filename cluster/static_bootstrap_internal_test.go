package cluster

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/cluster/member"
	"github.com/mintmark-auth/mintmark/cluster/store"
)

// TestDecideBootstrap covers each combination of answers that matters.
func TestDecideBootstrap(t *testing.T) {
	t.Parallel()
	members := []member.Member{{ID: "a"}, {ID: "b"}, {ID: "c"}}
	ids := func(of ...string) map[string][]byte {
		byID := make(map[string][]byte)
		for i, id := range of {
			byID[members[i].ID] = []byte(id)
		}
		return byID
	}
	waits := func(of, id string) bootstrapAnswer {
		return bootstrapAnswer{InstanceIDs: map[string][]byte{of: []byte(id)}}
	}
	begun := func(of ...string) bootstrapAnswer { return bootstrapAnswer{Started: true, InstanceIDs: ids(of...)} }
	for name, row := range map[string]struct {
		answers map[string]bootstrapAnswer
		want    map[string][]byte
		lost    bool
	}{
		"nobody answers":                   {},
		"one is missing":                   {answers: map[string]bootstrapAnswer{"b": waits("b", "2")}},
		"all wait":                         {answers: map[string]bootstrapAnswer{"b": waits("b", "2"), "c": waits("c", "3")}, want: ids("1", "2", "3")},
		"no instance id":                   {answers: map[string]bootstrapAnswer{"b": waits("b", "2"), "c": waits("c", "")}},
		"one knows it":                     {answers: map[string]bootstrapAnswer{"b": begun("1", "2", "3")}, want: ids("1", "2", "3")},
		"instance ids of those that began": {answers: map[string]bootstrapAnswer{"b": begun("1", "2", "old"), "c": waits("c", "3")}, want: ids("1", "2", "old")},
		"one knows another":                {answers: map[string]bootstrapAnswer{"b": begun("0", "2", "3")}, lost: true},
		"one knows none":                   {answers: map[string]bootstrapAnswer{"b": begun("", "", "")}, lost: true},
		"one waits, one began":             {answers: map[string]bootstrapAnswer{"b": waits("b", "2"), "c": begun("0", "2", "3")}, lost: true},
		"they do not agree":                {answers: map[string]bootstrapAnswer{"b": begun("1", "2", "3"), "c": begun("0", "2", "3")}, lost: true},
		"who is no member":                 {answers: map[string]bootstrapAnswer{"b": waits("b", "2"), "x": waits("x", "3")}},
		"what it says of itself":           {answers: map[string]bootstrapAnswer{"a": waits("a", "0"), "b": waits("b", "2")}},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := decideBootstrap("a", []byte("1"), members, row.answers)
			if row.lost {
				require.ErrorIs(t, err, store.ErrDataLost)
				return
			}
			require.NoError(t, err)
			require.Equal(t, row.want, got)
		})
	}
}
