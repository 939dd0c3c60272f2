// Command generate writes what packages and releases have beside the program:
//
//	generate man DIR      the manual pages of all commands
//	generate sbom BINARY  an SBOM (CycloneDX 1.5) of the modules in a program, to standard output
//
// It is a program of its own so that the server has none of what makes them. Times are
// SOURCE_DATE_EPOCH, so that one commit always makes the same bytes. The SBOM is made here
// because cyclonedx-gomod takes longer to build than a release, for its detection of licences.
package main

import (
	"debug/buildinfo"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra/doc"

	"github.com/mintmark-auth/mintmark/cmd/mintmark/internal/cli"
)

func main() {
	if err := run(os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "generate:", err)
		os.Exit(1)
	}
}

func run(arguments []string, out io.Writer) error {
	if len(arguments) != 2 {
		return errors.New("usage: generate man DIR, or generate sbom BINARY")
	}
	seconds, err := strconv.ParseInt(os.Getenv("SOURCE_DATE_EPOCH"), 10, 64)
	if err != nil {
		return fmt.Errorf("read SOURCE_DATE_EPOCH: %w", err)
	}
	at := time.Unix(seconds, 0).UTC()
	switch arguments[0] {
	case "man":
		root := cli.Root("")
		root.DisableAutoGenTag = true
		return doc.GenManTree(root, &doc.GenManHeader{Section: "1", Date: &at, Source: "Mintmark", Manual: "Mintmark"}, arguments[1])
	case "sbom":
		return writeSBOM(out, arguments[1], at)
	}
	return fmt.Errorf("unknown command %q", arguments[0])
}

// A component is one of CycloneDX, with the members that are used here.
type component struct {
	Type    string `json:"type"`
	Name    string `json:"name"`
	Version string `json:"version"`
	PURL    string `json:"purl"`
	Hashes  []hash `json:"hashes,omitempty"`
}

type hash struct {
	Algorithm string `json:"alg"`
	Content   string `json:"content"`
}

type bom struct {
	Format      string `json:"bomFormat"`
	SpecVersion string `json:"specVersion"`
	Version     int    `json:"version"`
	Metadata    struct {
		Timestamp time.Time `json:"timestamp"`
		Component component `json:"component"`
	} `json:"metadata"`
	Components []component `json:"components"`
}

// writeSBOM writes the modules that the linker recorded in a program, in its order. The hash
// of a module is the one of go.sum.
func writeSBOM(out io.Writer, binary string, at time.Time) error {
	info, err := buildinfo.ReadFile(binary)
	if err != nil {
		return fmt.Errorf("read build information: %w", err)
	}
	b := bom{Format: "CycloneDX", SpecVersion: "1.5", Version: 1}
	b.Metadata.Timestamp = at
	b.Metadata.Component = module("application", info.Main.Path, info.Main.Version, "")
	b.Components = []component{module("library", "std", strings.TrimPrefix(info.GoVersion, "go"), "")}
	for _, m := range info.Deps {
		if m.Replace != nil {
			m.Version, m.Sum = info.Main.Version, m.Replace.Sum // a folder of this checkout
		}
		b.Components = append(b.Components, module("library", m.Path, m.Version, m.Sum))
	}
	e := json.NewEncoder(out)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	return e.Encode(b)
}

// module returns the component of a module. sum is "" or h1:, and a SHA-256 in base64.
func module(kind, path, version, sum string) component {
	c := component{Type: kind, Name: path, Version: version, PURL: "pkg:golang/" + path + "@" + strings.ReplaceAll(version, "+", "%2B")}
	if digest, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(sum, "h1:")); err == nil && sum != "" {
		c.Hashes = []hash{{"SHA-256", hex.EncodeToString(digest)}}
	}
	return c
}
