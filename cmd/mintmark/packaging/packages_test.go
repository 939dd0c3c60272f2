package packaging_test

import (
	"encoding/json"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/cluster/clustertest"
	"github.com/mintmark-auth/mintmark/cmd/mintmark/internal/testkit"
)

// root is the checkout of the program.
const root = "../../.."

// requireDebian fails a test where it can't run. Its programs are those of Debian, which make
// deps installs.
func requireDebian(t *testing.T) {
	t.Helper()
	require.FileExists(t, "/etc/debian_version", "the packages are tested on Debian, with what make deps installs")
	require.Zero(t, os.Geteuid(), "the packages are tested by root, with what make deps installs")
}

// released makes a release of a tagged copy of the checkout for this machine, in a folder of
// its own, and returns its folder.
func released(t *testing.T, source, version string) string {
	t.Helper()
	clone := filepath.Join(t.TempDir(), "clone")
	testkit.Output(t, "", nil, "git", "clone", "--quiet", "file://"+source, clone)
	testkit.Output(t, clone, nil, "git", "tag", version)
	testkit.Output(t, clone, nil, "cmd/mintmark/packaging/release", "linux/"+runtime.GOARCH)
	return filepath.Join(clone, "bin", "release")
}

// TestReleaseIsReproducible: two releases of one commit, made in different folders, are equal
// byte by byte, and have what they promise. What the packages install is tested with them.
// Both use the build cache of this machine: to compile everything twice takes two to three
// minutes of a processor more, and would test the compiler, whose own tests do that. What
// depends on the folder, the time or the environment is in the link and in the packages, which
// are made twice.
func TestReleaseIsReproducible(t *testing.T) {
	requireDebian(t)
	const version = "v0.1.0"
	source := testkit.CopyCheckout(t, root)
	revision := strings.TrimSpace(testkit.Output(t, source, nil, "git", "rev-parse", "HEAD"))
	dir, name := released(t, source, version), "mintmark-"+version+"-linux-"+runtime.GOARCH
	sums, err := os.ReadFile(filepath.Join(dir, "SHA256SUMS"))
	require.NoError(t, err)
	again, err := os.ReadFile(filepath.Join(released(t, source, version), "SHA256SUMS"))
	require.NoError(t, err)
	require.Equal(t, string(sums), string(again))
	require.Equal(t, 4, strings.Count(string(sums), name+"."))
	testkit.Output(t, dir, nil, "sha256sum", "--check", "SHA256SUMS")

	testkit.Output(t, dir, nil, "tar", "-xf", name+".tar.gz")
	program := filepath.Join(dir, name, "mintmark")
	require.Contains(t, testkit.Output(t, dir, nil, program, "version"), "mintmark version "+version+" (revision "+revision+", ")
	require.NotContains(t, testkit.Output(t, dir, nil, "go", "version", "-m", program), "CGO_ENABLED=1")

	// The SBOM has each module that the program has.
	text, err := os.ReadFile(filepath.Join(dir, name+".cdx.json"))
	require.NoError(t, err)
	var bom struct {
		BOMFormat, SpecVersion string
		Metadata               struct{ Component struct{ Version string } }
		Components             []struct{ Name, Version, PURL string }
	}
	require.NoError(t, json.Unmarshal(text, &bom))
	require.Equal(t, "CycloneDX", bom.BOMFormat)
	require.Equal(t, version, bom.Metadata.Component.Version)
	modules := regexp.MustCompile(`(?m)^\tdep\t(\S+)\t(\S+)`).FindAllStringSubmatch(testkit.Output(t, dir, nil, "go", "version", "-m", program), -1)
	require.Len(t, bom.Components, len(modules)+1, "and the standard library")
	for i, m := range modules {
		c := bom.Components[i+1]
		require.Equal(t, m[1], c.Name)
		require.True(t, strings.HasPrefix(c.PURL, "pkg:golang/"+m[1]+"@v"), c.PURL)
	}

	t.Run("deb", func(t *testing.T) { testDeb(t, filepath.Join(dir, name+".deb")) })
	t.Run("rpm", func(t *testing.T) { testRPM(t, filepath.Join(dir, name+".rpm"), program) })
}

