package web_test

import (
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	. "github.com/mintmark-auth/mintmark/issuer/web/webtest"
)

var (
	scenesDir  = flag.String("scenes", "", "write the pages of the scenes to this folder")
	scenesOnly = flag.String("scene", "", "only play scenes whose names match this regular expression")
)

// notPages are the routes with files instead of pages.
var notPages = []string{"GET /assets/:name", "GET /logos/:digest", "GET /feed/:address", "GET /admin/audit.jsonl", "GET /admin/branding/draft.css"}

// TestScenes verifies that each page has a scene, and that each scene can be played twice with
// the same result: its picture must not depend on anything else. To read the pages:
//
//	go test ./issuer/web -run TestScenes -scenes /tmp/scenes -scene 'consent.*'
func TestScenes(t *testing.T) {
	t.Parallel()
	only := regexp.MustCompile("^(?:" + *scenesOnly + ")$")
	shown := map[string]bool{} // paths
	names := map[string]bool{}
	stage := NewStage(t)
	again := stage
	if *scenesDir == "" {
		again = NewStage(t)
	}
	for _, scene := range Scenes() {
		require.False(t, names[scene.Name], "two scenes are %q", scene.Name)
		require.Regexp(t, `^[a-z0-9-]+$`, scene.Name)
		names[scene.Name] = true
		if *scenesOnly != "" && !only.MatchString(scene.Name) {
			continue
		}
		page, path := stage.Play(scene)
		shown[path] = true
		if *scenesDir != "" {
			require.NoError(t, os.WriteFile(filepath.Join(*scenesDir, scene.Name+".html"), []byte(page.Text), 0o644))
			continue
		}
		second, _ := again.Play(scene)
		assert.Equal(t, page.Text, second.Text, scene.Name)
	}
	if *scenesOnly != "" {
		return
	}
	var routes registered
	NewEnv(t, WithProvider).Web.Register(&routes)
	for _, route := range routes {
		pattern, ok := strings.CutPrefix(route, "GET ")
		if !ok {
			continue
		}
		found := false
		for path := range shown {
			found = found || matches(pattern, path)
		}
		file := false
		for _, one := range notPages {
			file = file || one == route
		}
		assert.True(t, found || file, "%s has no scene: add one to webtest/scenes_<area>.go", route)
	}
}

// matches reports whether a path matches a pattern, in which a part that begins with a colon
// matches anything.
func matches(pattern, path string) bool {
	want, got := strings.Split(pattern, "/"), strings.Split(path, "/")
	if len(want) != len(got) {
		return false
	}
	for i, part := range want {
		if part != got[i] && !strings.HasPrefix(part, ":") {
			return false
		}
	}
	return true
}
