package credential_test

import (
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/issuer/credential"
	"github.com/mintmark-auth/mintmark/issuer/ledger"
)

const (
	bcryptHash = "$2b$04$abcdefghijklmnopqrstuujydOTSfIH/d5oUHpsygqV5X9xJLQc6e"
	oryHash    = "$pbkdf2-sha256$i=1000,l=32$MDEyMzQ1Njc4OWFiY2RlZg$cBg8D2DungRB9k76szThf5ehfyBz991ay6PT8Srwk4M"
	scryptHash = "$scrypt$ln=4,r=8,p=1$MDEyMzQ1Njc4OWFiY2RlZg$OAkZqUBelG6VIYdTJfYSENL5OmZRxMa3GwXn5oFliTg"
)

// TestForeignHashes has one hash of each format, made by other programs: bcrypt by libxcrypt,
// PBKDF2 and scrypt by OpenSSL, argon2 by the reference implementation (its test.c).
func TestForeignHashes(t *testing.T) {
	const horse = "correct horse"
	for name, tc := range map[string]struct {
		hash, password, kind string
		units                uint64
	}{
		"bcrypt 2a":                 {strings.Replace(bcryptHash, "2b", "2a", 1), horse, "bcrypt", 16},
		"bcrypt 2b":                 {bcryptHash, horse, "bcrypt", 16},
		"bcrypt 2y":                 {strings.Replace(bcryptHash, "2b", "2y", 1), horse, "bcrypt", 16},
		"bcrypt, beyond ASCII":      {"$2y$04$abcdefghijklmnopqrstuuyx2n0Zzopyr9QuYTMCfOJJOj526QVoC", "pässwörd", "bcrypt", 16},
		"bcrypt, beyond 72 bytes":   {"$2b$04$abcdefghijklmnopqrstuubzadhGtS2zEF.gu0yd0opP6cVzb.e0i", strings.Repeat("x", 80), "bcrypt", 16},
		"Ory, SHA-256":              {oryHash, horse, "pbkdf2-sha256", 1000},
		"Ory, without length":       {strings.Replace(oryHash, ",l=32", "", 1), horse, "pbkdf2-sha256", 1000},
		"Ory, SHA-512":              {"$pbkdf2-sha512$i=1000,l=64$MDEyMzQ1Njc4OWFiY2RlZg$OM0FAoIqCVK1sWtxDiffVlBejtLa+ks4TP71JiecwuSZCG8iLbnlIEPOMoVX+i2B2wkSxjQ8CRGR9OkNGuIPMQ", horse, "pbkdf2-sha512", 1000},
		"two blocks":                {"$pbkdf2-sha256$i=1000,l=64$MDEyMzQ1Njc4OWFiY2RlZg$cBg8D2DungRB9k76szThf5ehfyBz991ay6PT8Srwk4NQEC0GVAwWLSUGWbcye1xU+dO7fZFld1DsscNlAN1uxw", horse, "pbkdf2-sha256", 2000},
		"passlib, SHA-256":          {"$pbkdf2-sha256$1000$....MDEyMzQ1Njc4OQ$YiT9egOFL9RSjdt/ttcTcJo7Y.2h9rr1s.XaJSojvuw", horse, "pbkdf2-sha256", 1000},
		"passlib, SHA-512":          {"$pbkdf2-sha512$1000$....MDEyMzQ1Njc4OQ$C1mCeCBDkpjyEFrWlwEHepj0KU4Y7TW4oB2.mMBxZ6xYdD/M.VJqmrGdXqKqz1YsAwydVxyU79gPmVLeKjSRXg", horse, "pbkdf2-sha512", 1000},
		"Django":                    {"pbkdf2_sha256$1000$lNaCl2kqBx7$8uLHZOu98PeerBj2PbGneD5wVVdk3UFOanmnbIbBhxo=", horse, "pbkdf2-sha256", 1000},
		"scrypt":                    {scryptHash, horse, "scrypt", 128},
		"argon2i":                   {"$argon2i$v=19$m=65536,t=2,p=1$c29tZXNhbHQ$wWKIMhR9lyDFvRz9YTZweHKfbftvj+qf+YFY4NeBbtA", "password", "argon2i", 131072},
		"argon2id of another place": {"$argon2id$v=19$m=256,t=2,p=2$c29tZXNhbHQ$bQk8UB/VmZZF4Oo79iDXuL5/0ttZwg2f/5U52iv1cDc", "password", "argon2id", 512},
	} {
		t.Run(name, func(t *testing.T) {
			cost, fault := credential.ForeignHash(tc.hash)
			require.Empty(t, fault)
			assert.Equal(t, tc.kind, cost.Kind)
			assert.Equal(t, tc.units, cost.Units)
			right, err := credential.CheckPassword(tc.hash, tc.password)
			require.NoError(t, err)
			assert.True(t, right)
			right, err = credential.CheckPassword(tc.hash, "y"+tc.password)
			require.NoError(t, err)
			assert.False(t, right)
		})
	}
}

