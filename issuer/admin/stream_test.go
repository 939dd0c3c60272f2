package admin_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/issuer/admin"
	"github.com/mintmark-auth/mintmark/issuer/admin/admintest"
)

const (
	waitLimit = 10 * time.Second
	waitStep  = 5 * time.Millisecond
)

// large exceeds every buffer between client and server.
var large = strings.Repeat("0123456789abcdef", 1<<18)

// saver returns a Caller of a node whose backup is the output of write.
func saver(t *testing.T, write func(context.Context, io.Writer) error) *admin.Caller {
	t.Helper()
	w := admintest.New(t)
	w.Cluster, w.Backup = admintest.NewCluster(), write
	return caller(t, w.Serve())
}

func TestSaveBackup(t *testing.T) {
	for name, text := range map[string]string{"empty": "", "short": "state", "large": large} {
		t.Run(name, func(t *testing.T) {
			c := saver(t, func(_ context.Context, w io.Writer) error {
				_, err := io.Copy(w, strings.NewReader(text))
				return err
			})
			var got bytes.Buffer
			require.NoError(t, admin.SaveBackup(t.Context(), c, &got))
			require.True(t, text == got.String(), "%d bytes of %d", got.Len(), len(text))
		})
	}
}

// TestSavedBackupIsCut verifies that an incomplete backup is reported as an error.
func TestSavedBackupIsCut(t *testing.T) {
	for name, test := range map[string]struct {
		write func(ctx context.Context, w io.Writer) error
		class admin.Class
		text  string
	}{
		"refused before the first byte": {
			func(context.Context, io.Writer) error { return admintest.Rule("not now") }, admin.Refused, "not now",
		},
		"refused after some": {
			func(_ context.Context, w io.Writer) error {
				_, err := io.WriteString(w, large)
				return errors.Join(err, admintest.Rule("not more\nthan “that”"))
			}, admin.Refused, "not more\nthan “that”",
		},
		"failed after some": {
			func(_ context.Context, w io.Writer) error {
				_, err := io.WriteString(w, "some")
				return errors.Join(err, errors.New("the disk is on fire"))
			}, admin.Internal, "the server failed",
		},
		"died after some": {
			func(_ context.Context, w io.Writer) error {
				_, _ = io.WriteString(w, large)
				panic(http.ErrAbortHandler)
			}, admin.Unavailable, "the node stopped in the middle of its answer",
		},
	} {
		t.Run(name, func(t *testing.T) {
			var p *admin.Problem
			require.ErrorAs(t, admin.SaveBackup(t.Context(), saver(t, test.write), io.Discard), &p)
			require.Equal(t, test.class, p.Class)
			require.Equal(t, test.text, p.Text)
		})
	}
}

// TestAnswerWithoutAnEnd verifies that a response without its last chunk and trailer is
// an error.
func TestAnswerWithoutAnEnd(t *testing.T) {
	const head = "HTTP/1.1 200 OK\r\nContent-Type: application/octet-stream\r\n"
	for name, answer := range map[string]string{
		"no chunks":          head + "Content-Length: 4\r\n\r\nsome",
		"until it closes":    head + "Connection: close\r\n\r\nsome",
		"no last chunk":      head + "Transfer-Encoding: chunked\r\nTrailer: Mintmark-End\r\n\r\n4\r\nsome\r\n",
		"no trailer":         head + "Transfer-Encoding: chunked\r\nTrailer: Mintmark-End\r\n\r\n4\r\nsome\r\n0\r\n\r\n",
		"empty trailer":      head + "Transfer-Encoding: chunked\r\nTrailer: Mintmark-End\r\n\r\n4\r\nsome\r\n0\r\nMintmark-End:\r\n\r\n",
		"trailer of rubbish": head + "Transfer-Encoding: chunked\r\nTrailer: Mintmark-End\r\n\r\n4\r\nsome\r\n0\r\nMintmark-End: {}\r\n\r\n",
		"cut in the trailer": head + "Transfer-Encoding: chunked\r\nTrailer: Mintmark-End\r\n\r\n4\r\nsome\r\n0\r\nMintmark-End: whole\r\n",
	} {
		t.Run(name, func(t *testing.T) {
			dir := socketDir(t)
			l, err := net.Listen("unix", filepath.Join(dir, admin.SocketName))
			require.NoError(t, err)
			defer l.Close()
			go func() {
				conn, err := l.Accept()
				if err != nil {
					return
				}
				defer conn.Close()
				_, _ = conn.Read(make([]byte, 4096))
				_, _ = io.WriteString(conn, answer)
			}()
			var p *admin.Problem
			require.ErrorAs(t, admin.SaveBackup(t.Context(), caller(t, dir), io.Discard), &p)
			require.Equal(t, admin.Unavailable, p.Class)
		})
	}
}

