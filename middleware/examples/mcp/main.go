// Command mcp is an MCP server (Model Context Protocol) for AI assistants: the bookings
// and schedules of the user for whom an assistant acts. Each tool needs a scope, and an
// assistant that lacks it is told which one to ask its user for. The data is in memory.
//
// "make agents" runs it beside a Mintmark that knows it. By hand, beside "make run":
//
//	bin/mintmark resource-server add http://127.0.0.1:8090/mcp --name scheduling
//	cd middleware/examples && go run ./mcp
package main

import (
	"cmp"
	"flag"
	"log"
	"net"
	"net/http"
	"os"
	"time"

	"github.com/mintmark-auth/mintmark/verifier"
)

func main() {
	listen := flag.String("listen", "127.0.0.1:8090", "address of the service")
	issuer := flag.String("issuer", "http://127.0.0.1:8080", "issuer of the tokens")
	resource := flag.String("resource", "", "URL of the endpoint as clients reach it, and audience of the tokens (default: http://LISTEN/mcp)")
	name := flag.String("name", "", "registered name, to read the feed of revocations with the secret in MCP_SECRET; without a name, a token is valid until it expires")
	flag.Parse()

	l, err := net.Listen("tcp", *listen)
	if err != nil {
		log.Fatal(err)
	}
	config := verifier.Config{Issuer: *issuer, Audience: cmp.Or(*resource, "http://"+l.Addr().String()+"/mcp")}
	if *name != "" {
		config.Revocations = &verifier.RevocationsConfig{Name: *name, Secret: os.Getenv("MCP_SECRET")}
	}
	v, err := verifier.New(config)
	if err != nil {
		log.Fatal(err)
	}
	handler, err := newHandler(v, config, newStore(time.Now))
	if err != nil {
		log.Fatal(err)
	}
	log.Print(config.Audience)
	server := http.Server{Handler: handler, ReadHeaderTimeout: 10 * time.Second}
	log.Fatal(server.Serve(l))
}
