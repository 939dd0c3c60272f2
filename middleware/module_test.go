package middleware_test

import (
	"archive/zip"
	"bytes"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestImporterKeepsItsModules: a service that adds this module keeps its version of Go
// and the versions of its own modules, and gets none of the server's.
func TestImporterKeepsItsModules(t *testing.T) {
	const library = "github.com/mintmark-auth/mintmark/"
	text, err := os.ReadFile("go.mod")
	require.NoError(t, err)
	version := regexp.MustCompile(library + `verifier (v\S+)`).FindSubmatch(text)
	require.NotNil(t, version, "go.mod requires no verifier")
	proxy := t.TempDir()
	publish(t, proxy, library+"middleware", string(version[1]), ".")
	publish(t, proxy, library+"verifier", string(version[1]), "../verifier")
	publish(t, proxy, "go.opentelemetry.io/otel", "v1.38.0", folder(t, map[string]string{
		"go.mod": "module go.opentelemetry.io/otel\n\ngo 1.23.0\n", "otel.go": "package otel\n",
	}))
	publish(t, proxy, "golang.org/x/crypto", "v0.45.0", folder(t, map[string]string{
		"go.mod": "module golang.org/x/crypto\n\ngo 1.24.0\n", "argon2/argon2.go": "package argon2\n",
	}))

	service := folder(t, map[string]string{
		"go.mod": "module example.com/service\n\ngo 1.25.0\n\nrequire (\n\tgo.opentelemetry.io/otel v1.38.0\n\tgolang.org/x/crypto v0.45.0\n)\n",
		"main.go": `package main

import (
	"net/http"

	_ "go.opentelemetry.io/otel"
	_ "golang.org/x/crypto/argon2"

	"github.com/mintmark-auth/mintmark/middleware"
	"github.com/mintmark-auth/mintmark/middleware/policy"
	"github.com/mintmark-auth/mintmark/verifier"
)

func main() {
	v, err := verifier.New(verifier.Config{Issuer: "https://auth.example.com", Audience: "https://api.example.com"})
	if err != nil {
		panic(err)
	}
	p, err := policy.New(policy.Scheduling(), policy.Config{SkipMember: true})
	if err != nil {
		panic(err)
	}
	panic(http.ListenAndServe("127.0.0.1:0", middleware.New(v, middleware.Config{}).Enforce(p)(http.NotFoundHandler())))
}
`,
		"main_test.go": `package main

import (
	"testing"

	"github.com/mintmark-auth/mintmark/verifier/verifiertest"
)

func TestService(*testing.T) { verifiertest.NewIssuer().Close() }
`,
	})
	cache := strings.TrimSpace(run(t, ".", nil, "env", "GOMODCACHE"))
	environment := []string{
		"GOPROXY=file://" + proxy + ",file://" + cache + "/cache/download", "GOSUMDB=off",
		"GOMODCACHE=" + t.TempDir(), "GOFLAGS=-modcacherw", "GOWORK=off", "GOTOOLCHAIN=local",
	}
	run(t, service, environment, "get", library+"middleware")
	run(t, service, environment, "mod", "tidy")
	run(t, service, environment, "vet", "./...")

	list := run(t, service, environment, "list", "-m", "-f", "{{if not .Indirect}}{{.Path}} {{.Version}} {{.GoVersion}}{{end}}", "all")
	assert.Equal(t, []string{
		"example.com/service  1.25.0",
		library + "middleware " + string(version[1]) + " 1.25.0",
		library + "verifier " + string(version[1]) + " 1.25.0",
		"go.opentelemetry.io/otel v1.38.0 1.23.0",
		"golang.org/x/crypto v0.45.0 1.24.0",
	}, strings.FieldsFunc(list, func(r rune) bool { return r == '\n' }))
	sums, err := os.ReadFile(filepath.Join(service, "go.sum"))
	require.NoError(t, err)
	known := regexp.MustCompile(`^(` + library + `(middleware|verifier)|go.opentelemetry.io/otel|golang.org/x/crypto|` +
		`github.com/stretchr/testify|github.com/davecgh/go-spew|github.com/pmezard/go-difflib|gopkg.in/(yaml.v3|check.v1)) `)
	for line := range strings.Lines(string(sums)) {
		assert.Regexp(t, known, line)
	}
}

// folder returns a new folder with files.
func folder(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
	}
	return dir
}

// publish puts a version of a module into a folder that serves as a module proxy
// (https://go.dev/ref/mod#goproxy-protocol).
func publish(t *testing.T, proxy, module, version, dir string) {
	t.Helper()
	files := os.DirFS(dir)
	var archive bytes.Buffer
	z := zip.NewWriter(&archive)
	require.NoError(t, fs.WalkDir(files, ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir():
			if _, err := fs.Stat(files, name+"/go.mod"); name != "." && err == nil {
				return fs.SkipDir // another module
			}
			return nil
		}
		content, err := fs.ReadFile(files, name)
		if err != nil {
			return err
		}
		w, err := z.Create(module + "@" + version + "/" + name)
		if err != nil {
			return err
		}
		_, err = w.Write(content)
		return err
	}))
	require.NoError(t, z.Close())
	text, err := fs.ReadFile(files, "go.mod")
	require.NoError(t, err)
	at := filepath.Join(proxy, filepath.FromSlash(module), "@v")
	require.NoError(t, os.MkdirAll(at, 0o755))
	for name, content := range map[string][]byte{
		"list": []byte(version + "\n"), version + ".info": []byte(`{"Version":"` + version + `"}`),
		version + ".mod": text, version + ".zip": archive.Bytes(),
	} {
		require.NoError(t, os.WriteFile(filepath.Join(at, name), content, 0o644))
	}
}

// run runs the go command in a folder and returns its output.
func run(t *testing.T, dir string, environment []string, arguments ...string) string {
	t.Helper()
	c := exec.Command("go", arguments...)
	c.Dir, c.Env = dir, append(os.Environ(), environment...)
	var problems bytes.Buffer
	c.Stderr = &problems
	out, err := c.Output()
	require.NoError(t, err, "go %s: %s", strings.Join(arguments, " "), &problems)
	return string(out)
}
