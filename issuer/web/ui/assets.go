package ui

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"fmt"
	"html/template"
	"regexp"
	"slices"
	"sync"
)

//go:embed style.css
var styleText []byte

//go:embed script.js
var scriptText []byte

//go:embed icon.svg
var iconText []byte

//go:embed icons.svg
var iconsText []byte

// PathAssets is the folder of the assets' paths.
const PathAssets = "/assets/"

// An Asset is an immutable file: its path contains its digest.
type Asset struct {
	Path, ContentType string
	Text              []byte
}

// Assets are the files that pages refer to.
type Assets struct{ Style, Script, Icons, Icon Asset }

// Served returns the assets as they are served.
var Served = sync.OnceValue(func() Assets {
	return Assets{
		Style:  newAsset("style", "css", "text/css; charset=utf-8", gaps.ReplaceAll(shortened(styleText), []byte("$1$2"))),
		Script: newAsset("script", "js", "text/javascript; charset=utf-8", shortened(scriptText)),
		Icons:  newAsset("icons", "svg", "image/svg+xml", iconsText),
		Icon:   newAsset("icon", "svg", "image/svg+xml", iconText),
	}
})

func newAsset(name, ext, contentType string, text []byte) Asset {
	sum := sha256.Sum256(text)
	return Asset{
		Path:        PathAssets + name + "-" + hex.EncodeToString(sum[:8]) + "." + ext,
		ContentType: contentType, Text: text,
	}
}

var (
	comments = regexp.MustCompile(`(?ms)^[\t ]*(//[^\n]*|/\*.*?\*/[\t ]*)$`)
	indents  = regexp.MustCompile(`(?m)^[\t ]+|^\n`)
	// A style sheet needs no space around these. One before a colon is a
	// combinator, and those around the plus of calc are part of it.
	gaps = regexp.MustCompile(`\s*([{};,>])\s*|(:)\s+`)
)

// shortened removes comments that fill whole lines, indents and empty lines.
func shortened(text []byte) []byte {
	text = comments.ReplaceAll(text, nil)
	text = indents.ReplaceAll(text, nil)
	return bytes.TrimLeft(indents.ReplaceAll(text, nil), "\n")
}

// Icons are the names of the symbols in the sprite.
var Icons = sync.OnceValue(func() []string {
	var names []string
	for _, m := range regexp.MustCompile(`<symbol id="([a-z]+)"`).FindAllSubmatch(iconsText, -1) {
		names = append(names, string(m[1]))
	}
	return names
})

// icon returns the markup of a symbol. It is decoration: a word is always beside it.
func icon(name string) (template.HTML, error) {
	if !slices.Contains(Icons(), name) {
		return "", fmt.Errorf("no icon %q", name)
	}
	//nolint:gosec // both parts are constants of this package
	return template.HTML(`<svg class="i" aria-hidden="true"><use href="` + Served().Icons.Path + `#` + name + `"/></svg>`), nil
}