// A chroot is a small system with dpkg's administration, in which scripts find the programs
// that they call, and a systemctl that only records how it is called.
type chroot struct {
	t   *testing.T
	dir string
}

const fakeSystemctl = "#!/bin/sh\necho \"$@\" >> /systemctl.log\n"

func newChroot(t *testing.T, programs ...string) *chroot {
	t.Helper()
	c := &chroot{t, t.TempDir()}
	require.NoError(t, os.Chmod(c.dir, 0o755))
	for _, folder := range []string{"etc", "tmp", "run/systemd/system", "var/lib/dpkg/info", "var/lib/dpkg/updates", "var/lib/dpkg/triggers", "usr/bin", "usr/sbin", "dev", "proc"} {
		require.NoError(t, os.MkdirAll(filepath.Join(c.dir, folder), 0o755))
	}
	for _, name := range []string{"status", "available"} {
		c.write("var/lib/dpkg/"+name, "", 0o644)
	}
	c.write("usr/bin/systemctl", fakeSystemctl, 0o755)
	for _, link := range []string{"bin", "sbin", "lib", "lib64"} {
		require.NoError(t, os.MkdirAll(filepath.Join(c.dir, "usr", link), 0o755))
		require.NoError(t, os.Symlink("usr/"+link, filepath.Join(c.dir, link)))
	}
	for _, name := range programs {
		path, err := exec.LookPath(name)
		require.NoError(t, err)
		files := append(regexp.MustCompile(`/\S+`).FindAllString(testkit.Output(t, "", nil, "ldd", path), -1), path)
		for _, file := range files {
			text, err := os.ReadFile(strings.TrimSuffix(file, ":"))
			require.NoError(t, err)
			c.write(file, string(text), 0o755)
		}
	}
	c.write("etc/passwd", "root:x:0:0::/root:/bin/sh\n", 0o644)
	c.write("etc/group", "root:x:0:\n", 0o644)
	return c
}

func (c *chroot) write(path, text string, mode os.FileMode) {
	c.t.Helper()
	path = filepath.Join(c.dir, path)
	require.NoError(c.t, os.MkdirAll(filepath.Dir(path), 0o755))
	require.NoError(c.t, os.WriteFile(path, []byte(text), mode))
}

func (c *chroot) read(path string) string {
	c.t.Helper()
	text, err := os.ReadFile(filepath.Join(c.dir, path))
	require.NoError(c.t, err)
	return string(text)
}

func (c *chroot) dpkg(arguments ...string) string {
	c.t.Helper()
	return testkit.Output(c.t, "", []string{"DEBIAN_FRONTEND=noninteractive"}, "dpkg", append([]string{"--root=" + c.dir, "--force-depends", "--force-confold"}, arguments...)...)
}

func (c *chroot) rpm(arguments ...string) string {
	c.t.Helper()
	return testkit.Output(c.t, "", nil, "rpm", append([]string{"--root=" + c.dir, "--force-debian", "--nodeps"}, arguments...)...)
}

// scriptPrograms are the programs that the scripts of the packages call.
var scriptPrograms = []string{"sh", "mkdir", "chmod", "chown", "rm", "systemd-sysusers"}

