package credential_test

import (
	"encoding/base64"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/issuer/credential"
	"github.com/mintmark-auth/mintmark/issuer/ledger"
)

var grant = [16]byte{0xDE, 0xAD, 0xBE, 0xEF, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}

func TestChainRoundTrip(t *testing.T) {
	keys := keyring(t)
	for name, l := range map[string]ledger.CredentialRef{
		"code":             {Key: 1, Grant: grant},
		"code, other key":  {Key: 2, Grant: grant},
		"first refresh":    {Key: 1, Grant: grant, Generation: 1},
		"last refresh":     {Key: 2, Grant: grant, Generation: math.MaxUint32},
		"grant of zeros":   {Key: 1, Generation: 7},
		"a later one":      {Key: 1, Grant: grant, Generation: 0x01020304},
		"generation 2 ^ 8": {Key: 1, Grant: grant, Generation: 256},
	} {
		t.Run(name, func(t *testing.T) {
			m := mac(t, keys, l.Key)
			if l.Generation == 0 {
				text := credential.MintCode(m, l).Reveal()
				assert.Regexp(t, `^mmc_[A-Za-z0-9_-]{76}$`, text)
				assert.Equal(t, text, credential.MintCode(m, l).Reveal())
				got, err := credential.ParseCode(text, keys)
				require.NoError(t, err)
				assert.Equal(t, l, got)
				_, err = credential.ParseRefresh(text, keys)
				require.ErrorIs(t, err, credential.ErrWrongKind)
				return
			}
			text := credential.MintRefresh(m, l).Reveal()
			assert.Regexp(t, `^mmr_[A-Za-z0-9_-]{76}$`, text)
			assert.Equal(t, text, credential.MintRefresh(m, l).Reveal(), "a retry must get the same token")
			got, err := credential.ParseRefresh(text, keys)
			require.NoError(t, err)
			assert.Equal(t, l, got)
			_, err = credential.ParseCode(text, keys)
			require.ErrorIs(t, err, credential.ErrWrongKind)
		})
	}
}

// TestChainFormatStaysTheSame pins one credential of each kind: grants live for a year, so
// their credentials must stay readable as long.
func TestChainFormatStaysTheSame(t *testing.T) {
	m := mac(t, keyring(t), 1)
	code := credential.MintCode(m, ledger.CredentialRef{Key: 1, Grant: grant}).Reveal()
	refresh := credential.MintRefresh(m, ledger.CredentialRef{Key: 1, Grant: grant, Generation: 1}).Reveal()
	assert.Equal(t, "mmc_AQAAAAHerb7vBAUGBwgJCgsMDQ4PAAAAAPtKitk3ZrH7vYYepdMgv7gVrSH60I6CGxokV7nAbUdT", code)
	assert.Equal(t, "mmr_AQAAAAHerb7vBAUGBwgJCgsMDQ4PAAAAAWymgm0LtCfDC4n29D6QSQMws1hpgx6M4U42WMSsE7Xq", refresh)
}

// TestEachBitIsAuthenticated flips every bit in turn.
func TestEachBitIsAuthenticated(t *testing.T) {
	keys := keyring(t)
	l := ledger.CredentialRef{Key: 1, Grant: grant, Generation: 5}
	text := credential.MintRefresh(mac(t, keys, 1), l).Reveal()
	raw, err := base64.RawURLEncoding.DecodeString(text[4:])
	require.NoError(t, err)
	require.Len(t, raw, 57)
	for i := range len(raw) * 8 {
		raw[i/8] ^= 1 << (i % 8)
		forged := "mmr_" + base64.RawURLEncoding.EncodeToString(raw)
		got, err := credential.ParseRefresh(forged, keys)
		require.Error(t, err, "bit %d", i)
		assert.Zero(t, got)
		switch at := i / 8; {
		case at == 0:
			require.ErrorIs(t, err, credential.ErrMalformed)
		case at < 5: // no flip turns key 1 into key 2
			require.ErrorIs(t, err, credential.ErrUnknownKey)
		default:
			require.ErrorIs(t, err, credential.ErrForged)
		}
		raw[i/8] ^= 1 << (i % 8)
	}
}

