package main

import (
	"context"
	"net"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/grpc/test/bufconn"
	"google.golang.org/protobuf/types/known/emptypb"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"github.com/mintmark-auth/mintmark/middleware/examples/internal/trial"
	"github.com/mintmark-auth/mintmark/verifier/verifiertest"
)

// TestCalls checks the gRPC form of each answer of the guard.
func TestCalls(t *testing.T) {
	guard, issuer := trial.Guard(t)
	p, err := newPolicy()
	require.NoError(t, err)
	server := newServer(guard, p)
	listener := bufconn.Listen(1 << 16)
	go server.Serve(listener)
	t.Cleanup(server.Stop)
	connection, err := grpc.NewClient("passthrough:///bookings", grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithContextDialer(func(context.Context, string) (net.Conn, error) { return listener.Dial() }))
	require.NoError(t, err)
	t.Cleanup(func() { connection.Close() })

	with := func(authorization ...string) context.Context {
		return metadata.NewOutgoingContext(t.Context(), metadata.MD{"authorization": authorization})
	}
	good := "Bearer " + issuer.Token(verifiertest.Scope("BOOKING_READ"))
	other := "Bearer " + issuer.Token(verifiertest.Scope("PROFILE_READ"))
	for _, row := range []struct {
		name, method string
		ctx          context.Context
		code         codes.Code
		want         string // the caller, or in the challenge
	}{
		{"scope", "List", with(good), codes.OK, "user-1"},
		{"public", "Slots", t.Context(), codes.OK, "a guest"},
		{"public with a token", "Slots", with(other), codes.OK, "user-1"},
		{"public with a bad token", "Slots", with("Bearer x"), codes.Unauthenticated, `error="invalid_token"`},
		{"no token", "List", t.Context(), codes.Unauthenticated, "Bearer"},
		{"bad token", "List", with(good + "x"), codes.Unauthenticated, `error="invalid_token"`},
		{"two tokens", "List", with(good, good), codes.InvalidArgument, `error="invalid_request"`},
		{"another scope", "List", with(other), codes.PermissionDenied, `scope="BOOKING_READ"`},
		{"not listed", "Other", with(good), codes.PermissionDenied, `error="insufficient_scope"`},
		{"not listed, legacy", "Other", with("Bearer " + issuer.Token(verifiertest.Legacy())), codes.OK, "user-1"},
	} {
		t.Run(row.name, func(t *testing.T) {
			var out wrapperspb.StringValue
			var trailer metadata.MD
			err := connection.Invoke(row.ctx, "/booking.v1.Bookings/"+row.method, new(emptypb.Empty), &out, grpc.Trailer(&trailer))
			require.Equal(t, row.code, status.Code(err), "%v", err)
			if row.code == codes.OK {
				require.Equal(t, row.want, out.GetValue())
				return
			}
			require.Contains(t, strings.Join(trailer["www-authenticate"], ""), row.want)
		})
	}
	watch := func(ctx context.Context) (string, error) {
		var out wrapperspb.StringValue
		stream, err := connection.NewStream(ctx, &bookings.Streams[0], "/booking.v1.Bookings/Watch")
		require.NoError(t, err)
		require.NoError(t, stream.SendMsg(new(emptypb.Empty)))
		require.NoError(t, stream.CloseSend())
		err = stream.RecvMsg(&out)
		return out.GetValue(), err
	}
	who, err := watch(with(good))
	require.NoError(t, err)
	require.Equal(t, "user-1", who)
	_, err = watch(with(other))
	require.Equal(t, codes.PermissionDenied, status.Code(err))
}
