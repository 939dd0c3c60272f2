package parts

import (
	"embed"
	"html/template"
	"io/fs"

	"github.com/mintmark-auth/mintmark/issuer/web/ui"
)

//go:embed templates/parts
var templates embed.FS

const sharedParts = "templates/parts/*.html"

var pageFuncs = template.FuncMap{
	"state": StatePill,
}

// Parse parses the pages of an area, which may use the templates of this package.
func Parse(area fs.FS) (ui.Pages, error) {
	return ui.Parse(bothFS{area, templates}, pageFuncs, "templates/*.html", sharedParts)
}

// ParseCards is Parse for pages without navigation and script.
func ParseCards(area fs.FS) (ui.Pages, error) {
	return ui.ParseCards(bothFS{area, templates}, pageFuncs, "templates/*.html", sharedParts)
}

// bothFS has the files of two file systems, whose names differ.
type bothFS [2]fs.FS

// Open implements fs.FS.
func (b bothFS) Open(name string) (fs.File, error) {
	f, err := b[0].Open(name)
	if err != nil {
		return b[1].Open(name)
	}
	return f, nil
}

// Glob implements fs.GlobFS.
func (b bothFS) Glob(pattern string) ([]string, error) {
	first, err := fs.Glob(b[0], pattern)
	if err != nil {
		return nil, err
	}
	second, err := fs.Glob(b[1], pattern)
	return append(first, second...), err
}