func TestParseRefuses(t *testing.T) {
	keys := keyring(t)
	m := mac(t, keys, 1)
	refresh := credential.MintRefresh(m, ledger.CredentialRef{Key: 1, Grant: grant, Generation: 3}).Reveal()
	code := credential.MintCode(m, ledger.CredentialRef{Key: 1, Grant: grant}).Reveal()
	other := credential.MintRefresh(mac(t, keys, 2), ledger.CredentialRef{Key: 1, Grant: grant, Generation: 3}).Reveal()
	gone := credential.MintRefresh(m, ledger.CredentialRef{Key: 9, Grant: grant, Generation: 3}).Reveal()

	for name, tc := range map[string]struct {
		text string
		want error
	}{
		"empty":                       {"", credential.ErrMalformed},
		"prefix only":                 {"mmr_", credential.ErrMalformed},
		"an access token":             {"eyJhbGciOiJFUzI1NiJ9.e30." + strings.Repeat("A", 86), credential.ErrMalformed},
		"a client secret":             {"mms_" + strings.Repeat("A", 43), credential.ErrMalformed},
		"secret's prefix":             {"mms_" + refresh[4:], credential.ErrMalformed},
		"upper case prefix":           {"MMR_" + refresh[4:], credential.ErrMalformed},
		"no prefix":                   {refresh[4:], credential.ErrMalformed},
		"cut":                         {refresh[:79], credential.ErrMalformed},
		"longer":                      {refresh + "A", credential.ErrMalformed},
		"padded":                      {refresh + "=", credential.ErrMalformed},
		"space before":                {" " + refresh[:79], credential.ErrMalformed},
		"line break at the end":       {refresh[:79] + "\n", credential.ErrMalformed},
		"line break beside all":       {refresh + "\n", credential.ErrMalformed},
		"line breaks inside":          {refresh[:40] + "\r\n" + refresh[42:], credential.ErrMalformed},
		"other alphabet":              {refresh[:10] + "+" + refresh[11:], credential.ErrMalformed},
		"not ASCII":                   {refresh[:10] + "é" + refresh[12:], credential.ErrMalformed},
		"code relabelled":             {"mmr_" + code[4:], credential.ErrMalformed},
		"under another key's id":      {other, credential.ErrForged},
		"under a key that is gone":    {gone, credential.ErrUnknownKey},
		"forged code for a refresh":   {code[:79] + flip(code[79]), credential.ErrForged},
		"code with a generation":      {"mmc_" + refresh[4:], credential.ErrMalformed},
		"MAC of zeros":                {refresh[:38] + strings.Repeat("A", 42), credential.ErrForged},
		"genuine, of the other kind":  {code, credential.ErrWrongKind},
		"very long":                   {refresh + strings.Repeat("A", 1<<20), credential.ErrMalformed},
		"two credentials in a string": {refresh + refresh, credential.ErrMalformed},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := credential.ParseRefresh(tc.text, keys)
			require.ErrorIs(t, err, tc.want)
			assert.Zero(t, got)
			if len(tc.text) > 40 {
				assert.NotContains(t, err.Error(), tc.text[10:40])
			}
		})
	}
}

func flip(c byte) string {
	if c == 'A' {
		return "B"
	}
	return "A"
}

// TestKindIsAuthenticated computes the MAC of generation 0 for each kind; only the prefix
// differs.
func TestKindIsAuthenticated(t *testing.T) {
	recorded := &recorder{MAC: mac(t, keyring(t), 1)}
	l := ledger.CredentialRef{Key: 1, Grant: grant}
	credential.MintCode(recorded, l)
	l.Generation = 1
	credential.MintRefresh(recorded, l)
	require.Len(t, recorded.inputs, 2)
	code, refresh := recorded.inputs[0], recorded.inputs[1]
	assert.Equal(t, "mmc_\x01\x00\x00\x00\x01"+string(grant[:])+"\x00\x00\x00\x00", code)
	assert.Equal(t, "mmr_\x01\x00\x00\x00\x01"+string(grant[:])+"\x00\x00\x00\x01", refresh)
}

type recorder struct {
	credential.MAC
	inputs []string
}

func (r *recorder) Sum(parts ...[]byte) [32]byte {
	var input string
	for _, p := range parts {
		input += string(p)
	}
	r.inputs = append(r.inputs, input)
	return r.MAC.Sum(parts...)
}

func TestMintRefusesTheWrongGeneration(t *testing.T) {
	m := mac(t, keyring(t), 1)
	assert.Panics(t, func() { credential.MintCode(m, ledger.CredentialRef{Generation: 1}) })
	assert.Panics(t, func() { credential.MintRefresh(m, ledger.CredentialRef{}) })
}

// FuzzParse verifies that a text that parses is exactly what minting its reference gives: no
// credential has a second encoding.
func FuzzParse(f *testing.F) {
	keys := keyring(f)
	m := mac(f, keys, 1)
	f.Add(credential.MintCode(m, ledger.CredentialRef{Key: 1, Grant: grant}).Reveal())
	f.Add(credential.MintRefresh(m, ledger.CredentialRef{Key: 1, Grant: grant, Generation: 1}).Reveal())
	f.Add(credential.MintRefresh(mac(f, keys, 2), ledger.CredentialRef{Key: 2, Generation: 1 << 31}).Reveal())
	f.Add("mmr_" + strings.Repeat("A", 76))
	f.Add("mmc_" + strings.Repeat("\n", 76))
	f.Fuzz(func(t *testing.T, text string) {
		code, errCode := credential.ParseCode(text, keys)
		refresh, errRefresh := credential.ParseRefresh(text, keys)
		require.False(t, errCode == nil && errRefresh == nil)
		if errCode == nil {
			require.Equal(t, text, credential.MintCode(mac(t, keys, code.Key), code).Reveal())
			require.ErrorIs(t, errRefresh, credential.ErrWrongKind)
		}
		if errRefresh == nil {
			require.Equal(t, text, credential.MintRefresh(mac(t, keys, refresh.Key), refresh).Reveal())
			require.ErrorIs(t, errCode, credential.ErrWrongKind)
		}
	})
}

// FuzzChain verifies the round trip for every reference, and that a changed character is never
// accepted.
func FuzzChain(f *testing.F) {
	keys := keyring(f)
	m := mac(f, keys, 1)
	f.Add([]byte("0123456789abcdef"), uint32(1), byte(3), byte('x'))
	f.Fuzz(func(t *testing.T, id []byte, generation uint32, at, with byte) {
		l := ledger.CredentialRef{Key: 1, Generation: max(generation, 1)}
		copy(l.Grant[:], id)
		text := credential.MintRefresh(m, l).Reveal()
		got, err := credential.ParseRefresh(text, keys)
		require.NoError(t, err)
		require.Equal(t, l, got)

		b := []byte(text)
		b[int(at)%len(b)] = with
		if string(b) != text {
			_, err := credential.ParseRefresh(string(b), keys)
			require.Error(t, err)
		}
	})
}
