package photos

import (
	"bytes"
	"cmp"
	"image"
	"image/color"
	"image/png"
	"maps"
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

const (
	// maxColors bounds a palette.
	maxColors = 256
	// coarse is how much a channel of a stored picture may differ from the picture taken, where
	// neighbouring pixels differ. Flat areas have their exact color.
	coarse = 40
	// clearly is by how much a channel of a pixel at an edge must differ to be another one, and
	// clearlyFlat in flat areas.
	clearly, clearlyFlat = coarse + 16, 6
	// mostClear is the number of pixels that may differ clearly, with a neighbour that does too.
	mostClear = 3
)

type pixel = [4]uint8

func at(m *image.RGBA, x, y int) pixel {
	i := m.PixOffset(x, y)
	return pixel(m.Pix[i : i+4])
}

// apart returns the greatest difference of a channel.
func apart(a, b pixel) int {
	most := 0
	for i := range 3 {
		most = max(most, int(a[i])-int(b[i]), int(b[i])-int(a[i]))
	}
	return most
}

// unlikeness is how another color would look: a difference of hue counts double.
func unlikeness(a, b pixel) int {
	hue := func(p pixel, i int) int { return int(p[i]) - int(p[1]) }
	return max(apart(a, b), 2*abs(hue(a, 0)-hue(b, 0)), 2*abs(hue(a, 2)-hue(b, 2)))
}

// flat reports whether a pixel has the color of its neighbours.
func flat(m *image.RGBA, x, y int) bool {
	p, b := at(m, x, y), m.Bounds()
	return (x == b.Min.X || at(m, x-1, y) == p) && (x == b.Max.X-1 || at(m, x+1, y) == p) &&
		(y == b.Min.Y || at(m, x, y-1) == p) && (y == b.Max.Y-1 || at(m, x, y+1) == p)
}

// palette returns few colors: those of flat areas, and others so that each color of the picture
// has one near it.
func palette(m *image.RGBA) []pixel {
	flats, all := map[pixel]int{}, map[pixel]int{}
	for y := range m.Bounds().Dy() {
		for x := range m.Bounds().Dx() {
			p := at(m, x, y)
			if all[p]++; flat(m, x, y) {
				flats[p]++
			}
		}
	}
	order := func(a, b pixel) int { return slices.Compare(a[:], b[:]) }
	chosen := slices.SortedFunc(maps.Keys(flats), func(a, b pixel) int { return cmp.Or(flats[b]-flats[a], order(a, b)) })
	chosen = chosen[:min(len(chosen), maxColors*3/4)]
	rest := slices.SortedFunc(maps.Keys(all), order)
	distance := make([]int, len(rest))
	for i, p := range rest {
		distance[i] = math.MaxInt
		for _, c := range chosen {
			distance[i] = min(distance[i], unlikeness(p, c))
		}
	}
	for len(chosen) < maxColors {
		farthest := 0
		for i := range rest {
			if distance[i] > distance[farthest] {
				farthest = i
			}
		}
		if distance[farthest] <= coarse {
			break
		}
		chosen = append(chosen, rest[farthest])
		for i, p := range rest {
			distance[i] = min(distance[i], unlikeness(p, chosen[len(chosen)-1]))
		}
	}
	return chosen
}

// encode returns a picture as a small PNG.
func encode(t testing.TB, m *image.RGBA, colors []pixel) []byte {
	t.Helper()
	p := make(color.Palette, len(colors))
	for i, c := range colors {
		p[i] = color.RGBA{c[0], c[1], c[2], 255}
	}
	out, known := image.NewPaletted(m.Bounds(), p), map[pixel]uint8{}
	for y := range m.Bounds().Dy() {
		for x := range m.Bounds().Dx() {
			c := at(m, x, y)
			index, ok := known[c]
			if !ok {
				index = nearest(c, colors)
				known[c] = index
			}
			out.Pix[out.PixOffset(x, y)] = index
		}
	}
	var b bytes.Buffer
	require.NoError(t, (&png.Encoder{CompressionLevel: png.BestCompression}).Encode(&b, out))
	return b.Bytes()
}

func nearest(c pixel, colors []pixel) uint8 {
	best := 0
	for i := range colors {
		if unlikeness(c, colors[i]) < unlikeness(c, colors[best]) {
			best = i
		}
	}
	return uint8(best)
}

// different returns the number of pixels that differ clearly from the accepted picture and have a
// neighbour that does, and where they are.
func different(now, accepted *image.RGBA) (clear int, where []image.Point) {
	b := now.Bounds()
	if b != accepted.Bounds() {
		return b.Dx() * b.Dy(), nil
	}
	differs := make([]bool, b.Dx()*b.Dy())
	for y := range b.Dy() {
		row, other := now.Pix[y*now.Stride:][:4*b.Dx()], accepted.Pix[y*accepted.Stride:][:4*b.Dx()]
		if bytes.Equal(row, other) {
			continue
		}
		for x := range b.Dx() {
			d := apart(pixel(row[4*x:4*x+4]), pixel(other[4*x:4*x+4]))
			differs[y*b.Dx()+x] = d > clearly || d > clearlyFlat && flat(now, x, y) && flat(accepted, x, y)
		}
	}
	near := func(x0, y0 int) (n int) { // the pixel and its neighbours that differ
		for y := max(0, y0-1); y <= min(b.Dy()-1, y0+1); y++ {
			for x := max(0, x0-1); x <= min(b.Dx()-1, x0+1); x++ {
				if differs[y*b.Dx()+x] {
					n++
				}
			}
		}
		return n
	}
	for i, d := range differs {
		if x, y := i%b.Dx(), i/b.Dx(); d && near(x, y) > 1 {
			where = append(where, image.Pt(x, y))
		}
	}
	return len(where), where
}

const block = 16 // pixels

// unlike reports whether two pictures of a page can't be of the same design, whatever browser
// and fonts took them: one is much longer, or many blocks have another brightness.
func unlike(now, accepted *image.RGBA) bool {
	a, b := now.Bounds(), accepted.Bounds()
	if a.Dx() != b.Dx() || 4*max(a.Dy(), b.Dy()) > 5*min(a.Dy(), b.Dy())+4*block {
		return true
	}
	others, all := 0, 0
	for y := 0; y+block <= min(a.Dy(), b.Dy()); y += block {
		for x := 0; x+block <= a.Dx(); x += block {
			if all++; abs(brightness(now, x, y)-brightness(accepted, x, y)) > 48 {
				others++
			}
		}
	}
	return 4*others > all
}

func brightness(m *image.RGBA, x0, y0 int) (mean int) {
	for y := range block {
		for x := range block {
			p := at(m, x0+x, y0+y)
			mean += (int(p[0]) + int(p[1]) + int(p[2])) / 3
		}
	}
	return mean / (block * block)
}

func abs(n int) int { return max(n, -n) }
