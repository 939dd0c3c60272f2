package photos

import (
	"bytes"
	"fmt"
	"html/template"
	"image"
	"image/color"
	"image/png"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// A report shows the pictures that differ, each beside the accepted one.
type report struct {
	rows []reportRow
}

type reportRow struct {
	Name          string
	Now, Accepted string // files; "" for none
	Marked        string
	Clear         int
}

const reportDir = "../../../.tools/photos"

var reportPage = template.Must(template.New("").Parse(`<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>Pictures that differ</title>
<style>body { font: 14px sans-serif; margin: 2rem } div { display: flex; gap: 1rem; align-items: start; overflow-x: auto } figure { margin: 0; flex: none } img { border: 1px solid #999 }</style>
</head><body><h1>{{len .}} pictures differ</h1>
{{range .}}<h2>{{.Name}}: {{.Clear}} pixels</h2><div>{{with .Accepted}}<figure><figcaption>Accepted</figcaption><img src="{{.}}" alt=""></figure>{{end}}
<figure><figcaption>Now</figcaption><img src="{{.Now}}" alt=""></figure>
{{with .Marked}}<figure><figcaption>Where</figcaption><img src="{{.}}" alt=""></figure>{{end}}</div>
{{end}}</body></html>
`))

func (r *report) add(t *testing.T, name, display string, now, accepted *image.RGBA) {
	t.Helper()
	if r.rows == nil {
		require.NoError(t, os.RemoveAll(reportDir))
		require.NoError(t, os.MkdirAll(reportDir, 0o755))
	}
	row := reportRow{Name: name + "-" + display}
	save := func(kind string, m image.Image) string {
		var b bytes.Buffer
		require.NoError(t, png.Encode(&b, m))
		file := fmt.Sprintf("%s-%s.png", row.Name, kind)
		require.NoError(t, os.WriteFile(filepath.Join(reportDir, file), b.Bytes(), 0o644))
		return file
	}
	row.Now = save("now", now)
	if accepted != nil {
		row.Accepted = save("accepted", accepted)
		var where []image.Point
		if row.Clear, where = different(now, accepted); len(where) > 0 {
			row.Marked = save("where", marked(now, where))
		}
	}
	r.rows = append(r.rows, row)
}

// marked returns a pale copy of a picture with red points.
func marked(m *image.RGBA, where []image.Point) image.Image {
	out := image.NewRGBA(m.Bounds())
	for i, v := range m.Pix {
		out.Pix[i] = 170 + v/3
	}
	for _, p := range where {
		out.SetRGBA(p.X, p.Y, color.RGBA{220, 0, 30, 255})
	}
	return out
}

func (r *report) write(t *testing.T) {
	t.Helper()
	if r.rows == nil {
		return
	}
	var b bytes.Buffer
	require.NoError(t, reportPage.Execute(&b, r.rows))
	require.NoError(t, os.WriteFile(filepath.Join(reportDir, "index.html"), b.Bytes(), 0o644))
}
