package ledger_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/mintmark-auth/mintmark/issuer/ledger"
)

// TestBrandFields verifies that every text of a brand is checked.
func TestBrandFields(t *testing.T) {
	long := strings.Repeat("x", 41)
	for key, texts := range map[string][2]string{ // the last valid one, and an invalid one
		"service_name": {long[:40], long},
		"privacy_url":  {"https://a.example/p", "javascript:alert(1)"}, "terms_url": {"https://a.example/t", "/terms"},
		"help_url": {"http://a.example", "mailto:help@a.example"},
	} {
		var b ledger.Brand
		*brandField(&b, key) = texts[0]
		field, note := b.Check()
		assert.Empty(t, field+note, key)
		*brandField(&b, key) = texts[1]
		field, note = b.Check()
		assert.Equal(t, key, field)
		assert.NotEmpty(t, note)
	}
}
