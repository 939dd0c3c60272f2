package webtest

import (
	"encoding/json"
	"net/http"
	"strings"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Events returns the events of a download.
func (b *Browser) Events(query string) (list []map[string]any) {
	b.Env.T.Helper()
	res := b.Get("/admin/audit.jsonl?" + query)
	require.Equal(b.Env.T, http.StatusOK, res.StatusCode)
	assert.Equal(b.Env.T, "application/jsonl; charset=utf-8", res.Header.Get("Content-Type"))
	assert.Equal(b.Env.T, `attachment; filename="mintmark-audit.jsonl"`, res.Header.Get("Content-Disposition"))
	assert.Equal(b.Env.T, "nosniff", res.Header.Get("X-Content-Type-Options"))
	assert.Equal(b.Env.T, "no-store", res.Header.Get("Cache-Control"))
	for line := range strings.Lines(res.Text) {
		var e map[string]any
		require.NoError(b.Env.T, json.Unmarshal([]byte(line), &e), line)
		list = append(list, e)
	}
	return list
}
