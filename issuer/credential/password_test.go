package credential_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/issuer/credential"
)

// cheap is argon2id of "password" with salt "somesalt" at m=256, t=2, p=1, from
// the reference implementation's own tests.
const cheap = "$argon2id$v=19$m=256,t=2,p=1$c29tZXNhbHQ$nf65EOgLrQMR/uIPnA4rEsF5h7TKyQwu9U1bMCHGi/4"

func TestPasswords(t *testing.T) {
	hash := credential.HashPassword(rand.Reader, "correct horse")
	assert.Regexp(t, `^\$argon2id\$v=19\$m=19456,t=2,p=1\$[A-Za-z0-9+/]{22}\$[A-Za-z0-9+/]{43}$`, hash)
	assert.NotEqual(t, hash, credential.HashPassword(rand.Reader, "correct horse"), "salted")
	for password, want := range map[string]bool{
		"correct horse": true, "correct horsE": false, "": false, "correct horse ": false,
	} {
		ok, err := credential.CheckPassword(hash, password)
		require.NoError(t, err)
		assert.Equal(t, want, ok, password)
	}
}

func TestCheckPasswordOfTheReferenceImplementation(t *testing.T) {
	ok, err := credential.CheckPassword(cheap, "password")
	require.NoError(t, err)
	assert.True(t, ok)
	ok, err = credential.CheckPassword(cheap, "Password")
	require.NoError(t, err)
	assert.False(t, ok)
}

func TestArgonBounds(t *testing.T) {
	const salt, tag = "c29tZXNhbHQ", "nf65EOgLrQMR/uIPnA4rEsF5h7TKyQwu9U1bMCHGi/4"
	for name, tc := range map[string]struct {
		text string
		ok   bool
	}{
		"good":                     {cheap, true},
		"most":                     {"$argon2id$v=19$m=131072,t=10,p=8$" + salt + "$" + tag, true},
		"least":                    {"$argon2id$v=19$m=8,t=1,p=1$" + salt + "$" + tag, true},
		"empty":                    {"", false},
		"argon2i":                  {strings.Replace(cheap, "argon2id", "argon2i", 1), true},
		"argon2d":                  {strings.Replace(cheap, "argon2id", "argon2d", 1), false},
		"a cost without its name":  {strings.Replace(cheap, "m=256", "256", 1), false},
		"older version":            {strings.Replace(cheap, "v=19", "v=16", 1), false},
		"no version":               {strings.Replace(cheap, "$v=19", "", 1), false},
		"too much memory":          {strings.Replace(cheap, "m=256", "m=131073", 1), false},
		"memory beyond 32 bits":    {strings.Replace(cheap, "m=256", "m=4294967552", 1), false},
		"too little memory":        {strings.Replace(cheap, "m=256", "m=7", 1), false},
		"too little for threads":   {"$argon2id$v=19$m=31,t=1,p=4$" + salt + "$" + tag, false},
		"no time":                  {strings.Replace(cheap, "t=2", "t=0", 1), false},
		"too much time":            {strings.Replace(cheap, "t=2", "t=11", 1), false},
		"no threads":               {strings.Replace(cheap, "p=1", "p=0", 1), false},
		"too many threads":         {strings.Replace(cheap, "p=1", "p=9", 1), false},
		"leading zero":             {strings.Replace(cheap, "m=256", "m=0256", 1), false},
		"sign":                     {strings.Replace(cheap, "m=256", "m=+256", 1), false},
		"negative":                 {strings.Replace(cheap, "t=2", "t=-2", 1), false},
		"no number":                {strings.Replace(cheap, "m=256", "m=", 1), false},
		"underscore":               {strings.Replace(cheap, "m=256", "m=2_56", 1), false},
		"other order":              {strings.Replace(cheap, "m=256,t=2", "t=2,m=256", 1), false},
		"parameter twice":          {strings.Replace(cheap, "t=2", "t=2,t=2", 1), false},
		"unknown parameter":        {strings.Replace(cheap, "p=1", "p=1,keyid=A", 1), false},
		"space":                    {cheap + " ", false},
		"line break in tag":        {cheap[:60] + "\n" + cheap[60:], false},
		"padded salt":              {strings.Replace(cheap, salt, salt+"=", 1), false},
		"salt not canonical":       {strings.Replace(cheap, salt, salt[:10]+"R", 1), false},
		"short salt":               {strings.Replace(cheap, salt, "c29tZXNhbA", 1), false},
		"long salt":                {strings.Replace(cheap, salt, strings.Repeat("A", 87), 1), false},
		"no tag":                   {cheap[:len(cheap)-len(tag)], false},
		"short tag":                {cheap[:len(cheap)-len(tag)] + strings.Repeat("A", 20), false},
		"long tag":                 {cheap[:len(cheap)-len(tag)] + strings.Repeat("A", 87), false},
		"another field":            {cheap + "$", false},
		"text before":              {"x" + cheap, false},
		"longer than any":          {cheap + strings.Repeat("$", 1<<20), false},
		"base64url in tag":         {strings.Replace(cheap, "/", "_", 1), false},
		"spaces around parameters": {strings.Replace(cheap, "t=2", " t=2", 1), false},
	} {
		t.Run(name, func(t *testing.T) {
			got, fault := credential.NormalArgon(tc.text)
			if tc.ok {
				assert.Empty(t, fault)
				assert.Equal(t, tc.text, got)
				return
			}
			assert.NotEmpty(t, fault)
			ok, err := credential.CheckPassword(tc.text, "password")
			require.ErrorIs(t, err, credential.ErrHash)
			assert.False(t, ok)
		})
	}
}

