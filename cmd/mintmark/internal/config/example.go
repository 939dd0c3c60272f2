package config

import _ "embed"

// Example is a commented file of all settings with their defaults. A test verifies
// that it is complete and has the defaults.
//
//go:embed example.yaml
var Example string
