package packaging

import (
	"embed"
	"strings"
)

// Kustomize has the base of three nodes for Kubernetes, and an overlay to start from.
//
//go:embed kustomize/base/*.yaml kustomize/overlay/*.yaml
var Kustomize embed.FS

// Manifests returns the resources of the base.
func Manifests() string {
	var all []string
	for _, name := range []string{"statefulset", "services", "poddisruptionbudget"} {
		text, err := Kustomize.ReadFile("kustomize/base/" + name + ".yaml")
		if err != nil {
			panic(err) // a file that is not embedded
		}
		all = append(all, string(text))
	}
	return strings.Join(all, "---\n")
}
