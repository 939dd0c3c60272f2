package ui

import (
	"encoding/hex"
	"fmt"
	"math"
	"regexp"
	"strings"
	"sync"
)

// A Palette has the tokens of the stylesheet that follow from an accent, for one theme.
type Palette struct{ Accent, Strong, OnAccent, Soft string }

const (
	minText = 4.5 // contrast of text (WCAG 2.2 §1.4.3)
	// minDark is the contrast of the accent in the dark theme, where it is the lightest thing of
	// the page but the text.
	minDark = 6
)

// grounds are the tokens on which the accent stands.
var grounds = []string{"ground", "card", "raised", "sunken", "info-ground"}

// themes has the colors of the tokens in the light and the dark theme.
var themes = sync.OnceValue(func() (themes [2]map[string]color) {
	blocks := regexp.MustCompile(`(?s):root \{\n(.*?)\n\s*\}`).FindAllSubmatch(styleText, 2)
	for i, block := range blocks {
		themes[i] = map[string]color{}
		for _, m := range regexp.MustCompile(`--([a-z-]+): (#[0-9a-f]{6});`).FindAllSubmatch(block[1], -1) {
			themes[i][string(m[1])], _ = parseColor(string(m[2]))
		}
	}
	return themes
})

// Palettes returns the light and the dark palette of an accent such as #0b6b50, or those of the
// stylesheet for any other text. The accent itself is only made darker, and in the dark theme
// lighter, as far as its contrast to each ground needs it.
func Palettes(accent string) [2]Palette {
	var palettes [2]Palette
	chosen, ok := parseColor(accent)
	for i, tokens := range themes() {
		p := &palettes[i]
		if !ok {
			*p = Palette{tokens["accent"].String(), tokens["accent-strong"].String(), tokens["on-accent"].String(), tokens["soft"].String()}
			continue
		}
		end, least, on := black, minText, white
		if i == 1 {
			end, least, on = white, float64(minDark), tokens["ground"]
		}
		a := chosen
		for step := 0; !a.standsOn(tokens, least); step++ { // the end stands on all grounds
			a = chosen.mixed(end, float64(step)/64)
		}
		strong, soft := a.mixed(end, 0.2), tokens["card"].mixed(a, 0.14)
		for step := 0; contrast(strong, soft) < minText || contrast(tokens["text"], soft) < minText; step++ {
			strong, soft = a.mixed(end, 0.2+float64(step)/80), tokens["card"].mixed(a, max(0, 0.14-float64(step)/200))
		}
		*p = Palette{a.String(), strong.String(), on.String(), soft.String()}
	}
	return palettes
}

// standsOn reports whether a color has a contrast to each ground of a theme.
func (c color) standsOn(tokens map[string]color, least float64) bool {
	for _, name := range grounds {
		if contrast(c, tokens[name]) < least {
			return false
		}
	}
	return true
}

// BrandStyle returns the stylesheet that gives all pages an accent.
func BrandStyle(accent string) Asset {
	return newAsset("brand", "css", "text/css; charset=utf-8", PaletteStyle(":root", accent))
}

// PaletteStyle returns a stylesheet that gives an accent to what matches a selector.
func PaletteStyle(selector, accent string) []byte {
	p := Palettes(accent)
	rule := func(p Palette) string {
		return fmt.Sprintf("%s{--accent:%s;--accent-strong:%s;--on-accent:%s;--soft:%s}\n", selector, p.Accent, p.Strong, p.OnAccent, p.Soft)
	}
	return []byte(rule(p[0]) + "@media (prefers-color-scheme:dark){\n" + rule(p[1]) + "}\n")
}

// A ContrastRow is a contrast of a palette in words, in the light and the dark theme.
type ContrastRow struct{ What, Light, Dark string }

// Contrasts returns the least contrasts of an accent.
func Contrasts(accent string) []ContrastRow {
	palettes := Palettes(accent)
	rows := []ContrastRow{{What: "Links"}, {What: "Text on buttons"}, {What: "Text on highlights"}}
	for i, tokens := range themes() {
		color := func(text string) color { c, _ := parseColor(text); return c }
		p := palettes[i]
		links := math.Inf(1)
		for _, name := range grounds {
			links = min(links, contrast(color(p.Accent), tokens[name]))
		}
		for n, value := range []float64{links, contrast(color(p.OnAccent), color(p.Accent)), contrast(color(p.Strong), color(p.Soft))} {
			text := fmt.Sprintf("%.1f:1", math.Floor(value*10)/10)
			if i == 0 {
				rows[n].Light = text
			} else {
				rows[n].Dark = text
			}
		}
	}
	return rows
}

// A color has the channels of sRGB.
type color [3]byte

var black, white = color{}, color{0xff, 0xff, 0xff}

func parseColor(text string) (c color, ok bool) {
	digits, sharp := strings.CutPrefix(text, "#")
	b, err := hex.DecodeString(digits)
	if err != nil || !sharp || len(b) != len(c) {
		return c, false
	}
	return color(b), true
}

func (c color) String() string { return "#" + hex.EncodeToString(c[:]) }

// mixed returns a color with a share of another.
func (c color) mixed(other color, share float64) color {
	share = min(share, 1)
	for i := range c {
		c[i] = byte(math.Round(float64(c[i])*(1-share) + float64(other[i])*share))
	}
	return c
}

// contrast returns the contrast ratio of two colors (WCAG 2.2, "contrast ratio").
func contrast(a, b color) float64 {
	x, y := a.luminance(), b.luminance()
	return (max(x, y) + 0.05) / (min(x, y) + 0.05)
}

func (c color) luminance() (sum float64) {
	for i, weight := range []float64{0.2126, 0.7152, 0.0722} {
		channel := float64(c[i]) / 255
		if channel <= 0.04045 {
			channel /= 12.92
		} else {
			channel = math.Pow((channel+0.055)/1.055, 2.4)
		}
		sum += weight * channel
	}
	return sum
}