// TestRFC7914Vectors are the vectors of RFC 7914 §11 and §12 whose cost is small enough. Their
// salts are shorter than those that are accepted.
func TestRFC7914Vectors(t *testing.T) {
	tag := func(text string) []byte {
		b, err := hex.DecodeString(text)
		require.NoError(t, err)
		return b
	}
	assert.True(t, credential.DerivePBKDF2("pbkdf2-sha256", "passwd", []byte("salt"), 1, tag(
		"55ac046e56e3089fec1691c22544b605f94185216dde0465e68b9d57c20dacbc"+
			"49ca9cccf179b645991664b39d77ef317c71b845b1e30bd509112041d3a19783")))
	assert.True(t, credential.DerivePBKDF2("pbkdf2-sha256", "Password", []byte("NaCl"), 80000, tag(
		"4ddcd8f60b98be21830cee5ef22701f9641a4418d04c0414aeff08876b34ab56"+
			"a1d425a1225833549adb841b51c9b3176a272bdebba1d078478f62b397f33c8d")))
	assert.True(t, credential.DeriveScrypt("password", []byte("NaCl"), 10, 8, 16, tag(
		"fdbabe1c9d3472007856e7190d01e9fe7c6ad7cbc8237830e77376634b373162"+
			"2eaf30d92e22a3886ff109279d9830dac727afb94a83ee6d8360cbdfa2cc0640")))
	assert.True(t, credential.DeriveScrypt("pleaseletmein", []byte("SodiumChloride"), 14, 8, 1, tag(
		"7023bdcb3afd7348461c06cd81fd38ebfda8fbba904f8e3ea9b543f6545da1f2"+
			"d5432955613f0fcf62d49705242a9af9e61e85dc0d651e40dfcf017b45575887")))
}

