package photos

import (
	"bytes"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"testing"

	"github.com/stretchr/testify/require"
)

// pageLike returns a picture with areas of many colors and edges between them.
func pageLike() *image.RGBA {
	m := image.NewRGBA(image.Rect(0, 0, 320, 200))
	for y := range 200 {
		for x := range 320 {
			c := color.RGBA{250, 251, 250, 255}
			switch {
			case y%20 < 7 && x%9 == y%9: // text, with soft edges
				c = color.RGBA{uint8(21 + 3*(x%40)), 32, 27, 255}
			case x > 200 && y > 100:
				c = color.RGBA{11, 107, 80, 255}
			}
			m.SetRGBA(x, y, c)
		}
	}
	return m
}

func stored(t *testing.T, m *image.RGBA) *image.RGBA {
	t.Helper()
	decoded, err := png.Decode(bytes.NewReader(encode(t, m, palette(m))))
	require.NoError(t, err)
	out := image.NewRGBA(decoded.Bounds())
	draw.Draw(out, out.Bounds(), decoded, image.Point{}, draw.Src)
	return out
}

// TestDifferent verifies which changes of a picture are found.
func TestDifferent(t *testing.T) {
	for name, test := range map[string]struct {
		change func(*image.RGBA)
		found  bool
	}{
		"the same": {func(*image.RGBA) {}, false},
		"soft edges, drawn a little otherwise": {func(m *image.RGBA) {
			for y := range 7 {
				for x := range 320 {
					if p := at(m, x, y); p[0] < 200 {
						m.SetRGBA(x, y, color.RGBA{p[0] + 14, p[1] + 10, p[2], 255})
					}
				}
			}
		}, false},
		"another color of an area": {func(m *image.RGBA) {
			draw.Draw(m, image.Rect(201, 120, 320, 200), image.NewUniform(color.RGBA{11, 107, 90, 255}), image.Point{}, draw.Src)
		}, true},
		"another letter": {func(m *image.RGBA) {
			draw.Draw(m, image.Rect(40, 50, 42, 55), image.Black, image.Point{}, draw.Src)
		}, true},
		"a line is gone": {func(m *image.RGBA) {
			draw.Draw(m, image.Rect(0, 20, 320, 27), image.NewUniform(color.RGBA{250, 251, 250, 255}), image.Point{}, draw.Src)
		}, true},
	} {
		now := pageLike()
		then := stored(t, now)
		test.change(now)
		clear, _ := different(now, then)
		require.Equal(t, test.found, clear > mostClear, "%s: %d", name, clear)
		require.False(t, unlike(now, then), name)
	}
	higher := image.NewRGBA(image.Rect(0, 0, 320, 201))
	clear, _ := different(higher, pageLike())
	require.Greater(t, clear, mostClear)
}

// TestUnlike verifies that the rough comparison finds a page without its stylesheet.
func TestUnlike(t *testing.T) {
	now := pageLike()
	draw.Draw(now, image.Rect(0, 0, 320, 110), image.Black, image.Point{}, draw.Src)
	require.True(t, unlike(now, pageLike()))
	require.True(t, unlike(image.NewRGBA(image.Rect(0, 0, 320, 500)), pageLike()))
}
