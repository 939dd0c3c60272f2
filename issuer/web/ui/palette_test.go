package ui_test

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/issuer/ledger"
	"github.com/mintmark-auth/mintmark/issuer/web/ui"
)

// TestPalettes: each accent that the ledger accepts gives pairs that pass TestContrast in both
// themes.
func TestPalettes(t *testing.T) {
	style := string(ui.Served().Style.Text)
	var tokens [2]map[string]string
	for i, block := range regexp.MustCompile(`:root\{([^}]*\})`).FindAllStringSubmatch(style, 2) {
		tokens[i] = tokensOf(block[1])
	}
	random := rand.New(rand.NewPCG(1, 2))
	accepted := 0
	for n := range 4096 {
		accent := fmt.Sprintf("#%06x", random.IntN(1<<24))
		switch n {
		case 0:
			accent = "#000000"
		case 1:
			accent = "#0000ff"
		}
		brand := ledger.Brand{Accent: accent}
		if field, _ := brand.Check(); field != "" {
			continue
		}
		accepted++
		for i, block := range strings.Split(string(ui.BrandStyle(accent).Text), "@media (prefers-color-scheme:dark)") {
			colors := map[string]string{}
			for name, color := range tokens[0] {
				colors[name] = color
			}
			if i == 1 {
				for name, color := range tokens[1] {
					colors[name] = color
				}
			}
			own := tokensOf(strings.ReplaceAll(block, ":#", ": #") + ";")
			require.Len(t, own, 4, block)
			for name, color := range own {
				colors[name] = color
			}
			for _, pair := range pairs {
				for _, front := range strings.Fields(pair.fronts) {
					for _, back := range strings.Fields(pair.backs) {
						if got := contrast(t, colors[front], colors[back]); got < pair.least {
							t.Fatalf("%s, theme %d: %s #%s on %s #%s has %.2f", accent, i, front, colors[front], back, colors[back], got)
						}
					}
				}
			}
		}
	}
	assert.Greater(t, accepted, 1000)
}

// tokensOf returns the colors of tokens.
func tokensOf(css string) map[string]string {
	colors := map[string]string{}
	for _, m := range regexp.MustCompile(`--([a-z-]+): ?#([0-9a-f]{6})[;}]`).FindAllStringSubmatch(css, -1) {
		colors[m[1]] = m[2]
	}
	return colors
}

func TestBrandStyle(t *testing.T) {
	a := ui.BrandStyle("#4338ca")
	assert.Regexp(t, `^/assets/brand-[0-9a-f]{16}\.css$`, a.Path)
	assert.LessOrEqual(t, len(a.Text), 700)
	assert.Contains(t, string(a.Text), ":root{--accent:#4338ca;")
	assert.NotEqual(t, a.Path, ui.BrandStyle("#0b6b50").Path)
	none := string(ui.PaletteStyle(".card", ""))
	assert.Contains(t, none, ".card{--accent:#0b6b50;--accent-strong:#085440;--on-accent:#ffffff;--soft:#e1f2ea}")
	assert.Contains(t, none, ".card{--accent:#5fd3ab;")
	rows := ui.Contrasts("#767676")
	require.Len(t, rows, 3)
	assert.Equal(t, "Links", rows[0].What)
	for _, row := range rows {
		assert.Regexp(t, `^([4-9]|1\d|2[01])\.\d:1$`, row.Light)
		assert.Regexp(t, `^([4-9]|1\d|2[01])\.\d:1$`, row.Dark)
	}
}
