package main

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/mintmark-auth/mintmark/middleware"
	"github.com/mintmark-auth/mintmark/verifier"
	"github.com/mintmark-auth/mintmark/verifier/scope"
)

// scopes are what the tools need. tools/list shows all tools to everybody: a client asks for a
// scope when it first calls a tool that needs it.
var scopes = map[string]string{
	"list_bookings":      scope.BookingRead,
	"find_bookings":      scope.BookingRead,
	"reschedule_booking": scope.BookingWrite,
	"list_schedules":     scope.ScheduleRead,
	"who_am_i":           scope.ProfileRead,
}

// allScopes are the scopes of all tools, sorted.
func allScopes() []string { return slices.Compact(slices.Sorted(maps.Values(scopes))) }

type (
	listRequest struct {
		From time.Time `json:"from,omitzero" jsonschema:"earliest end of a booking, in RFC 3339; now if absent"`
		To   time.Time `json:"to,omitzero" jsonschema:"latest start of a booking, in RFC 3339; no limit if absent"`
	}
	findRequest struct {
		Text string `json:"text" jsonschema:"a part of the title, or of the name or e-mail address of an attendee"`
	}
	rescheduleRequest struct {
		UID   string    `json:"uid" jsonschema:"uid of the booking"`
		Start time.Time `json:"start" jsonschema:"new start, in RFC 3339 with an offset; the duration stays"`
	}
	bookingList struct {
		Bookings []booking `json:"bookings"`
	}
	scheduleList struct {
		Schedules []schedule `json:"schedules"`
	}
	identity struct {
		User        string    `json:"user" jsonschema:"id of the user"`
		Application string    `json:"application" jsonschema:"client_id of the application that acts for the user"`
		Scopes      []string  `json:"scopes" jsonschema:"what the user has allowed"`
		Until       time.Time `json:"until" jsonschema:"when the access token expires"`
	}
)

// newServer returns a server with the tools.
func newServer(s *store) *mcp.Server {
	server := mcp.NewServer(&mcp.Implementation{Name: "scheduling", Title: "Scheduling", Version: "1"}, nil)
	server.AddReceivingMiddleware(checkTool)
	addTool(server, reading("list_bookings", "List the user's bookings in the order of their start."),
		func(token *verifier.Claims, in listRequest) (bookingList, error) {
			return bookingList{s.list(token.Subject(), in.From, in.To)}, nil
		})
	addTool(server, reading("find_bookings", "Find bookings of the user, past ones too, by title or attendee."),
		func(token *verifier.Claims, in findRequest) (bookingList, error) {
			return bookingList{s.find(token.Subject(), in.Text)}, nil
		})
	addTool(server, &mcp.Tool{
		Name: "reschedule_booking", Description: "Move a booking of the user to another time. It must be free, and in the future.",
		Annotations: &mcp.ToolAnnotations{IdempotentHint: true, OpenWorldHint: new(bool)},
	}, func(token *verifier.Claims, in rescheduleRequest) (booking, error) {
		return s.reschedule(token.Subject(), in.UID, in.Start)
	})
	addTool(server, reading("list_schedules", "List the user's schedules: the hours at which the user can be booked."),
		func(token *verifier.Claims, _ struct{}) (scheduleList, error) {
			return scheduleList{s.schedules(token.Subject())}, nil
		})
	addTool(server, reading("who_am_i", "Tell for which user you act, and what you may do."),
		func(token *verifier.Claims, _ struct{}) (identity, error) {
			return identity{token.Subject(), token.ClientID(), token.Scope().Names(), token.ExpiresAt()}, nil
		})
	return server
}

func reading(name, description string) *mcp.Tool {
	return &mcp.Tool{
		Name: name, Description: description,
		Annotations: &mcp.ToolAnnotations{ReadOnlyHint: true, OpenWorldHint: new(bool)},
	}
}

// addTool adds a tool that works for the user of the token. The result of run has no list that
// is nil, and its schema says so: some clients can't express a type or null.
func addTool[In, Out any](server *mcp.Server, tool *mcp.Tool, run func(*verifier.Claims, In) (Out, error)) {
	output, err := jsonschema.For[Out](nil)
	if err != nil {
		panic(err) // as mcp.AddTool does
	}
	for _, property := range output.Properties {
		if slices.Equal(property.Types, []string{"null", "array"}) {
			property.Type, property.Types = "array", nil
		}
	}
	tool.OutputSchema = output
	mcp.AddTool(server, tool, func(ctx context.Context, _ *mcp.CallToolRequest, in In) (*mcp.CallToolResult, Out, error) {
		token, _ := middleware.FromContext(ctx)
		out, err := run(token, in)
		return nil, out, err
	})
}
