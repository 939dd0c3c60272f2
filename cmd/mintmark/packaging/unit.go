package packaging

import (
	_ "embed"
	"strings"
	"text/template"
)

// A Unit is what differs between the systemd units of installations.
type Unit struct {
	Binary   string // path of the program
	Config   string // path of the file of settings
	LowPorts bool   // the node listens on ports below 1024
}

//go:embed mintmark.service.tmpl
var unitText string

var unitTemplate = template.Must(template.New("unit").Parse(unitText))

// Text returns the unit.
func (u Unit) Text() string {
	var b strings.Builder
	if err := unitTemplate.Execute(&b, u); err != nil {
		panic(err) // a field that the type does not have
	}
	return b.String()
}
