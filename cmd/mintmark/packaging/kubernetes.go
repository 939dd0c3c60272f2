package packaging

import _ "embed"

// StatefulSet has the manifests of three nodes for Kubernetes.
//
//go:embed statefulset.yaml
var StatefulSet string
