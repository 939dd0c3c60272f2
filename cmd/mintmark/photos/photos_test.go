package photos

import (
	"bytes"
	"flag"
	"fmt"
	"image"
	"image/draw"
	"image/png"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/issuer/web/webtest"
)

var (
	accept = flag.String("accept", "", "accept the pictures of the scenes whose names match this regular expression")
	readme = flag.Bool("readme", false, "write the pictures of the documents")
)

const (
	accepted = "accepted"
	made     = accepted + "/MADE" // the browser and the fonts of the pictures
	ui       = "../../../issuer/web/ui"
	specimen = ui + "/testdata/golden/specimen.html"
)

// An album has the accepted pictures and compares others with them.
type album struct {
	accept *regexp.Regexp // nil for none
	strict bool           // the pictures were made by the same browser with the same fonts
	report report
}

func openAlbum(t *testing.T, c *camera) *album {
	t.Helper()
	a := &album{}
	now := fmt.Sprintf("browser %s\nfonts %s\nprocessor %s\n", c.version, digestOfFonts(t), runtime.GOARCH)
	then, err := os.ReadFile(made)
	a.strict = string(then) == now
	if *accept != "" {
		a.accept = regexp.MustCompile("^(?:" + *accept + ")$")
		if !a.strict {
			require.True(t, err != nil || *accept == ".*", "the accepted pictures have another browser or other fonts: accept all of them")
			require.NoError(t, os.MkdirAll(accepted, 0o755))
			require.NoError(t, os.WriteFile(made, []byte(now), 0o644))
		}
	} else if !a.strict {
		t.Logf("compared roughly: the accepted pictures have another browser or other fonts:\n%snow:\n%s", then, now)
	}
	return a
}

// compare compares a picture with the accepted one, or accepts it.
func (a *album) compare(t *testing.T, name, display string, now *image.RGBA) {
	t.Helper()
	file := filepath.Join(accepted, name+"-"+display+".png")
	then, err := readPicture(file)
	same := err == nil && a.same(now, then)
	switch {
	case a.accept != nil && a.accept.MatchString(name):
		if !same || !a.strict {
			require.NoError(t, os.WriteFile(file, encode(t, now, palette(now)), 0o644))
		}
	case os.IsNotExist(err):
		t.Errorf("no picture is accepted: make photos ACCEPT='%s'", name)
		a.report.add(t, name, display, now, nil)
	case err != nil:
		t.Error(err)
	case !same:
		t.Errorf("the picture %s differs from the accepted one: see .tools/photos/index.html, and make photos ACCEPT='%s'", display, name)
		a.report.add(t, name, display, now, then)
	}
}

func (a *album) same(now, then *image.RGBA) bool {
	if !a.strict {
		return !unlike(now, then)
	}
	clear, _ := different(now, then)
	return clear <= mostClear
}

func readPicture(file string) (*image.RGBA, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	m, err := png.Decode(bytes.NewReader(text))
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", file, err)
	}
	out := image.NewRGBA(m.Bounds())
	draw.Draw(out, out.Bounds(), m, m.Bounds().Min, draw.Src)
	return out, nil
}

// serve serves the page that is in text, the files of the pages, and the components.
func serve(t *testing.T, stage *webtest.Stage, text *string) string {
	t.Helper()
	files := http.FileServer(http.Dir(ui))
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.URL.Path == "/scene":
			w.Header().Set("Content-Type", "text/html; charset=utf-8")
			_, _ = w.Write([]byte(*text))
		case strings.HasPrefix(r.URL.Path, "/assets/"), strings.HasPrefix(r.URL.Path, "/logos/"):
			stage.Handler.ServeHTTP(w, r)
		case r.URL.Path == "/admin/branding/draft.css": // of the draft that only the scene has, for its user
			style := stage.Shown.Get(r.URL.Path)
			w.Header().Set("Content-Type", style.Header.Get("Content-Type"))
			_, _ = w.Write([]byte(style.Text))
		default:
			files.ServeHTTP(w, r)
		}
	}))
	t.Cleanup(s.Close)
	return s.URL
}

