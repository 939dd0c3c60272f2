package member_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/cluster/member"
)

// TestPeerListRemembersHowManyVoted: the largest number of members that have run is kept
// when members are lost and over a restart. A node that has not run yet, and one that
// replaces another, do not count.
func TestPeerListRemembersHowManyVoted(t *testing.T) {
	dir := t.TempDir()
	ran := func(names ...string) (all []member.Member) {
		for _, n := range names {
			all = append(all, member.Member{ID: n, Name: n, Issuer: "authority"})
		}
		return all
	}
	list := member.NewPeerList(dir)
	for _, step := range []struct {
		what    string
		members []member.Member
		most    int
	}{
		{"alone", ran("n1"), 1},
		{"another joins", append(ran("n1"), member.Member{ID: "n2", Name: "n2"}), 1},
		{"three have run", ran("n1", "n2", "n3"), 3},
		{"one is replaced", append(ran("n1", "n2", "n3"), member.Member{ID: "n4", Name: "n4", Issuer: "authority", Replaces: "n3"}), 3},
		{"and gone", ran("n1", "n2", "n4"), 3},
		{"two are lost", ran("n1"), 3},
	} {
		require.NoError(t, list.Replace(member.PeerListData{Seq: 1, Members: step.members}), step.what)
		require.Equal(t, step.most, list.Get().MostMembers, step.what)
		read, err := member.OpenPeerList(dir)
		require.NoError(t, err)
		require.Equal(t, step.most, read.Get().MostMembers, step.what)
		list = read
	}
}
