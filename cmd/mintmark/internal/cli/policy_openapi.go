package cli

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/mintmark-auth/mintmark/middleware/policy"
)

// describedBase asks for the base path that the description itself has.
const describedBase = "\x00"

// operations are the fields of a path item that are methods, in the order of
// the specification; "query" is of OpenAPI 3.2.
var operations = []string{"get", "put", "post", "delete", "options", "head", "patch", "trace", "query"}

// openAPI is a description, decoded but not believed. It is walked rather than
// decoded into types, so that an operation that is there, though empty or wrong,
// is a route.
type openAPI map[string]any

// openAPIRoutes lists the routes of a description, below base.
func openAPIRoutes(text []byte, base string) ([]policy.Route, error) {
	d, err := parseOpenAPI(text)
	if err != nil {
		return nil, err
	}
	root := base
	if base == describedBase {
		if root, err = d.base(d, ""); err != nil {
			return nil, err
		}
	}
	paths, ok := d["paths"].(map[string]any)
	if !ok && d["paths"] != nil {
		return nil, errors.New("paths is not a mapping")
	}
	var routes []policy.Route
	for _, path := range slices.Sorted(maps.Keys(paths)) {
		if strings.HasPrefix(path, "x-") {
			continue
		}
		item, err := d.item(paths[path])
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		extra, _ := item["additionalOperations"].(map[string]any) // OpenAPI 3.2
		for _, method := range slices.Concat(operations, slices.Sorted(maps.Keys(extra))) {
			operation, ok := item[method]
			if !ok {
				if operation, ok = extra[method]; !ok {
					continue
				}
			} else {
				method = strings.ToUpper(method)
			}
			below := root
			if base == describedBase {
				own, _ := operation.(map[string]any)
				if below, err = d.base(item, root); err == nil {
					below, err = d.base(own, below)
				}
				if err != nil {
					return nil, fmt.Errorf("%s %s: %w", method, path, err)
				}
			}
			routes = append(routes, policy.Route{Method: method, Pattern: below + path})
		}
	}
	return routes, nil
}

// parseOpenAPI reads YAML, and JSON as the YAML that it nearly is: YAML's reader
// finds a path that is there twice. Only some escapes of JSON are none of YAML.
func parseOpenAPI(text []byte) (openAPI, error) {
	var d map[string]any // not openAPI, which YAML's reader would use inside too
	err := yaml.Unmarshal(text, &d)
	if err != nil && bytes.HasPrefix(bytes.TrimSpace(text), []byte("{")) && !strings.Contains(err.Error(), "already defined") {
		d = nil
		err = json.Unmarshal(text, &d)
	}
	if err != nil {
		return nil, fmt.Errorf("parse: %w", err)
	}
	if d["openapi"] == nil && d["swagger"] == nil {
		return nil, errors.New("no OpenAPI description: it has neither openapi nor swagger")
	}
	return d, nil
}

// item is a path item, behind references within the description.
func (d openAPI) item(v any) (map[string]any, error) {
	for range 8 {
		item, ok := v.(map[string]any)
		if !ok {
			return nil, errors.New("not a path item")
		}
		reference, ok := item["$ref"].(string)
		if !ok {
			return item, nil
		}
		pointer, ok := strings.CutPrefix(reference, "#/")
		if !ok {
			return nil, fmt.Errorf("refers to %q, which is not in this file: bundle the description first", reference)
		}
		v = map[string]any(d)
		for step := range strings.SplitSeq(pointer, "/") {
			if unescaped, err := url.PathUnescape(step); err == nil {
				step = unescaped
			}
			step = strings.NewReplacer("~1", "/", "~0", "~").Replace(step) // RFC 6901 §4
			within, _ := v.(map[string]any)
			v = within[step]
		}
	}
	return nil, errors.New("refers to itself")
}

// base is the path below which of an object's operations are: that of its
// servers, or else what stands above it.
func (d openAPI) base(object map[string]any, above string) (string, error) {
	if path, ok := object["basePath"].(string); ok { // Swagger 2
		return strings.TrimSuffix(path, "/"), nil
	}
	servers, _ := object["servers"].([]any)
	var found []string
	for _, s := range servers {
		server, _ := s.(map[string]any)
		path, err := serverPath(server)
		if err != nil {
			return "", err
		}
		if !slices.Contains(found, path) {
			found = append(found, path)
		}
	}
	switch len(found) {
	case 0:
		return above, nil
	case 1:
		return found[0], nil
	}
	return "", fmt.Errorf("its servers have several base paths (%s): choose with --base-path", strings.Join(found, ", "))
}

// serverPath is the path of a server's URL, with its variables at their
// defaults.
func serverPath(server map[string]any) (string, error) {
	text, _ := server["url"].(string)
	variables, _ := server["variables"].(map[string]any)
	for name, v := range variables {
		variable, _ := v.(map[string]any)
		text = strings.ReplaceAll(text, "{"+name+"}", fmt.Sprint(variable["default"]))
	}
	u, err := url.Parse(text)
	if err != nil {
		return "", fmt.Errorf("server: %w", err)
	}
	return strings.TrimSuffix(u.Path, "/"), nil
}
