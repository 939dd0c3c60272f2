package admin_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"strings"

	"github.com/mintmark-auth/mintmark/issuer/admin"
)

// The caller uses the socket of the node on this machine.
func ExampleNewCaller() {
	c, err := admin.NewCaller("/var/lib/mintmark")
	if err != nil {
		log.Fatal(err)
	}
	defer c.Close()
	status, err := admin.ShowCluster.Call(context.Background(), c, admin.StatusQuery{})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(status.Healthy, status.Problems)
}

// The caller connects to a server on another machine over TLS, here with a token.
func ExampleNewRemoteCaller() {
	token, err := os.ReadFile("ci.token")
	if err != nil {
		log.Fatal(err)
	}
	c, err := admin.NewRemoteCaller(admin.RemoteServer{
		URL: "https://n1.example.com:8090", Token: admin.Plain(strings.TrimSpace(string(token))),
	})
	if err != nil {
		log.Fatal(err)
	}
	defer c.Close()
	client, err := admin.ReviewClient.Call(context.Background(), c, admin.Review{ID: "cal-app", Verdict: "approve"})
	var refused *admin.Problem
	switch {
	case errors.As(err, &refused):
		fmt.Println(refused.Class, refused.Text)
	case err != nil:
		log.Fatal(err)
	default:
		fmt.Println(client.ID, "is", client.State)
	}
}
