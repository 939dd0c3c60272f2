package main

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/mintmark-auth/mintmark/middleware"
	"github.com/mintmark-auth/mintmark/verifier"
)

// A demoService is a resource server with one route.
type demoService struct {
	url      string
	verifier *verifier.Verifier
	stop     context.CancelFunc
	served   chan error

	unknownKidFetches atomic.Int64 // fetches of the key set that unknown kids caused
}

func newDemoService(n *demoNode) (*demoService, error) {
	s := &demoService{served: make(chan error, 1)}
	var err error
	s.verifier, err = verifier.New(verifier.Config{
		Issuer: n.base(), Audience: n.base(),
		Revocations: &verifier.RevocationsConfig{Name: danasReader, Secret: n.readerSecret},
		Observer:    verifier.Observer{Refreshed: s.refreshed},
	})
	if err != nil {
		return nil, err
	}
	routes := http.NewServeMux()
	routes.Handle("GET /v2/bookings", middleware.New(s.verifier).Require("BOOKING_READ")(demoRoute("your bookings")))
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		s.verifier.Close()
		return nil, err
	}
	s.url = "http://" + l.Addr().String()
	ctx, stop := context.WithCancel(context.Background())
	s.stop = stop
	go func() {
		s.served <- serveUntil(ctx, &http.Server{Handler: routes, ReadHeaderTimeout: 5 * time.Second}, l)
	}()
	return s, nil
}

func (s *demoService) close() error {
	s.stop()
	err := <-s.served
	s.verifier.Close()
	return err
}

func (s *demoService) refreshed(r verifier.Refresh) {
	if r.Cause == verifier.CauseUnknownKey {
		s.unknownKidFetches.Add(1)
	}
}

// isReady reports whether the keys and the feed are known.
func (s *demoService) isReady() bool {
	return s.verifier.State().Ready && s.isFollowing()
}

// isFollowing reports whether the feed was read at the last attempt.
func (s *demoService) isFollowing() bool {
	return s.verifier.RevocationsFresh() && s.verifier.Revocations().Err == nil
}

// keysValidFor is for how long the keys serve if they are never confirmed again.
func (s *demoService) keysValidFor() time.Duration { return time.Until(s.verifier.State().StaleAt) }

// state is what the verifier says of itself, in words.
func (s *demoService) state() string {
	keys, feed := s.verifier.State(), s.verifier.Revocations()
	text := fmt.Sprintf("keys are %s old", roughly(time.Since(keys.ConfirmedAt)))
	if keys.Err != nil {
		text += " and the issuer doesn't answer: they serve for another " + roughly(s.keysValidFor())
	}
	if feed.Err != nil {
		text += fmt.Sprintf("; the feed was heard of %s ago", roughly(feed.Behind))
	}
	return text
}
