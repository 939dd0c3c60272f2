package examples_test

import (
	"bufio"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"
	"golang.org/x/oauth2"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/emptypb"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"github.com/mintmark-auth/mintmark/verifier/verifiertest"
)

// TestPrograms checks that each example starts with only an issuer, and is guarded.
func TestPrograms(t *testing.T) {
	folder := t.TempDir() + string(filepath.Separator)
	build := exec.Command("go", "build", "-o", folder, "./...")
	out, err := build.CombinedOutput()
	require.NoError(t, err, "%s", out)
	issuer := verifiertest.NewIssuer()
	t.Cleanup(issuer.Close)
	token := issuer.Token(verifiertest.ForAudience(issuer.URL), verifiertest.Scope("BOOKING_READ", "TEAM_BOOKING_READ"))

	programs, err := os.ReadDir(folder)
	require.NoError(t, err)
	require.Len(t, programs, 7)
	for _, program := range programs {
		t.Run(program.Name(), func(t *testing.T) {
			address := run(t, folder+program.Name(), issuer.URL)
			if service, ok := strings.CutPrefix(address, "grpc://"); ok {
				tryGRPC(t, service, token)
				return
			}
			if strings.HasSuffix(address, "/mcp") {
				tryMCP(t, address, issuer)
				return
			}
			ask := func(path, token string) (int, string) {
				r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address+path, nil)
				require.NoError(t, err)
				if token != "" {
					r.Header.Set("Authorization", "Bearer "+token)
				}
				answer, err := http.DefaultClient.Do(r)
				require.NoError(t, err)
				defer answer.Body.Close()
				body, err := io.ReadAll(answer.Body)
				require.NoError(t, err)
				return answer.StatusCode, string(body)
			}
			code, body := ask("/v2/teams/7/bookings", token)
			require.Equal(t, http.StatusOK, code, body)
			require.Equal(t, "bookings of team 7", body)
			code, _ = ask("/v2/teams/8/bookings", token)
			require.Equal(t, http.StatusForbidden, code, "the user is not in that team")
			code, _ = ask("/v2/bookings", "")
			require.Equal(t, http.StatusUnauthorized, code)
		})
	}
}

// run starts a program on a port of its own and returns the address that it logs.
func run(t *testing.T, path, issuer string) string {
	t.Helper()
	c := exec.CommandContext(t.Context(), path, "-listen", "127.0.0.1:0", "-issuer", issuer)
	log, err := c.StderrPipe()
	require.NoError(t, err)
	require.NoError(t, c.Start())
	t.Cleanup(func() { _ = c.Wait() }) // the end of the test's context kills it
	lines := bufio.NewScanner(log)
	require.True(t, lines.Scan(), "the program logs nothing")
	words := strings.Fields(lines.Text())
	go io.Copy(io.Discard, log)
	return words[len(words)-1]
}

func tryGRPC(t *testing.T, address, token string) {
	t.Helper()
	connection, err := grpc.NewClient(address, grpc.WithTransportCredentials(insecure.NewCredentials()))
	require.NoError(t, err)
	defer connection.Close()
	var who wrapperspb.StringValue
	ctx := metadata.AppendToOutgoingContext(t.Context(), "authorization", "Bearer "+token)
	require.NoError(t, connection.Invoke(ctx, "/booking.v1.Bookings/List", new(emptypb.Empty), &who))
	require.Equal(t, "user-1", who.GetValue())
	err = connection.Invoke(t.Context(), "/booking.v1.Bookings/List", new(emptypb.Empty), &who)
	require.Equal(t, codes.Unauthenticated, status.Code(err))
}

func tryMCP(t *testing.T, endpoint string, issuer *verifiertest.Issuer) {
	t.Helper()
	client := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil)
	_, err := client.Connect(t.Context(), &mcp.StreamableClientTransport{Endpoint: endpoint}, nil)
	require.ErrorContains(t, err, "Unauthorized")
	token := &oauth2.Token{AccessToken: issuer.Token(verifiertest.ForAudience(endpoint), verifiertest.Scope("PROFILE_READ"))}
	session, err := client.Connect(t.Context(), &mcp.StreamableClientTransport{
		Endpoint: endpoint, HTTPClient: oauth2.NewClient(t.Context(), oauth2.StaticTokenSource(token)),
	}, nil)
	require.NoError(t, err)
	defer session.Close()
	who, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: "who_am_i"})
	require.NoError(t, err)
	require.Contains(t, who.Content[0].(*mcp.TextContent).Text, `"user":"user-1"`)
}
