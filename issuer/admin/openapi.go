package admin

import (
	"net/http"
	"reflect"
	"strconv"
	"strings"
	"time"
)

const openAPIPath = pathPrefix + "openapi.json"

// OpenAPI returns the description (OpenAPI 3.1) of the operations that a Remote serves, made
// from the table of routes and the types of their requests and responses, for encoding as
// JSON.
func OpenAPI() map[string]any {
	s := schemas{}
	problem := s.of(reflect.TypeFor[Problem](), false)
	paths := map[string]any{}
	for _, r := range routes {
		if r.scope == localOnly {
			continue
		}
		answers := map[string]any{strconv.Itoa(http.StatusOK): map[string]any{
			"description": "Done.", "content": r.answerContent(s),
		}}
		for class, code := range httpStatus {
			answers[strconv.Itoa(code)] = map[string]any{
				"description": "A problem of the class " + string(class) + ".", "content": jsonContent(problem),
			}
		}
		description := "Needs the scope " + string(r.scope) + "."
		if r.compares != "" {
			description += " A request with secrets or passwords to compare needs the scope " + string(r.compares) + " too."
		}
		paths[pathPrefix+r.name] = map[string]any{"post": map[string]any{
			"operationId": r.name,
			"description": description,
			"x-scope":     r.scope,
			"requestBody": map[string]any{"required": true, "content": jsonContent(s.of(r.request, true))},
			"responses":   answers,
		}}
	}
	return map[string]any{
		"openapi": "3.1.0",
		"info": map[string]any{
			"title":       "Mintmark, operations",
			"version":     "1",
			"description": "Operations for operators on other machines. The server refuses fields that it does not know; clients must accept them.",
		},
		"paths":    paths,
		"security": []any{map[string]any{"token": []string{}}, map[string]any{"certificate": []string{}}},
		"components": map[string]any{
			"schemas": map[string]any(s),
			"securitySchemes": map[string]any{
				"token":       map[string]any{"type": "http", "scheme": "bearer"},
				"certificate": map[string]any{"type": "mutualTLS"},
			},
		},
	}
}

func jsonContent(schema any) map[string]any {
	return map[string]any{"application/json": map[string]any{"schema": schema}}
}

func (r *route) answerContent(s schemas) map[string]any {
	if r.answer == nil {
		return map[string]any{"application/octet-stream": map[string]any{}}
	}
	return jsonContent(s.of(r.answer, false))
}

// schemas are the schemas of the structs that were met, by the name of the type.
type schemas map[string]any

// of returns the schema of what package json makes of a type. A request has no other fields
// than those of its type.
func (s schemas) of(t reflect.Type, request bool) map[string]any {
	switch t {
	case reflect.TypeFor[time.Time]():
		return map[string]any{"type": "string", "format": "date-time"}
	case reflect.TypeFor[time.Duration]():
		return map[string]any{"type": "integer", "format": "int64", "description": "nanoseconds"}
	case reflect.TypeFor[Plain]():
		return map[string]any{"type": "string", "format": "password"}
	}
	switch t.Kind() {
	case reflect.Pointer:
		return s.of(t.Elem(), request)
	case reflect.Bool:
		return map[string]any{"type": "boolean"}
	case reflect.String:
		return map[string]any{"type": "string"}
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return map[string]any{"type": "integer"}
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return map[string]any{"type": "integer", "minimum": 0}
	case reflect.Float32, reflect.Float64:
		return map[string]any{"type": "number"}
	case reflect.Slice:
		return map[string]any{"type": "array", "items": s.of(t.Elem(), request)}
	case reflect.Map:
		return map[string]any{"type": "object", "additionalProperties": s.of(t.Elem(), request)}
	case reflect.Struct:
		return s.ofStruct(t, request)
	}
	panic("admin: no schema for " + t.String())
}

func (s schemas) ofStruct(t reflect.Type, request bool) map[string]any {
	reference := map[string]any{"$ref": "#/components/schemas/" + t.Name()}
	if s[t.Name()] != nil {
		return reference
	}
	properties, required := map[string]any{}, []string{}
	schema := map[string]any{"type": "object", "properties": properties}
	s[t.Name()] = schema
	for _, f := range reflect.VisibleFields(t) {
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		if f.Anonymous && name == "" || name == "-" || !f.IsExported() {
			continue // VisibleFields has the fields of an embedded struct
		}
		properties[name] = s.of(f.Type, request)
		if !strings.Contains(options, "omit") {
			required = append(required, name)
		}
	}
	schema["required"] = required
	if request {
		schema["additionalProperties"] = false
	}
	return reference
}
