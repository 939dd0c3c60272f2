package admin_test

import (
	"context"
	"errors"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/issuer/admin"
	"github.com/mintmark-auth/mintmark/issuer/admin/admintest"
)

var notYet = admin.ErrNoCluster.Error()

func TestNodeOfNoCluster(t *testing.T) {
	never := func(context.Context, admin.NewCluster) error { panic("unexpected call") }
	dir, _ := admintest.Open(t, admin.NewSetupHandler(admin.Setup{Name: "n1", Create: never}))
	c := caller(t, dir)
	golden(t, "status_setup.json", raw(t, c, "cluster.status", `{}`))
	all := append(every(t, c),
		refused(t, c, admin.ListClients, admin.ClientFilter{}),
		refused(t, c, admin.ChecksumNode, admin.ChecksumQuery{}),
		refused(t, c, admin.Operation[struct{}, struct{}]("cluster.backup.save"), struct{}{}),
	)
	for _, p := range all {
		require.Equal(t, admin.Unavailable, p.Class)
		require.Equal(t, notYet, p.Text)
	}
	p := refused(t, c, admin.Operation[struct{}, struct{}]("cluster.explode"), struct{}{})
	require.Equal(t, admin.BadRequest, p.Class)
}

func TestNodeThatIsToJoin(t *testing.T) {
	dir, _ := admintest.Open(t, admin.NewSetupHandler(admin.Setup{Name: "n2", WaitReason: func() string { return "10.0.0.1:8300 does not answer" }}))
	c := caller(t, dir)
	s := ask(t, c, admin.ShowCluster, admin.StatusQuery{})
	require.False(t, s.Healthy)
	require.Equal(t, []string{"this node joins a cluster, and is no member yet: 10.0.0.1:8300 does not answer"}, s.Problems)
	require.Contains(t, refused(t, c, admin.ListClients, admin.ClientFilter{}).Text, "joins a cluster")
	require.Equal(t, admin.Refused, refused(t, c, admin.InitCluster, admin.NewCluster{PublicURL: "https://id.example"}).Class)
	var p *admin.Problem
	require.ErrorAs(t, restoreError(t, c, "backup", admin.RestoreOptions{}), &p)
	require.Equal(t, admin.Refused, p.Class)
}

// TestFromSetupToService verifies that the same socket is used before and after the node
// has a cluster, and that cluster.init returns once the node serves.
func TestFromSetupToService(t *testing.T) {
	w := admintest.New(t)
	w.Cluster = admintest.NewCluster()
	var s *admin.Server
	var got admin.NewCluster
	dir, s := admintest.Open(t, admin.NewSetupHandler(admin.Setup{Name: "n1", Create: func(_ context.Context, c admin.NewCluster) error {
		got = c
		s.Handle(admin.NewHandler(w.Config()))
		return nil
	}}))
	c := caller(t, dir)
	require.Equal(t, notYet, refused(t, c, admin.ListUsers, admin.UserFilter{}).Text)

	founded := ask(t, c, admin.InitCluster, admin.NewCluster{PublicURL: "https://id.example"})
	require.Equal(t, admin.CreatedCluster{PublicURL: "https://id.example", AppURL: "https://id.example"}, founded)
	require.Equal(t, admin.NewCluster{PublicURL: "https://id.example", AppURL: "https://id.example"}, got)

	ask(t, c, admin.ListUsers, admin.UserFilter{})
	require.True(t, ask(t, c, admin.ShowCluster, admin.StatusQuery{}).Healthy)
	again := refused(t, c, admin.InitCluster, admin.NewCluster{PublicURL: "https://id.example"})
	require.Equal(t, admin.Refused, again.Class)
}

