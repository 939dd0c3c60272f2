package main

import (
	"context"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/types/known/emptypb"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"github.com/mintmark-auth/mintmark/middleware"
)

// bookings is what protoc would generate for
//
//	service Bookings {
//	  rpc List(Empty) returns (StringValue);
//	  rpc Slots(Empty) returns (StringValue);
//	  rpc Other(Empty) returns (StringValue);
//	  rpc Watch(Empty) returns (stream StringValue);
//	}
var bookings = grpc.ServiceDesc{
	ServiceName: "booking.v1.Bookings",
	Methods: []grpc.MethodDesc{
		{MethodName: "List", Handler: unary("List")},
		{MethodName: "Slots", Handler: unary("Slots")},
		{MethodName: "Other", Handler: unary("Other")},
	},
	Streams: []grpc.StreamDesc{{StreamName: "Watch", ServerStreams: true, Handler: func(_ any, s grpc.ServerStream) error {
		if err := s.RecvMsg(new(emptypb.Empty)); err != nil {
			return err
		}
		return s.SendMsg(caller(s.Context()))
	}}},
}

func caller(ctx context.Context) *wrapperspb.StringValue {
	if token, ok := middleware.FromContext(ctx); ok {
		return wrapperspb.String(token.Subject())
	}
	return wrapperspb.String("a guest")
}

func unary(name string) grpc.MethodHandler {
	return func(server any, ctx context.Context, decode func(any) error, interceptor grpc.UnaryServerInterceptor) (any, error) {
		in := new(emptypb.Empty)
		if err := decode(in); err != nil {
			return nil, err
		}
		info := &grpc.UnaryServerInfo{Server: server, FullMethod: "/booking.v1.Bookings/" + name}
		return interceptor(ctx, in, info, func(ctx context.Context, _ any) (any, error) { return caller(ctx), nil })
	}
}
