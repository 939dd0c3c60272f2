package ledger_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/mintmark-auth/mintmark/issuer/ledger"
)

// TestAccent compares the contrast in integers with the definition of WCAG 2.2 in floating-point
// numbers, and verifies that the color that is offered instead is valid.
func TestAccent(t *testing.T) {
	check := func(accent string) string {
		field, note := (&ledger.Brand{Accent: accent}).Check()
		require.Equal(t, note != "", field == "accent")
		return note
	}
	for accent, want := range map[string]string{
		"": "", "#000000": "", "#0b6b50": "", "#0B6B50": "", "#767676": "",
		"#777777": "#777777 is too light for white text (4.4:1, needs 4.5:1). The closest that works is #767676",
		"#ff8800": "#ff8800 is too light for white text (2.3:1, needs 4.5:1). The closest that works is #b56000",
		"#ffffff": "#ffffff is too light for white text (1.0:1, needs 4.5:1). The closest that works is #767676",
		"green":   "must be a color such as #0b6b50", "#0b6b5": "must be a color such as #0b6b50", "#0b6b5g": "must be a color such as #0b6b50",
		"0b6b500": "must be a color such as #0b6b50", "#0b6b500": "must be a color such as #0b6b50",
		"#0b6b5000": "must be a color such as #0b6b50",
	} {
		assert.Equal(t, want, check(accent), accent)
	}
	assert.Equal(t, "#767676", ledger.ReadableAccent("#ffffff"))
	for _, text := range []string{"", "green"} {
		assert.Empty(t, ledger.ReadableAccent(text), text)
	}
	channel := func(c byte) float64 {
		v := float64(c) / 255
		if v <= 0.04045 {
			return v / 12.92
		}
		return math.Pow((v+0.055)/1.055, 2.4)
	}
	rapid.Check(t, func(r *rapid.T) {
		rgb := [3]byte{rapid.Byte().Draw(r, "red"), rapid.Byte().Draw(r, "green"), rapid.Byte().Draw(r, "blue")}
		contrast := 1.05 / (0.2126*channel(rgb[0]) + 0.7152*channel(rgb[1]) + 0.0722*channel(rgb[2]) + 0.05)
		note := check(fmt.Sprintf("#%x", rgb))
		if math.Abs(contrast-4.5) > 0.001 {
			require.Equal(r, contrast < 4.5, note != "", "%x has %f", rgb, contrast)
		}
		if note != "" {
			i := strings.LastIndex(note, "#")
			require.Empty(r, check(note[i:i+7]), note)
		}
	})
}

// TestBrandFields verifies that every text of a brand is checked.
func TestBrandFields(t *testing.T) {
	long := strings.Repeat("x", 301)
	for key, texts := range map[string][2]string{ // the last valid one, and an invalid one
		"service_name": {long[:40], long[:41]}, "accent": {"#0b6b50", "#ffffff"},
		"privacy_url": {"https://a.example/p", "javascript:alert(1)"}, "terms_url": {"https://a.example/t", "/terms"},
		"help_url": {"http://a.example", "mailto:help@a.example"}, "forgot_password": {long[:300], long}, "forgot_password_url": {"https://a.example", "x"},
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

// TestLogoOfTheService verifies who sees the logo of the service and that of the draft.
func TestLogoOfTheService(t *testing.T) {
	w := newEnv(t)
	for _, line := range []string{"user alice", "user root admin", "sign-in root", "brand publish by=root logo=red", "brand draft by=root logo=blue"} {
		require.Equal(t, "ok", w.run(line), line)
	}
	v := w.view()
	for name, test := range map[string]struct {
		logo            string
		user            *ledger.User
		visible, public bool
	}{
		"its logo": {"red", nil, true, true}, "its logo, a user": {"red", v.User("u-alice"), true, true},
		"a draft": {"blue", nil, false, false}, "a draft, a user": {"blue", v.User("u-alice"), false, false},
		"a draft, an administrator": {"blue", v.User("u-root"), true, false},
	} {
		l, public := v.LogoFor(test.user, [32]byte(digestOfLogo(test.logo)))
		assert.Equal(t, test.visible, l != nil, name)
		assert.Equal(t, test.public, public, name)
	}
	l, _ := v.LogoFor(v.User("u-root"), [32]byte{})
	assert.Nil(t, l)
}
