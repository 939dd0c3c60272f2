package issuer

import _ "embed"

// Readme is README.md, the guide for authors of applications.
//
//go:embed README.md
var Readme string