type fullDisk struct{}

func (fullDisk) Write([]byte) (int, error) { return 0, errors.New("no space left") }

// TestSaveFailsHere verifies that an error of the client is reported as such, and ends
// the request.
func TestSaveFailsHere(t *testing.T) {
	ended := make(chan error, 1)
	c := saver(t, func(ctx context.Context, w io.Writer) error {
		for {
			if _, err := io.WriteString(w, large); err != nil {
				ended <- err
				return nil // a writer that ignores errors
			}
		}
	})
	err := admin.SaveBackup(t.Context(), c, fullDisk{})
	require.ErrorContains(t, err, "no space left")
	var p *admin.Problem
	require.NotErrorAs(t, err, &p)
	require.Error(t, <-ended)
}

// A restored is what the restore function received.
type restored struct {
	options admin.RestoreOptions
	backup  string
	err     error // error of reading
}

// restorer returns a Caller of a node that waits for a backup, and what its restore
// function receives.
func restorer(t *testing.T, answer error) (*admin.Caller, chan restored) {
	t.Helper()
	got := make(chan restored, 4)
	dir, _ := admintest.Open(t, admin.NewSetupHandler(admin.Setup{
		Name: "n1",
		Restore: func(_ context.Context, in io.Reader, o admin.RestoreOptions) (admin.RestoreReport, error) {
			b, err := io.ReadAll(in)
			got <- restored{o, string(b), err}
			return admin.RestoreReport{Cluster: "c-1", Taken: admintest.Started, Seq: 12}, errors.Join(err, answer)
		},
	}))
	return caller(t, dir), got
}

func TestRestoreBackup(t *testing.T) {
	for name, test := range map[string]struct {
		backup string
		o      admin.RestoreOptions
	}{
		"plain":               {"state", admin.RestoreOptions{}},
		"large":               {large, admin.RestoreOptions{DryRun: true}},
		"empty":               {"", admin.RestoreOptions{AcceptGap: true}},
		"with a journal":      {large, admin.RestoreOptions{AcceptGap: true, DryRun: true, Journals: [][]byte{[]byte("line\nline\n" + large), []byte("second")}}},
		"with an empty one":   {"state", admin.RestoreOptions{Journals: [][]byte{{}}}},
		"with keys":           {"state", admin.RestoreOptions{Keys: []admin.Plain{"one\n", "two\nthree\n"}, Journals: [][]byte{[]byte("lines")}}},
		"that looks like one": {"{}\n{}\n", admin.RestoreOptions{Journals: [][]byte{[]byte("{}\n")}}},
	} {
		t.Run(name, func(t *testing.T) {
			c, got := restorer(t, nil)
			report, err := admin.RestoreBackup(t.Context(), c, strings.NewReader(test.backup), test.o)
			require.NoError(t, err)
			require.Equal(t, admin.RestoreReport{
				DryRun: test.o.DryRun, Cluster: "c-1", Taken: admintest.Started, Seq: 12, Changes: []string{},
				Covered: []admin.JournalSpan{}, Skipped: []admin.SkippedChanges{}, NotDone: []string{}, Warnings: []string{},
			}, report)
			g := <-got
			require.NoError(t, g.err)
			require.True(t, g.backup == test.backup, "%d bytes of %d", len(g.backup), len(test.backup))
			require.Equal(t, test.o, g.options)
		})
	}
}

func TestRestoreOnceButTryFirst(t *testing.T) {
	c, _ := restorer(t, nil)
	for range 2 {
		_, err := admin.RestoreBackup(t.Context(), c, strings.NewReader("x"), admin.RestoreOptions{DryRun: true})
		require.NoError(t, err)
	}
	_, err := admin.RestoreBackup(t.Context(), c, strings.NewReader("x"), admin.RestoreOptions{})
	require.NoError(t, err)
	require.ErrorContains(t, restoreError(t, c, "x", admin.RestoreOptions{}), "belongs to a cluster already")
	require.ErrorContains(t, restoreError(t, c, "x", admin.RestoreOptions{DryRun: true}), "belongs to a cluster already")
}