// TestForeignHashFaults has hashes that are refused, and why: none of them may be computed, and
// no reason may repeat a part of the hash but its numbers.
func TestForeignHashFaults(t *testing.T) {
	const format = "is not a hash of a supported format"
	salt, tag := "MDEyMzQ1Njc4OWFiY2RlZg", strings.Repeat("A", 43)
	rest := "$" + salt + "$" + tag
	for _, tc := range []struct{ hash, fault string }{
		{"", format},
		{"correct horse", format},
		{"$", format},
		{"$$$$", format},
		{strings.Repeat("$", 256), format},
		{strings.Repeat("a", 257), "is longer than 256 bytes"},
		{"$5$rounds=5000$saltsalt$" + tag, format},
		{"$1$salt$" + tag, format},
		{"$argon2d$v=19$m=256,t=2,p=1" + rest, format},
		{"$argon2id$v=16$m=256,t=2,p=1" + rest, format},
		{"$argon2id$v=19$m=4294967295,t=2,p=1" + rest, "asks for 4294967295 KiB of memory: at most 131072 are accepted"},
		{"$argon2id$v=19$m=131073,t=2,p=1" + rest, "asks for 131073 KiB of memory: at most 131072 are accepted"},
		{"$argon2id$v=19$m=99999999999999999999,t=2,p=1" + rest, "has a number that is too large"},
		{"$argon2id$v=19$m=18446744073709551615,t=2,p=1" + rest, "asks for 18446744073709551615 KiB of memory: at most 131072 are accepted"},
		{"$argon2id$v=19$m=7,t=2,p=1" + rest, "has 7 KiB of memory: at least 8 are required"},
		{"$argon2id$v=19$m=63,t=2,p=8" + rest, "has 63 KiB of memory: at least 64 are required"},
		{"$argon2id$v=19$m=256,t=11,p=1" + rest, "asks for 11 passes: at most 10 are accepted"},
		{"$argon2id$v=19$m=256,t=0,p=1" + rest, "has 0 passes: at least 1 are required"},
		{"$argon2i$v=19$m=256,t=2,p=9" + rest, "asks for 9 lanes: at most 8 are accepted"},
		{"$argon2i$v=19$m=256,t=2,p=18446744073709551615" + rest, "asks for 18446744073709551615 lanes: at most 8 are accepted"},
		{"$argon2id$v=19$m=256,t=2,p=1$MDEyMzQ1Ng$" + tag, "has 7 bytes of salt: at least 8 are required"},
		{"$argon2id$v=19$m=256,t=2,p=1$" + strings.Repeat("A", 87) + "$" + tag, "asks for 65 bytes of salt: at most 64 are accepted"},
		{"$argon2id$v=19$m=256,t=2,p=1$" + salt + "$MDEyMzQ1Njc4OWFiY2Rl", "has 15 bytes of tag: at least 16 are required"},
		{"$argon2id$v=19$m=256,t=2,p=1$" + salt + "$" + strings.Repeat("A", 87), "asks for 65 bytes of tag: at most 64 are accepted"},
		{"$2b$15$" + strings.Repeat("a", 53), "asks for 15 as the cost of bcrypt: at most 14 are accepted"},
		{"$2b$31$" + strings.Repeat("a", 53), "asks for 31 as the cost of bcrypt: at most 14 are accepted"},
		{"$2b$03$" + strings.Repeat("a", 53), "has 3 as the cost of bcrypt: at least 4 are required"},
		{"$2b$4$" + strings.Repeat("a", 53), format},
		{"$2b$+4$" + strings.Repeat("a", 53), format},
		{"$2x$10$" + strings.Repeat("a", 53), format},
		{"$2$10$" + strings.Repeat("a", 53), format},
		{"$2b$10$" + strings.Repeat("a", 52), format},
		{"$2b$10$" + strings.Repeat("a", 54), format},
		{"$2b$10$" + strings.Repeat("a", 52) + "=", format},
		{"$2b$10$" + strings.Repeat("a", 52) + "\n", format},
		{"$pbkdf2$1000" + rest, format},
		{"$pbkdf2-sha1$i=1000,l=32" + rest, format},
		{"$pbkdf2-sha256$i=2000001,l=32" + rest, "asks for 2000001 iterations: at most 2000000 are accepted"},
		{"$pbkdf2-sha256$18446744073709551615" + rest, "asks for 18446744073709551615 iterations: at most 2000000 are accepted"},
		{"$pbkdf2-sha256$i=1000001,l=64$" + salt + "$" + strings.Repeat("A", 86), "asks for 2000002 iterations for all blocks of its tag: at most 2000000 are accepted"},
		{"$pbkdf2-sha256$i=0,l=32" + rest, "has 0 iterations: at least 1 are required"},
		{"$pbkdf2-sha256$i=01000,l=32" + rest, format},
		{"$pbkdf2-sha256$i=1000,l=33" + rest, "names another length than its tag has"},
		{"$pbkdf2-sha256$i=1000,k=32" + rest, format},
		{"$pbkdf2-sha256$abc" + rest, format},
		{"$pbkdf2-sha256$+1000" + rest, format},
		{"$pbkdf2-sha512$1000$!!!!!!!!!!!!$" + tag, format},
		{"$pbkdf2-sha256$i=1000,l=32,l=32" + rest, format},
		{"$pbkdf2-sha256$i=1000,l=32$MDEyMzQ1Ng$" + tag, "has 7 bytes of salt: at least 8 are required"},
		{"$pbkdf2-sha256$i=1000" + rest + "==", format},
		{"pbkdf2_sha256$2000001$saltsalt$" + tag, "asks for 2000001 iterations: at most 2000000 are accepted"},
		{"pbkdf2_sha256$1000$short$" + tag, "has 5 bytes of salt: at least 8 are required"},
		{"pbkdf2_sha1$1000$saltsalt$" + tag, format},
		{"$scrypt$ln=18,r=8,p=1" + rest, "asks for 262144 KiB of memory: at most 131072 are accepted"},
		{"$scrypt$ln=21,r=1,p=1" + rest, "asks for 21 as the binary logarithm of N: at most 20 are accepted"},
		{"$scrypt$ln=64,r=8,p=1" + rest, "asks for 64 as the binary logarithm of N: at most 20 are accepted"},
		{"$scrypt$ln=16384,r=8,p=1" + rest, "asks for 16384 as the binary logarithm of N: at most 20 are accepted"}, // Kratos writes N
		{"$scrypt$ln=0,r=8,p=1" + rest, "has 0 as the binary logarithm of N: at least 1 are required"},
		{"$scrypt$ln=4,r=33,p=1" + rest, "asks for 33 as r: at most 32 are accepted"},
		{"$scrypt$ln=4,r=8,p=17" + rest, "asks for 17 as p: at most 16 are accepted"},
		{"$scrypt$ln=17,r=8,p=2" + rest, "asks for 2097152 as the product of N, r and p: at most 1048576 are accepted"},
		{"$scrypt$ln=4,r=8" + rest, format},
		{"$yescrypt$ln=4,r=8,p=1" + rest, format},
		// Another field after those of each format, and one too few.
		{bcryptHash + "$", format},
		{oryHash + "$" + tag, format},
		{scryptHash + "$" + tag, format},
		{"$argon2id$v=19$m=256,t=2,p=1" + rest + "$" + tag, format},
		{"pbkdf2_sha256$1000$saltsalt$" + tag + "$" + tag, format},
		{"pbkdf2_sha256$1000$saltsalt", format},
		{"$pbkdf2-sha256$i=1000,l=32$" + salt, format},
		{"$scrypt$ln=4,r=8,p=1$" + salt, format},
		{"$argon2id$v=19$m=256,t=2,p=1$" + salt, format},
	} {
		cost, fault := credential.ForeignHash(tc.hash)
		assert.Equal(t, tc.fault, fault, tc.hash)
		assert.Zero(t, cost)
		_, err := credential.CheckPassword(tc.hash, "correct horse")
		require.ErrorIs(t, err, credential.ErrHash)
		if len(tc.hash) > 40 {
			assert.NotContains(t, fault, tc.hash[len(tc.hash)-20:])
		}
	}
}

