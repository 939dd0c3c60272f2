package main

import _ "embed"

// exampleConfig is a file of all settings with their defaults, for people to
// begin with. A test holds that it is complete and true.
//
//go:embed config_example.yaml
var exampleConfig string
