// Package docs has the documents that the binary prints: those of this folder, and the
// guide for authors of applications (issuer/README.md). It does not have those of other
// modules, which a package can't embed, and README.md.
package docs

import (
	"embed"
	"regexp"
	"strings"

	"github.com/mintmark-auth/mintmark/issuer"
)

//go:embed *.md
var folder embed.FS

// A Document is one that can be printed.
type Document struct {
	Name  string
	About string // what it is for, in one line
}

const applications = "applications"

// All are the documents, in the order of README.md's table.
var All = []Document{
	{applications, "authors of applications: flow, errors, retries, lifetimes"},
	{"api", "programs: revocation, browsers, the profile, OpenAPI"},
	{"install", "operators, day one: service, three nodes, every setting"},
	{"packages", "operators: packages, container, Kubernetes, releases"},
	{"unit", "operators: the hardened systemd unit"},
	{"tls", "operators: certificates in the node, or a proxy in front"},
	{"sign-in", "operators: accounts of an OpenID Connect provider"},
	{"remote", "operators on other machines: listener, tokens, certificates, scopes, programs"},
	{"resource-servers", "operators and authors of APIs: registration, introspection"},
	{"agents", "administrators: AI assistants and other clients with a metadata document"},
	{"operate", "operators, day two: users, alerts, upgrades, keys"},
	{"apply", "operators: clients, users and settings from files in git"},
	{"hydra", "operators who move from Ory Hydra: clients, secrets, users, passwords"},
	{"monitor", "operators: Prometheus rules, a Grafana dashboard, every alert and log record"},
	{"sizing", "operators: memory, disk, processors, and how to measure them"},
	{"backup", "operators: scheduled backups, backups by hand, journals"},
	{"disaster", "operators in an outage: a decision table, then the steps"},
	{"reference", "paths, answers, exit codes, metrics, audit events"},
	{"design", "how a request is decided, and what is guaranteed"},
	{"security", "reporting, what is protected and how, limits"},
	{"support", "versions, platforms, what stays compatible, upgrades"},
	{"contributing", "modules, tests, releases"},
	{"changelog", "what changed in each release"},
}

// Elsewhere is the address of the guide for authors of APIs, which is in another module.
const Elsewhere = "https://pkg.go.dev/github.com/mintmark-auth/mintmark/middleware"

// marks are lines for the tests of a document, such as <!-- expect: … -->.
var marks = regexp.MustCompile(`(?m)^[ \t]*<!--.*-->\n(\n)?`)

// links makes links to other documents lead to NAME.md, as those within this folder do.
var links = strings.NewReplacer("](../../../issuer/README.md", "]("+applications+".md", "](../cmd/mintmark/docs/", "](")

// Read returns the text of a document in Markdown, without the marks of its tests, and with
// NAME.md for the address of each document. ok is false if no document has that name.
func Read(name string) (text string, ok bool) {
	source := issuer.Readme
	if name != applications {
		b, err := folder.ReadFile(name + ".md")
		if err != nil {
			return "", false
		}
		source = string(b)
	}
	return links.Replace(marks.ReplaceAllString(source, "")), true
}
