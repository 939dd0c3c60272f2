// Command mcp-go is an MCP client on the SDK for Go, with its OAuth support. It has the
// arguments, the file and the result of mcp.mjs.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"net/url"
	"os"
	"time"

	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"golang.org/x/oauth2"
)

type arguments struct {
	Endpoint, File, Document, RedirectURI, Decision string
	Expired                                         bool
	Calls                                           []mcp.CallToolParams
}

// kept is what the client knows after a restart.
type kept struct {
	Config *oauth2.Config
	Token  *oauth2.Token
	Scope  string
}

type result struct {
	Answers []answer `json:"answers"`
	Visits  []string `json:"visits"`
	Refused string   `json:"refused,omitempty"`
	Client  string   `json:"client"`
	Access  string   `json:"access"`
	Refresh string   `json:"refresh"`
	Scope   string   `json:"scope"`
}

type answer struct {
	Text   string `json:"text"`
	Failed bool   `json:"failed"`
}

var errAsked = errors.New("the user is asked")

// saving keeps each token that a source returns.
type saving struct {
	source oauth2.TokenSource
	k      *kept
	file   string
}

func (s saving) Token() (*oauth2.Token, error) {
	token, err := s.source.Token()
	if err != nil {
		return nil, err
	}
	s.k.Token = token
	if scope, ok := token.Extra("scope").(string); ok {
		s.k.Scope = scope
	}
	text, err := json.Marshal(s.k)
	if err != nil {
		return nil, err
	}
	return token, os.WriteFile(s.file, text, 0o600)
}

func main() {
	var a arguments
	if err := json.Unmarshal([]byte(os.Args[1]), &a); err != nil {
		log.Fatal(err)
	}
	r, err := run(context.Background(), a)
	if err != nil {
		log.Fatal(err)
	}
	say(map[string]any{"result": r})
}

func say(v any) {
	if err := json.NewEncoder(os.Stdout).Encode(v); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, a arguments) (*result, error) {
	r := new(result)
	var k kept
	config := auth.AuthorizationCodeHandlerConfig{
		RedirectURL:                    a.RedirectURI,
		ClientIDMetadataDocumentConfig: &auth.ClientIDMetadataDocumentConfig{URL: a.Document},
		NewTokenSource: func(ctx context.Context, c *oauth2.Config, token *oauth2.Token) (oauth2.TokenSource, error) {
			k.Config = c
			return saving{c.TokenSource(ctx, token), &k, a.File}, nil
		},
	}
	in := bufio.NewScanner(os.Stdin)
	config.AuthorizationCodeFetcher = func(_ context.Context, args *auth.AuthorizationArgs) (*auth.AuthorizationResult, error) {
		asked, err := url.Parse(args.URL)
		if err != nil {
			return nil, err
		}
		r.Visits = append(r.Visits, asked.Query().Get("scope"))
		if a.Decision == "cancel" {
			return nil, errAsked
		}
		say(map[string]string{"visit": args.URL, "decision": "allow"})
		in.Scan()
		back, err := url.Parse(in.Text())
		if err != nil {
			return nil, err
		}
		q := back.Query()
		return &auth.AuthorizationResult{Code: q.Get("code"), State: q.Get("state"), Iss: q.Get("iss")}, nil
	}
	switch text, err := os.ReadFile(a.File); {
	case err == nil:
		if err := json.Unmarshal(text, &k); err != nil {
			return nil, err
		}
		if a.Expired {
			k.Token.Expiry = time.Now().Add(-time.Hour)
		}
		config.InitialTokenSource = saving{k.Config.TokenSource(ctx, k.Token), &k, a.File}
	case !errors.Is(err, os.ErrNotExist):
		return nil, err
	}
	handler, err := auth.NewAuthorizationCodeHandler(&config)
	if err != nil {
		return nil, err
	}
	transport := &mcp.StreamableClientTransport{Endpoint: a.Endpoint, OAuthHandler: handler}
	session, err := mcp.NewClient(&mcp.Implementation{Name: "assistant", Version: "1"}, nil).Connect(ctx, transport, nil)
	if err == nil {
		defer session.Close()
		err = r.call(ctx, session, a.Calls)
	}
	if errors.Is(err, errAsked) {
		r.Refused = errAsked.Error()
	} else if err != nil {
		return nil, err
	}
	if k.Token != nil {
		r.Client, r.Access, r.Refresh, r.Scope = k.Config.ClientID, k.Token.AccessToken, k.Token.RefreshToken, k.Scope
	}
	return r, nil
}

func (r *result) call(ctx context.Context, session *mcp.ClientSession, calls []mcp.CallToolParams) error {
	for i := range calls {
		out, err := session.CallTool(ctx, &calls[i])
		if err != nil {
			return err
		}
		text, ok := out.Content[0].(*mcp.TextContent)
		if !ok {
			return fmt.Errorf("the content is a %T", out.Content[0])
		}
		r.Answers = append(r.Answers, answer{text.Text, out.IsError})
	}
	return nil
}