// TestFailuresCostTheSame counts the work of failing sign-ins: for unknown users, for new
// hashes and for imported ones, while several kinds of imported hashes are stored.
func TestFailuresCostTheSame(t *testing.T) {
	stored := []string{
		strings.Replace(bcryptHash, "$04$", "$07$", 1), strings.Replace(bcryptHash, "$04$", "$05$", 1), bcryptHash,
		oryHash, "pbkdf2_sha256$1700$lNaCl2kqBx7$8uLHZOu98PeerBj2PbGneD5wVVdk3UFOanmnbIbBhxo=",
		scryptHash, strings.Replace(scryptHash, "ln=4,r=8,p=1", "ln=6,r=8,p=3", 1), strings.Replace(scryptHash, "ln=4", "ln=5", 1),
		"$argon2id$v=19$m=256,t=2,p=2$c29tZXNhbHQ$bQk8UB/VmZZF4Oo79iDXuL5/0ttZwg2f/5U52iv1cDc",
		"$argon2id$v=19$m=19456,t=3,p=1$c29tZXNhbHQ$bQk8UB/VmZZF4Oo79iDXuL5/0ttZwg2f/5U52iv1cDc",
		"$argon2i$v=19$m=1024,t=3,p=1$c29tZXNhbHQ$wWKIMhR9lyDFvRz9YTZweHKfbftvj+qf+YFY4NeBbtA",
	}
	dearest := map[string]ledger.HashCost{}
	for _, hash := range stored {
		c, fault := credential.ForeignHash(hash)
		require.Empty(t, fault)
		if c.Units > dearest[c.Kind].Units {
			dearest[c.Kind] = c
		}
	}
	var costs []ledger.HashCost
	want := map[string]uint64{}
	for kind, c := range dearest {
		costs = append(costs, c)
		want[kind] = c.Units
	}
	h := credential.NewHasher(rand.Reader, 1)
	spent := map[string]uint64{}
	most := uint32(0)
	h.OnHash(func(c ledger.HashCost) {
		assert.Positive(t, c.Units, "nothing is computed without a need")
		spent[c.Kind] += c.Units
		most = max(most, c.Memory)
	})
	own := credential.HashPassword(rand.Reader, "p")
	for _, hash := range append(stored, own, "", "damaged") {
		clear(spent)
		right, err := h.Check(t.Context(), hash, "wrong", costs)
		assert.Equal(t, hash == "damaged", err != nil)
		assert.False(t, right)
		assert.Equal(t, want, spent, hash)
	}
	assert.Equal(t, credential.OwnCost.Memory, most, "the dearest memory that is stored")

	for _, hash := range []string{own, "", "damaged"} {
		for _, imported := range [][]ledger.HashCost{nil, {{Kind: "argon2id", Units: 512, Memory: 256, Lanes: 1}}} {
			clear(spent)
			_, _ = h.Check(t.Context(), hash, "wrong", imported)
			assert.Equal(t, map[string]uint64{"argon2id": credential.OwnCost.Units}, spent, "without imported hashes, and with cheap ones")
		}
	}
	clear(spent)
	right, err := h.Check(t.Context(), bcryptHash, "correct horse", costs)
	require.NoError(t, err)
	assert.True(t, right)
	assert.Equal(t, map[string]uint64{"bcrypt": 16}, spent, "a sign-in that succeeds costs its own hash")
}