// useInstalled installs a package, starts what it installed with the settings that it
// installed, as its account, and upgrades it meanwhile.
func useInstalled(t *testing.T, c *chroot, install, upgrade func() string) {
	t.Helper()
	install()
	account := regexp.MustCompile(`(?m)^mintmark:x:(\d+):(\d+):.*:/var/lib/mintmark:/usr/sbin/nologin$`).FindStringSubmatch(c.read("etc/passwd"))
	require.NotNil(t, account, c.read("etc/passwd"))
	uid, err := strconv.ParseUint(account[1], 10, 32)
	require.NoError(t, err)
	gid, err := strconv.ParseUint(account[2], 10, 32)
	require.NoError(t, err)
	data, err := os.Stat(filepath.Join(c.dir, "var/lib/mintmark"))
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o700), data.Mode().Perm())
	require.Equal(t, uint32(uid), data.Sys().(*syscall.Stat_t).Uid)
	require.Contains(t, c.read("usr/lib/systemd/system/mintmark.service"), "\nExecStart=/usr/bin/mintmark serve --config /etc/mintmark/mintmark.yaml ")
	require.Contains(t, c.read("usr/share/bash-completion/completions/mintmark"), "__complete")
	require.FileExists(t, filepath.Join(c.dir, "usr/share/man/man1/mintmark-cluster-status.1.gz"))
	require.Equal(t, "daemon-reload\n--quiet is-active mintmark\n", c.read("systemctl.log"), "nothing is started")

	// Free ports override those of the file: others may run here.
	inside := func(arguments ...string) *exec.Cmd {
		p := exec.Command("/usr/bin/mintmark", arguments...)
		p.Dir, p.Env = "/", []string{"MINTMARK_LISTEN=127.0.0.1:0", "MINTMARK_OPS_LISTEN=127.0.0.1:0", "MINTMARK_CLUSTER_LISTEN=127.0.0.1:0"}
		p.SysProcAttr = &syscall.SysProcAttr{Chroot: c.dir, Credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}}
		return p
	}
	p, err := testkit.Start(inside("serve", "--config", "/etc/mintmark/mintmark.yaml"), filepath.Join(t.TempDir(), "log"))
	require.NoError(t, err)
	t.Cleanup(p.Kill)
	require.Eventually(t, func() bool {
		return inside("cluster", "init", "--public-url", "http://127.0.0.1:8080").Run() == nil
	}, testkit.Limit, 50*time.Millisecond, "%s", p.LogText())
	_, err = p.FirstLine(testkit.Limit)
	require.NoError(t, err)

	c.write("etc/mintmark/mintmark.yaml", "data-dir: /var/lib/mintmark\nname: kept\n", 0o644)
	c.write("systemctl.log", "", 0o644)
	require.Contains(t, upgrade(), "restart one node after the other")
	require.Equal(t, "daemon-reload\n--quiet is-active mintmark\n", c.read("systemctl.log"), "an upgrade stops and restarts nothing")
	require.Contains(t, c.read("etc/mintmark/mintmark.yaml"), "name: kept")
	require.True(t, p.Running())
	require.NoError(t, p.Stop(syscall.SIGTERM, testkit.Limit))
	c.write("systemctl.log", "", 0o644)
}

// testDeb uses the package, removes it and purges it.
func testDeb(t *testing.T, file string) {
	c := newChroot(t, scriptPrograms...)
	install := func() string { return c.dpkg("--install", file) }
	useInstalled(t, c, install, install)
	c.dpkg("--remove", "mintmark")
	require.Equal(t, "--no-reload disable --now mintmark\ndaemon-reload\n", c.read("systemctl.log"))
	require.FileExists(t, filepath.Join(c.dir, "var/lib/mintmark/cluster.key"))
	require.FileExists(t, filepath.Join(c.dir, "etc/mintmark/mintmark.yaml"))
	require.NoFileExists(t, filepath.Join(c.dir, "usr/bin/mintmark"))
	c.dpkg("--purge", "mintmark")
	require.NoDirExists(t, filepath.Join(c.dir, "var/lib/mintmark"))
	require.NoDirExists(t, filepath.Join(c.dir, "etc/mintmark"))
}

// testRPM compares the package with the program, uses it and erases it.
func testRPM(t *testing.T, file, program string) {
	list := testkit.Output(t, "", nil, "rpm", "-qlp", file)
	for _, path := range []string{
		"/usr/bin/mintmark", "/usr/lib/systemd/system/mintmark.service", "/usr/lib/sysusers.d/mintmark.conf", "/etc/mintmark/mintmark.yaml", "/usr/share/man/man1/mintmark.1.gz",
	} {
		require.Contains(t, list, path+"\n")
	}
	require.Equal(t, "/etc/mintmark/mintmark.yaml\n", testkit.Output(t, "", nil, "rpm", "-qp", "--configfiles", file))
	sum, _, _ := strings.Cut(testkit.Output(t, "", nil, "sha256sum", program), " ")
	require.Regexp(t, `(?m)^/usr/bin/mintmark \d+ \d+ `+sum+` 0100755 root root `, testkit.Output(t, "", nil, "rpm", "-qp", "--dump", file))
	require.Regexp(t, `(?m)^/etc/mintmark/mintmark.yaml \d+ \d+ \w+ 0100644 root root 1 `, testkit.Output(t, "", nil, "rpm", "-qp", "--dump", file))

	c := newChroot(t, scriptPrograms...)
	useInstalled(t, c, func() string { return c.rpm("-i", file) }, func() string { return c.rpm("-U", "--replacepkgs", file) })
	c.rpm("-e", "mintmark")
	require.Equal(t, "--no-reload disable --now mintmark\n", c.read("systemctl.log"))
	require.FileExists(t, filepath.Join(c.dir, "var/lib/mintmark/cluster.key"), "an erased package keeps the data")
	require.Contains(t, c.read("etc/mintmark/mintmark.yaml.rpmsave"), "name: kept")
	require.NoFileExists(t, filepath.Join(c.dir, "usr/bin/mintmark"))
}

