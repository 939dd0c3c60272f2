package requestlog_test

import (
	"bytes"
	"log/slog"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/issuer/requestlog"
)

// TestRecord: each log line of a request has the ids of the request, and the request's
// record has the fields that were added to it.
func TestRecord(t *testing.T) {
	var out bytes.Buffer
	log := slog.New(requestlog.Handler{Handler: slog.NewTextHandler(&out, nil)}).With("a", 1)
	r := &requestlog.Record{ID: "id-1", Trace: "t-1"}
	ctx := requestlog.With(t.Context(), r)
	log.InfoContext(ctx, "within")
	require.Contains(t, out.String(), "msg=within a=1 request_id=id-1 trace_id=t-1\n")
	out.Reset()
	log.Info("outside")
	require.NotContains(t, out.String(), "_id=")
	require.Equal(t, "id-1", requestlog.ID(ctx))
	require.True(t, requestlog.Add(ctx, slog.String("client", "c")))
	require.Equal(t, []slog.Attr{slog.String("client", "c")}, r.Attrs())
	require.Empty(t, requestlog.ID(t.Context()))
	require.False(t, requestlog.Add(t.Context(), slog.Int("x", 1)))
}