// TestDearestHashIsSpentAsItIs verifies that a sign-in of an unknown user computes the
// most expensive stored hash itself, not only work of the same number of units.
func TestDearestHashIsSpentAsItIs(t *testing.T) {
	h := credential.NewHasher(rand.Reader, 1)
	for _, hash := range []string{
		"$argon2id$v=19$m=65536,t=3,p=4$c29tZXNhbHQ$bQk8UB/VmZZF4Oo79iDXuL5/0ttZwg2f/5U52iv1cDc",
		"$scrypt$ln=10,r=8,p=5$MDEyMzQ1Njc4OWFiY2RlZg$OAkZqUBelG6VIYdTJfYSENL5OmZRxMa3GwXn5oFliTg",
		strings.Replace(bcryptHash, "$04$", "$06$", 1), oryHash,
	} {
		cost, fault := credential.ForeignHash(hash)
		require.Empty(t, fault)
		var spent []ledger.HashCost
		h.OnHash(func(c ledger.HashCost) {
			if c.Kind == cost.Kind {
				spent = append(spent, c)
			}
		})
		_, err := h.Check(t.Context(), "", "wrong", []ledger.HashCost{cost})
		require.NoError(t, err)
		assert.Equal(t, []ledger.HashCost{cost}, spent)
	}
}

// FuzzForeignHash verifies that what is accepted costs no more than the bounds, that argon2 is
// formatted unchanged, and that no reason for a refusal repeats a hash.
func FuzzForeignHash(f *testing.F) {
	for _, hash := range []string{
		cheap, bcryptHash, oryHash, scryptHash,
		"$argon2id$v=19$m=19456,t=2,p=1$AAAAAAAAAAAAAAAAAAAAAA$AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA",
		"pbkdf2_sha256$1000$lNaCl2kqBx7$8uLHZOu98PeerBj2PbGneD5wVVdk3UFOanmnbIbBhxo=",
		"$pbkdf2-sha512$1000$....MDEyMzQ1Njc4OQ$C1mCeCBDkpjyEFrWlwEHepj0KU4Y7TW4oB2.mMBxZ6xYdD/M.VJqmrGdXqKqz1YsAwydVxyU79gPmVLeKjSRXg",
	} {
		f.Add(hash)
	}
	most := map[string]uint64{
		"argon2id": 1_310_720, "argon2i": 1_310_720, "bcrypt": 1 << 14,
		"pbkdf2-sha256": 2_000_000, "pbkdf2-sha512": 2_000_000, "scrypt": 1 << 20,
	}
	f.Fuzz(func(t *testing.T, text string) {
		cost, fault := credential.ForeignHash(text)
		if fault != "" {
			require.LessOrEqual(t, len(fault), 100)
			require.Zero(t, cost)
			return
		}
		require.LessOrEqual(t, len(text), 256)
		require.Positive(t, cost.Units)
		require.LessOrEqual(t, cost.Units, most[cost.Kind])
		require.LessOrEqual(t, cost.Memory, uint32(128<<10))
		require.NotZero(t, cost.Lanes)
		if strings.HasPrefix(cost.Kind, "argon2") {
			normal, _ := credential.NormalArgon(text)
			require.Equal(t, text, normal)
		}
		if cost.Units <= 64 { // cheap enough to compute
			_, err := credential.CheckPassword(text, "p")
			require.NoError(t, err)
		}
	})
}

func ExampleForeignHash() {
	_, fault := credential.ForeignHash("$argon2id$v=19$m=4194304,t=3,p=4$c29tZXNhbHQ$nf65EOgLrQMR/uIPnA4rEsF5h7TKyQwu9U1bMCHGi/4")
	fmt.Println("password_hash", fault)
	// Output: password_hash asks for 4194304 KiB of memory: at most 131072 are accepted
}