// TestPhotographs compares a picture of each scene and of each component with the accepted one.
func TestPhotographs(t *testing.T) {
	c, stage, text := newCamera(t), webtest.NewStage(t), ""
	a, address := openAlbum(t, c), serve(t, stage, &text)
	t.Cleanup(func() { a.report.write(t) })
	t.Run("components", func(t *testing.T) {
		c.t = t
		c.open(address + "/testdata/golden/specimen.html")
		for _, d := range displays {
			c.show(d)
			for _, name := range components(t) {
				a.compare(t, name, d.String(), c.component(strings.TrimPrefix(name, "component-")))
			}
			evaluate[any](c, `document.querySelectorAll('[data-specimen]').forEach(e => { e.style.display = '' })`)
		}
	})
	for _, scene := range webtest.Scenes() {
		t.Run(scene.Name, func(t *testing.T) {
			c.t, stage.T = t, t
			shown, _ := stage.Play(scene)
			text = shown.Text
			c.open(address + "/scene")
			for _, d := range displays {
				a.compare(t, scene.Name, d.String(), c.whole(d))
			}
		})
	}
}

// components are the names of the pictures of the components.
func components(t *testing.T) (names []string) {
	t.Helper()
	text, err := os.ReadFile(specimen)
	require.NoError(t, err)
	for _, m := range regexp.MustCompile(`data-specimen="([a-z]+)"`).FindAllStringSubmatch(string(text), -1) {
		names = append(names, "component-"+m[1])
	}
	require.NotEmpty(t, names)
	return names
}

// TestEveryPictureHasAScene verifies that no picture is left of a scene that is gone.
func TestEveryPictureHasAScene(t *testing.T) {
	names := components(t)
	for _, scene := range webtest.Scenes() {
		names = append(names, scene.Name)
	}
	var files []string
	for _, name := range names {
		for _, d := range displays {
			files = append(files, name+"-"+d.String()+".png")
		}
	}
	list, err := os.ReadDir(accepted)
	require.NoError(t, err)
	for _, file := range list {
		if name := file.Name(); name != filepath.Base(made) && !slices.Contains(files, name) {
			if *accept == ".*" {
				require.NoError(t, os.Remove(filepath.Join(accepted, name)))
				continue
			}
			t.Errorf("%s/%s has no scene: delete it", accepted, name)
		}
	}
}

// TestDocumentsPictures writes the pictures of README.md and issuer/README.md, with the flag
// -readme, and verifies that they are small.
func TestDocumentsPictures(t *testing.T) {
	const dir = "../../../issuer/web/pictures"
	if *readme {
		c, stage, text := newCamera(t), webtest.NewStage(t), ""
		address := serve(t, stage, &text)
		for _, p := range []struct {
			file, scene string
			display     display
			most        int // pixels of height
		}{
			{"consent", "consent-controls", display{840, 600, "light", 1}, 1000},
			{"application", "application", display{1200, 600, "light", 0.75}, 720},
			{"review", "review-change", display{1200, 600, "light", 0.75}, 720},
		} {
			i := slices.IndexFunc(webtest.Scenes(), func(s webtest.Scene) bool { return s.Name == p.scene })
			shown, _ := stage.Play(webtest.Scenes()[i])
			text = shown.Text
			c.open(address + "/scene")
			m := c.whole(p.display)
			m = m.SubImage(image.Rect(0, 0, m.Bounds().Dx(), min(p.most, m.Bounds().Dy()))).(*image.RGBA)
			require.NoError(t, os.WriteFile(filepath.Join(dir, p.file+".png"), encode(t, m, palette(m)), 0o644))
		}
	}
	files, err := filepath.Glob(dir + "/*.png")
	require.NoError(t, err)
	require.Len(t, files, 3)
	for _, file := range files {
		info, err := os.Stat(file)
		require.NoError(t, err)
		require.LessOrEqual(t, info.Size(), int64(40<<10), file)
	}
}
