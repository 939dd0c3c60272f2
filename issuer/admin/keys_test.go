package admin_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/issuer/admin"
	"github.com/mintmark-auth/mintmark/issuer/ledger"
)

func TestKeys(t *testing.T) {
	w, c := newWorld(t)
	list := ask(t, c, admin.ListKeys, admin.KeyFilter{}).Keys
	require.NotEmpty(t, list)
	for _, k := range list {
		require.Equal(t, "active", k.State)
		require.Zero(t, k.NextStep, "nothing is under way")
	}

	require.Equal(t, "k9", ask(t, c, admin.RotateKeys, admin.Rotation{Purpose: "signing"}).ID)
	_, err := admin.RotateKeys.Call(context.Background(), c, admin.Rotation{Purpose: "signing"})
	problem := new(admin.Problem)
	require.ErrorAs(t, err, &problem)
	require.Equal(t, ledger.WrongState, problem.Cause, "one at a time")

	for _, k := range ask(t, c, admin.ListKeys, admin.KeyFilter{}).Keys {
		if k.ID == "k9" {
			require.Equal(t, "announced", k.State)
			require.Equal(t, w.Now().Add(2*w.View().Settings().JWKSMaxAge).Std(), k.NextStep)
		}
	}
	_, err = admin.RotateKeys.Call(context.Background(), c, admin.Rotation{Purpose: "lunch"})
	require.ErrorAs(t, err, &problem)
}
