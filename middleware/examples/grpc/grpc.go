package main

import (
	"context"
	"net/http"
	"net/url"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"github.com/mintmark-auth/mintmark/middleware"
	"github.com/mintmark-auth/mintmark/middleware/policy"
)

// guardUnary guards calls by a policy whose patterns are methods: on the wire, a call
// of List is POST /booking.v1.Bookings/List.
func guardUnary(guard *middleware.Guard, p *policy.Policy) grpc.UnaryServerInterceptor {
	return func(ctx context.Context, request any, info *grpc.UnaryServerInfo, next grpc.UnaryHandler) (any, error) {
		ctx, err := authorize(ctx, guard, p, info.FullMethod)
		if err != nil {
			return nil, err
		}
		return next(ctx, request)
	}
}

// guardStream does the same for streams, once, when they begin.
func guardStream(guard *middleware.Guard, p *policy.Policy) grpc.StreamServerInterceptor {
	return func(server any, stream grpc.ServerStream, info *grpc.StreamServerInfo, next grpc.StreamHandler) error {
		ctx, err := authorize(stream.Context(), guard, p, info.FullMethod)
		if err != nil {
			return err
		}
		return next(server, guarded{stream, ctx})
	}
}

// guarded is a stream with the token in its context.
type guarded struct {
	grpc.ServerStream
	ctx context.Context
}

func (g guarded) Context() context.Context { return g.ctx }

func authorize(ctx context.Context, guard *middleware.Guard, p *policy.Policy, method string) (context.Context, error) {
	md, _ := metadata.FromIncomingContext(ctx)
	token, refused := guard.Authorize(ctx, p, http.MethodPost, &url.URL{Path: method}, http.Header{"Authorization": md["authorization"]})
	switch {
	case refused != nil:
		if challenge := guard.Challenge(refused); challenge != "" {
			_ = grpc.SetTrailer(ctx, metadata.Pairs("www-authenticate", challenge))
		}
		return nil, status.Error(code(refused), refused.Error())
	case token != nil:
		ctx = middleware.NewContext(ctx, token)
	}
	return ctx, nil
}

func code(refused *middleware.Refusal) codes.Code {
	switch refused.Status {
	case http.StatusBadRequest:
		return codes.InvalidArgument
	case http.StatusForbidden:
		return codes.PermissionDenied
	case http.StatusServiceUnavailable:
		return codes.Unavailable
	}
	return codes.Unauthenticated
}