func TestHasher(t *testing.T) {
	h := credential.NewHasher(rand.Reader, 0)
	hash, err := h.Hash(t.Context(), "correct horse")
	require.NoError(t, err)
	ok, err := h.Check(t.Context(), hash, "correct horse", nil)
	require.NoError(t, err)
	assert.True(t, ok)
	ok, err = h.Check(t.Context(), hash, "wrong", nil)
	require.NoError(t, err)
	assert.False(t, ok)
	_, err = h.Check(t.Context(), "damaged", "correct horse", nil)
	require.ErrorIs(t, err, credential.ErrHash)

	for _, password := range []string{"", "correct horse"} {
		ok, err = h.Check(t.Context(), "", password, nil)
		require.NoError(t, err)
		assert.False(t, ok, "an empty hash matches no password")
	}

	ended, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = h.Hash(ended, "x")
	require.ErrorIs(t, err, context.Canceled)
	_, err = h.Check(ended, hash, "x", nil)
	require.ErrorIs(t, err, context.Canceled)
	for range 64 { // a free slot must not be chosen now and then
		_, err = h.Matches(ended, cheap, "password")
		require.ErrorIs(t, err, context.Canceled)
	}
}

// TestHasherIsBounded fills all slots with hashes that wait for their salt.
func TestHasherIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		salt := &gate{open: make(chan struct{})}
		slots := runtime.NumCPU() + 1 // differs from the default
		h := credential.NewHasher(salt, slots)
		var wg sync.WaitGroup
		for range slots + 1 {
			wg.Go(func() { _, _ = h.Hash(t.Context(), "p") })
		}
		synctest.Wait()
		assert.Equal(t, slots, salt.waiting())

		// Another caller waits for a slot until its context ends.
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err := h.Check(ctx, cheap, "password", nil)
		require.ErrorIs(t, err, context.DeadlineExceeded)

		close(salt.open)
		wg.Wait()
		assert.Equal(t, slots+1, salt.waiting())
		ok, err := h.Check(t.Context(), cheap, "password", nil)
		require.NoError(t, err)
		assert.True(t, ok, "a slot is free again")
	})
}

// gate is a source of randomness that counts its readers and blocks them.
type gate struct {
	mu      sync.Mutex
	readers int
	open    chan struct{}
}

func (g *gate) Read(b []byte) (int, error) {
	g.mu.Lock()
	g.readers++
	g.mu.Unlock()
	<-g.open
	return copy(b, bytes.Repeat([]byte{7}, len(b))), nil
}

func (g *gate) waiting() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.readers
}

func BenchmarkCheckPassword(b *testing.B) {
	hash := credential.HashPassword(rand.Reader, "p")
	b.ReportAllocs()
	for b.Loop() {
		_, _ = credential.CheckPassword(hash, "p")
	}
}
