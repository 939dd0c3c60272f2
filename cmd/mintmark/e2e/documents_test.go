package e2e

import (
	"fmt"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/mintmark-auth/mintmark/cmd/mintmark/internal/testkit"
)

// insideDocument is set for everything that the blocks of documents run.
const insideDocument = "MINTMARK_TEST_INSIDE_README"

// stories are all documents. Those of one story are followed one after the other, by one
// reader in one checkout.
var stories = [][]string{
	{"README.md"},
	{"middleware/README.md"},
	{"issuer/README.md"},
	{docs + "install.md", docs + "sign-in.md", docs + "tls.md", docs + "remote.md"},
	{docs + "operate.md", docs + "backup.md", docs + "disaster.md"},
	{docs + "apply.md"},
	{docs + "hydra.md"},
	{docs + "api.md"},
	{docs + "resource-servers.md"},
	{docs + "agents.md"},
	{docs + "packages.md", docs + "unit.md", docs + "monitor.md", docs + "sizing.md", docs + "support.md"},
	{docs + "reference.md", docs + "design.md", docs + "security.md", docs + "contributing.md", docs + "changelog.md"},
}

const docs = "cmd/mintmark/docs/"

// TestDocuments follows the documents, as a new user would, in copies of the checkout.
func TestDocuments(t *testing.T) {
	told := 0
	for _, story := range stories {
		told += len(story)
		t.Run(filepath.Base(story[0])+" of "+filepath.Base(filepath.Dir(story[0])), func(t *testing.T) {
			follow(t, readDocuments(t, story))
		})
	}
	all, err := filepath.Glob(filepath.Join(root, docs, "*.md"))
	require.NoError(t, err)
	require.Equal(t, len(all)+3, told, "a document of cmd/mintmark/docs is in no story")
}

// readDocuments returns the steps of a story.
func readDocuments(t *testing.T, story []string) (all []step) {
	t.Helper()
	runs := map[string]bool{}
	for _, document := range story {
		text, err := os.ReadFile(filepath.Join(root, document))
		require.NoError(t, err)
		steps, err := parseDocument(document, string(text), runs)
		require.NoError(t, err)
		all = append(all, steps...)
	}
	return all
}

// TestDocumentRunner follows a sample that has every mark.
func TestDocumentRunner(t *testing.T) {
	text, err := os.ReadFile("testdata/README.md")
	require.NoError(t, err)
	steps, err := parseDocument("sample", strings.ReplaceAll(string(text), "MINTMARK", binary), map[string]bool{})
	require.NoError(t, err)
	follow(t, steps)
}

// follow runs all steps of a story.
func follow(t *testing.T, steps []step) {
	var shells, programs []step
	for _, s := range steps {
		switch {
		case s.kind == shell && s.noRun == "":
			shells = append(shells, s)
		case s.kind == program:
			programs = append(programs, s)
		}
	}
	requireFree(t, shells)

	clone := testkit.CopyCheckout(t, root)
	vetPrograms(t, clone, programs)

	s := startSession(t, clone)
	seen := "" // the outputs and texts since the last browser, for its URL
	for _, step := range steps {
		where := fmt.Sprintf("%s:%d", step.document, step.line)
		switch step.kind {
		case other:
			seen += step.text
		case excerpt:
			require.NoError(t, checkExcerpt(clone, step), where)
		case visit:
			address := authorizationURL(seen)
			require.NotEmpty(t, address, "%s: no authorization URL in %s", where, seen)
			s.code = newPerson(t, "demo", "lantern-under-oak").decide(address, "allow").Query().Get("code")
			require.NotEmpty(t, s.code, where)
			_, err := s.run("CODE='" + s.code + "'\n")
			require.NoError(t, err, where)
			seen = ""
		case interrupt:
			for _, name := range step.names {
				require.NoError(t, s.stop(name), "%s: %s", where, name)
			}
		case again:
			for _, name := range step.names {
				output, err := s.runStep(s.named[name].step)
				require.NoError(t, err, "%s: %s\nprinted:\n%s", where, name, output)
			}
		case shell:
			if step.noRun != "" {
				continue
			}
			output, err := s.runStep(step)
			require.NoError(t, err, "%s:\n%s\nprinted:\n%s", where, step.text, output)
			for _, expected := range step.expect {
				require.Contains(t, output, expected, "%s:\n%s", where, step.text)
			}
			seen += step.text + output
		}
	}
}

// checkExcerpt reports an excerpt that is not a sequence of whole lines of its file.
func checkExcerpt(checkout string, s step) error {
	text, err := os.ReadFile(filepath.Join(checkout, s.file))
	if err == nil && (s.text == "" || !strings.Contains("\n"+string(text), "\n"+s.text)) {
		err = fmt.Errorf("%s does not have these lines:\n%s", s.file, s.text)
	}
	return err
}

func TestExcerptsFound(t *testing.T) {
	const file = "cmd/mintmark/e2e/testdata/README.md"
	require.NoError(t, checkExcerpt(root, step{file: file, text: "# A sample that has every mark\n"}))
	for _, bad := range []step{
		{file: file}, {file: file, text: "A sample that has every mark\n"}, {file: file, text: "# A sample\n"}, {file: "missing", text: "a\n"},
	} {
		require.Error(t, checkExcerpt(root, bad), bad.text)
	}
}

// codeLine matches a line of a document in which the user must insert a code.
var codeLine = regexp.MustCompile(`(?m)^(\s*(?:export )?CODE=)[^$\n]*$`)

func (s *session) runStep(step step) (string, error) {
	s.t.Helper()
	text := step.text
	if s.code != "" {
		text = codeLine.ReplaceAllString(text, "${1}'"+s.code+"'")
	}
	if step.background {
		return s.background(step, text)
	}
	return s.run(text)
}

var authorizationURLs = regexp.MustCompile(`https?://[^\s"'<>` + "`" + `]+/auth/oauth2/authorize\?[^\s"'<>` + "`" + `]+`)

// authorizationURL returns the last one in a text. A URL that a shell has yet to complete
// does not count.
func authorizationURL(text string) string {
	last := ""
	for _, found := range authorizationURLs.FindAllString(text, -1) {
		if _, err := url.Parse(found); err == nil && !strings.Contains(found, "$") {
			last = found
		}
	}
	return last
}

// served are the addresses that blocks call, except redirection URIs.
var served = regexp.MustCompile(`127\.0\.0\.1:[1-9]\d*(/callback)?`)

// requireFree requires the fixed ports of the documents' commands to be free.
func requireFree(t *testing.T, blocks []step) {
	t.Helper()
	for _, block := range blocks {
		for _, address := range served.FindAllString(block.text, -1) {
			if strings.HasSuffix(address, "/callback") {
				continue
			}
			l, err := net.Listen("tcp", address)
			if err != nil {
				t.Fatalf("the documents need %s, which another program uses; stop that and try again (%v)", address, err)
			}
			require.NoError(t, l.Close())
		}
	}
}