// TestOneCreatesTheCluster verifies that a cluster is created once, however many clients
// request it concurrently, that a failed creation can be repeated, and that the client
// may disconnect meanwhile.
func TestOneCreatesTheCluster(t *testing.T) {
	entered, leave := make(chan context.Context), make(chan error)
	dir, _ := admintest.Open(t, admin.NewSetupHandler(admin.Setup{Name: "n1", Create: func(ctx context.Context, _ admin.NewCluster) error {
		entered <- ctx
		return <-leave
	}}))
	c := caller(t, dir)
	q := admin.NewCluster{PublicURL: "https://id.example", AppURL: "http://localhost:8080"}
	begin := func(ctx context.Context) (inside context.Context, result chan error) {
		result = make(chan error, 1)
		go func() {
			_, err := admin.InitCluster.Call(ctx, c, q)
			result <- err
		}()
		return <-entered, result
	}

	_, result := begin(t.Context())
	p := refused(t, c, admin.InitCluster, q)
	require.Equal(t, admin.Unavailable, p.Class)
	require.Equal(t, "this node is being made a cluster", p.Text)
	leave <- errors.New("the disk is full")
	require.ErrorAs(t, <-result, &p)
	require.Equal(t, admin.Internal, p.Class)

	ctx, cancel := context.WithCancel(t.Context())
	inside, result := begin(ctx)
	cancel()
	require.ErrorIs(t, <-result, context.Canceled)
	require.NoError(t, inside.Err())
	leave <- nil
	require.Eventually(t, func() bool { // nothing signals the end of a request whose client is gone
		return refused(t, c, admin.InitCluster, q).Class == admin.Refused
	}, waitLimit, waitStep)
}

func TestAddressesOfACluster(t *testing.T) {
	created := func(context.Context, admin.NewCluster) error { return errors.New("not this far") }
	dir, _ := admintest.Open(t, admin.NewSetupHandler(admin.Setup{Name: "n1", Create: created}))
	c := caller(t, dir)
	const good = "https://id.example"
	for name, test := range map[string]struct {
		q     admin.NewCluster
		field string // the refused field
	}{
		"nothing":        {admin.NewCluster{}, "public_url"},
		"only the pages": {admin.NewCluster{AppURL: good}, "public_url"},
		"both bad":       {admin.NewCluster{PublicURL: "x", AppURL: "y"}, "public_url"},
		"bad pages":      {admin.NewCluster{PublicURL: good, AppURL: good + "/"}, "app_url"},
		"good":           {admin.NewCluster{PublicURL: good, AppURL: "http://localhost:3000"}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			p := refused(t, c, admin.InitCluster, test.q)
			if require.Equal(t, test.field, p.Field); test.field == "" {
				require.Equal(t, admin.Internal, p.Class, "Create must have been called")
			} else {
				require.Equal(t, admin.Refused, p.Class)
			}
		})
	}
}

var origins = map[string]bool{
	"https://id.example": true, "http://localhost": true, "http://127.0.0.1:8080": true, "https://[::1]:8443": true,
	"https://a_b.example:1": true, "https://xn--bcher-kva.example": true,

	"": false, "id.example": false, "//id.example": false, "https://": false, "https://:443": false, "ftp://id.example": false,
	"https://id.example/": false, "https://id.example/v2": false, "https://id.example?": false, "https://id.example#": false,
	"https://u@id.example": false, "https://id.example:": false, "https://id.example:0": false, "https://id.example:65536": false,
	"https://id.example:443": false, "http://id.example:80": false, "https://id.example:08443": false, "https://id.example:x": false,
	"HTTPS://id.example": false, "https://ID.example": false, "https://[0:0::1]": false, "https://[fe80::1%25eth0]": false,
	"https://id.example\n": false, " https://id.example": false, "https://id example": false, "https://bücher.example": false,
	"https://-id.example": false, "https://%69d.example": false,
}

func TestOrigins(t *testing.T) {
	for text, want := range origins {
		require.Equal(t, want, admin.IsOrigin(text), "%q", text)
	}
}

// FuzzOrigin compares accepted origins with those that browsers would send.
func FuzzOrigin(f *testing.F) {
	for text := range origins {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if !admin.IsOrigin(text) {
			return
		}
		u, err := url.Parse(text)
		require.NoError(t, err)
		require.Equal(t, text, (&url.URL{Scheme: u.Scheme, Host: u.Host}).String())
		require.Equal(t, strings.ToLower(text), text)
		require.Empty(t, u.Path+u.RawQuery+u.Fragment)
		require.Nil(t, u.User)
		require.NotContains(t, text, "%")
	})
}
