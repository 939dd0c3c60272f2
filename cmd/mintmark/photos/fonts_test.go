package photos

import (
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// fonts are the files that the browser may use.
var fonts = []string{"DejaVuSans.ttf", "DejaVuSans-Bold.ttf", "DejaVuSansMono.ttf", "DejaVuSansMono-Bold.ttf"}

// fontFolders are where systems install them.
var fontFolders = []string{
	"/usr/share/fonts/truetype/dejavu", "/usr/share/fonts/dejavu-sans-fonts", "/usr/share/fonts/dejavu-sans-mono-fonts",
	"/usr/share/fonts/dejavu", "/usr/share/fonts/TTF", os.ExpandEnv("$HOME/Library/Fonts"),
}

func fontFile(t testing.TB, name string) string {
	t.Helper()
	for _, folder := range fontFolders {
		if file := filepath.Join(folder, name); exists(file) {
			return file
		}
	}
	t.Fatalf("%s is not installed: run make deps", name)
	return ""
}

func exists(file string) bool {
	_, err := os.Stat(file)
	return err == nil
}

// fontConfig names the only fonts. Without hinting, glyphs don't depend on FreeType's version much.
const fontConfig = `<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "fonts.dtd">
<fontconfig>
<dir>%[1]s/fonts</dir>
<cachedir>%[1]s/cache</cachedir>
<match target="pattern"><test name="family"><string>monospace</string></test>
<edit name="family" mode="prepend" binding="strong"><string>DejaVu Sans Mono</string></edit></match>
<match target="pattern"><edit name="family" mode="append"><string>DejaVu Sans</string></edit></match>
<match target="font"><edit name="antialias" mode="assign"><bool>true</bool></edit>
<edit name="hinting" mode="assign"><bool>false</bool></edit><edit name="hintstyle" mode="assign"><const>hintnone</const></edit>
<edit name="rgba" mode="assign"><const>none</const></edit></match>
</fontconfig>
`

// writeFonts returns a configuration of fontconfig.
func writeFonts(t testing.TB) string {
	t.Helper()
	dir := t.TempDir()
	require.NoError(t, os.MkdirAll(filepath.Join(dir, "fonts"), 0o755))
	for _, name := range fonts {
		require.NoError(t, os.Symlink(fontFile(t, name), filepath.Join(dir, "fonts", name)))
	}
	file := filepath.Join(dir, "fonts.conf")
	require.NoError(t, os.WriteFile(file, fmt.Appendf(nil, fontConfig, dir), 0o644))
	return file
}

// digestOfFonts identifies the versions of the fonts.
func digestOfFonts(t testing.TB) string {
	t.Helper()
	all := sha256.New()
	for _, name := range fonts {
		text, err := os.ReadFile(fontFile(t, name))
		require.NoError(t, err)
		_, _ = all.Write(text)
	}
	return fmt.Sprintf("%x", all.Sum(nil)[:8])
}