// TestRestoreIsRefused verifies that the response is received whether or not the node has
// read the whole request.
func TestRestoreIsRefused(t *testing.T) {
	c, _ := restorer(t, admintest.Rule("the journal has a gap"))
	require.EqualError(t, restoreError(t, c, large, admin.RestoreOptions{}), "the journal has a gap")

	w := admintest.New(t)
	w.Cluster = admintest.NewCluster()
	c = caller(t, w.Serve())
	for range 20 {
		require.EqualError(t, restoreError(t, c, large, admin.RestoreOptions{}), "this node belongs to a cluster already")
	}
}

// TestRestoredFileIsCut verifies that an error while the client reads the file is
// reported to the node as well.
func TestRestoredFileIsCut(t *testing.T) {
	c, got := restorer(t, nil)
	bad := io.MultiReader(strings.NewReader(large), iotest.ErrReader(errors.New("bad sector")))
	_, err := admin.RestoreBackup(t.Context(), c, bad, admin.RestoreOptions{})
	require.ErrorContains(t, err, "bad sector")
	require.Error(t, (<-got).err)
}

// TestBackupOutlivesTheDeadlineOfRequests: the read deadline of requests must not apply
// to a backup.
func TestBackupOutlivesTheDeadlineOfRequests(t *testing.T) {
	got := make(chan string, 1)
	s := httptest.NewUnstartedServer(admin.NewSetupHandler(admin.Setup{
		Restore: func(_ context.Context, in io.Reader, _ admin.RestoreOptions) (admin.RestoreReport, error) {
			b, err := io.ReadAll(in)
			got <- string(b)
			return admin.RestoreReport{}, err
		},
	}))
	s.Config.ReadTimeout = 50 * time.Millisecond
	s.Start()
	defer s.Close()
	in, out := io.Pipe()
	go func() {
		_, _ = io.WriteString(out, "{}\nfirst")
		time.Sleep(4 * s.Config.ReadTimeout) // longer than the deadline
		_, _ = io.WriteString(out, " and last")
		_ = out.Close()
	}()
	resp, err := http.Post(s.URL+"/v1/cluster.backup.restore", "application/octet-stream", in)
	require.NoError(t, err)
	defer resp.Body.Close()
	require.Equal(t, http.StatusOK, resp.StatusCode)
	require.Equal(t, "first and last", <-got)
}

func TestUploadsThatAreNotUnderstood(t *testing.T) {
	h := admin.NewSetupHandler(admin.Setup{Log: slog.New(slog.DiscardHandler), Restore: func(context.Context, io.Reader, admin.RestoreOptions) (admin.RestoreReport, error) {
		t.Error("called")
		return admin.RestoreReport{}, nil
	}})
	for name, test := range map[string]struct {
		body, text string
		code       int
	}{
		"nothing":       {"", "could not be read", http.StatusBadRequest},
		"no line":       {`{"journals":[]}`, "could not be read", http.StatusBadRequest},
		"long line":     {`{"journals":[]` + strings.Repeat(" ", 1<<17) + "}\n", "too long", http.StatusBadRequest},
		"not JSON":      {"journal\n", "not the JSON value", http.StatusBadRequest},
		"unknown field": {`{"journals":[],"force":true}` + "\n", "force", http.StatusBadRequest},
		"short journal": {`{"journals":[10]}` + "\nshort", "internal", http.StatusInternalServerError},
		"huge journal":  {fmt.Sprintf("{\"journals\":[%d]}\n", admin.MaxJournal+1), "larger than 1 GiB", http.StatusUnprocessableEntity},
	} {
		t.Run(name, func(t *testing.T) {
			code, body := post(h, "POST", "/v1/cluster.backup.restore", test.body)
			require.Equal(t, test.code, code, body)
			require.Contains(t, body, test.text)
		})
	}
}

// TestSlowIsNotSilent verifies that a slow backup or operation is not cancelled while the
// node responds to probes.
func TestSlowIsNotSilent(t *testing.T) {
	c := saver(t, func(_ context.Context, w io.Writer) error {
		time.Sleep(time.Second) // longer than the timeout below
		_, err := io.WriteString(w, "state")
		return err
	})
	for _, c.Timeout = range []time.Duration{600 * time.Millisecond, 0} {
		var got bytes.Buffer
		require.NoError(t, admin.SaveBackup(t.Context(), c, &got))
		require.Equal(t, "state", got.String())
	}
}