// TestImage builds the image and runs it: a node that becomes a cluster, and answers its own
// health check.
func TestImage(t *testing.T) {
	requireDebian(t)
	dir := t.TempDir()
	storage := filepath.Join(dir, "storage.conf")
	require.NoError(t, os.WriteFile(storage, []byte("[storage]\ndriver = \"vfs\"\ngraphroot = \""+dir+"/graph\"\nrunroot = \""+dir+"/run\"\n"), 0o600))
	certificates := filepath.Join(dir, "certificates")
	require.NoError(t, os.WriteFile(certificates, []byte("none\n"), 0o600))
	binary := filepath.Join(dir, "mintmark")
	require.NoError(t, testkit.GoBuild(root, "-o", binary, "./cmd/mintmark"))
	environment := []string{"CONTAINERS_STORAGE_CONF=" + storage, "BUILDAH_ISOLATION=chroot", "IMAGE=localhost/mintmark:test", "CA_CERTIFICATES=" + certificates}
	testkit.Output(t, root, environment, "./cmd/mintmark/packaging/image", binary, "buildah")

	var image struct {
		Docker struct {
			Config struct {
				User        string
				Entrypoint  []string
				Volumes     map[string]any
				Healthcheck struct{ Test []string }
			} `json:"config"`
		}
	}
	require.NoError(t, json.Unmarshal([]byte(testkit.Output(t, dir, environment, "buildah", "inspect", "--type", "image", "localhost/mintmark:test")), &image))
	require.Equal(t, "10001:10001", image.Docker.Config.User)
	require.Equal(t, []string{"/usr/bin/mintmark"}, image.Docker.Config.Entrypoint)
	require.Contains(t, image.Docker.Config.Volumes, "/var/lib/mintmark")
	require.Equal(t, []string{"CMD", "/usr/bin/mintmark", "health"}, image.Docker.Config.Healthcheck.Test)

	container := strings.TrimSpace(testkit.Output(t, dir, environment, "buildah", "from", "--pull-never", "localhost/mintmark:test"))
	ops := clustertest.Address(t)
	run := func(arguments ...string) *exec.Cmd {
		c := exec.Command("buildah", append([]string{
			"run", "--env", "MINTMARK_LISTEN=" + clustertest.Address(t), "--env", "MINTMARK_CLUSTER_LISTEN=" + clustertest.Address(t), "--env", "MINTMARK_OPS_LISTEN=" + ops, container, "--", "/usr/bin/mintmark",
		}, arguments...)...)
		c.Env = append(os.Environ(), environment...)
		return c
	}
	p, err := testkit.Start(run("serve"), filepath.Join(t.TempDir(), "log"))
	require.NoError(t, err)
	t.Cleanup(func() {
		_ = p.Signal(syscall.SIGTERM)
		_ = p.Wait()
	})
	require.Eventually(t, func() bool {
		return run("cluster", "init", "--public-url", "http://127.0.0.1:8080").Run() == nil
	}, testkit.Limit, 100*time.Millisecond, "%s", p.LogText())
	require.Eventually(t, func() bool {
		r, err := http.Get("http://" + ops + "/readyz")
		if err != nil {
			return false
		}
		defer r.Body.Close()
		_, _ = io.Copy(io.Discard, r.Body)
		return r.StatusCode == http.StatusOK
	}, testkit.Limit, 50*time.Millisecond)
	out, err := run("health").CombinedOutput()
	require.NoError(t, err, "%s", out)
	require.Contains(t, string(out), "ready")
}
