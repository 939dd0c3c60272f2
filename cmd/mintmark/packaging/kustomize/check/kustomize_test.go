// Package check builds the overlay as kubectl does, decodes what comes out as the API server
// does, and validates it by the published schema. It is a module of its own, so that nobody else gets what it requires.
package check

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	apps "k8s.io/api/apps/v1"
	core "k8s.io/api/core/v1"
	policy "k8s.io/api/policy/v1"
	"k8s.io/kube-openapi/pkg/validation/spec"
	"k8s.io/kube-openapi/pkg/validation/strfmt"
	"k8s.io/kube-openapi/pkg/validation/validate"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"
	"sigs.k8s.io/kustomize/kyaml/openapi"
	kyaml "sigs.k8s.io/kustomize/kyaml/yaml"
	"sigs.k8s.io/yaml"
)

// build returns the resources of a folder by kind and name. Every field must be one of the
// kind's, and each kind must have what its schema requires, of the types that it names.
func build(t *testing.T, folder string) map[string]any {
	t.Helper()
	resources, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(filesys.MakeFsOnDisk(), filepath.Join("..", folder))
	require.NoError(t, err)
	all := map[string]any{}
	for _, r := range resources.Resources() {
		var into any
		switch kind := r.GetGvk().String(); kind {
		case "Service.v1.[noGrp]":
			into = new(core.Service)
		case "ConfigMap.v1.[noGrp]":
			into = new(core.ConfigMap)
		case "PodDisruptionBudget.v1.policy":
			into = new(policy.PodDisruptionBudget)
		case "StatefulSet.v1.apps":
			into = new(apps.StatefulSet)
		default:
			require.FailNow(t, "unknown kind", kind)
		}
		text, err := r.AsYAML()
		require.NoError(t, err)
		require.NoError(t, yaml.UnmarshalStrict(text, into), "%s", text)
		require.NoError(t, conforms(r.GetApiVersion(), r.GetKind(), text), "%s", text)
		all[r.GetKind()+" "+r.GetName()] = into
	}
	return all
}

// conforms reports where a resource is not as the schema that Kubernetes publishes, and
// kustomize has, wants it. Go's types accept a resource without a required field.
func conforms(apiVersion, kind string, text []byte) error {
	schema := openapi.SchemaForResourceType(kyaml.TypeMeta{APIVersion: apiVersion, Kind: kind})
	if schema == nil {
		return fmt.Errorf("no schema of %s in %s", kind, apiVersion)
	}
	whole, err := expand(*schema.Schema)
	if err != nil {
		return err
	}
	var data any
	if err := yaml.Unmarshal(text, &data); err != nil {
		return err
	}
	return validate.AgainstSchema(whole, data, strfmt.Default)
}

// expand returns a schema with the definitions in the place of their names, which the
// validator does not follow.
func expand(s spec.Schema) (*spec.Schema, error) {
	if s.Ref.String() != "" {
		definition, err := openapi.Resolve(&s.Ref, openapi.Schema())
		if err != nil {
			return nil, err
		}
		s = *definition
	}
	if s.Format == "int-or-string" { // published as a string
		s.Type, s.Format = nil, ""
	}
	properties := map[string]spec.Schema{}
	for name, p := range s.Properties {
		expanded, err := expand(p)
		if err != nil {
			return nil, err
		}
		properties[name] = *expanded
	}
	s.Properties = properties
	if s.Items != nil && s.Items.Schema != nil {
		each, err := expand(*s.Items.Schema)
		if err != nil {
			return nil, err
		}
		s.Items = &spec.SchemaOrArray{Schema: each}
	}
	if s.AdditionalProperties != nil && s.AdditionalProperties.Schema != nil {
		values, err := expand(*s.AdditionalProperties.Schema)
		if err != nil {
			return nil, err
		}
		s.AdditionalProperties = &spec.SchemaOrBool{Allows: true, Schema: values}
	}
	return &s, nil
}

// TestConforms: a resource without a required field, or with another type, is found.
func TestConforms(t *testing.T) {
	good := "apiVersion: v1\nkind: Service\nmetadata: {name: a}\nspec:\n  ports: [{port: 8080, targetPort: http}]\n"
	require.NoError(t, conforms("v1", "Service", []byte(good)))
	for _, change := range [][2]string{{"port: 8080, ", ""}, {"port: 8080", "port: web"}, {"name: a", "name: 1"}} {
		require.Error(t, conforms("v1", "Service", []byte(strings.Replace(good, change[0], change[1], 1))), change[1])
	}
	require.Error(t, conforms("v3", "Service", []byte(good)))
}

// TestBase: names and selectors fit together.
func TestBase(t *testing.T) {
	all := build(t, "base")
	require.Len(t, all, 4)
	set := all["StatefulSet mintmark"].(*apps.StatefulSet)
	pod := set.Spec.Template
	require.Contains(t, all, "Service "+set.Spec.ServiceName)
	require.Equal(t, set.Spec.Selector.MatchLabels, pod.Labels)
	require.Equal(t, pod.Labels, all["Service mintmark-nodes"].(*core.Service).Spec.Selector)
	require.Equal(t, pod.Labels, all["Service mintmark"].(*core.Service).Spec.Selector)
	require.Equal(t, pod.Labels, all["PodDisruptionBudget mintmark"].(*policy.PodDisruptionBudget).Spec.Selector.MatchLabels)
	volumes := map[string]bool{}
	for _, v := range pod.Spec.Volumes {
		volumes[v.Name] = true
	}
	for _, v := range set.Spec.VolumeClaimTemplates {
		volumes[v.Name] = true
	}
	ports := map[string]int32{}
	for _, c := range append(pod.Spec.InitContainers, pod.Spec.Containers...) {
		for _, m := range c.VolumeMounts {
			require.True(t, volumes[m.Name], m.Name)
			require.Equal(t, m.SubPathExpr == "", m.Name != "nodes", "the file of settings is mounted whole")
		}
		for _, p := range c.Ports {
			ports[p.Name] = p.ContainerPort
		}
	}
	main := pod.Spec.Containers[0]
	require.Contains(t, ports, main.LivenessProbe.HTTPGet.Port.StrVal)
	require.Contains(t, ports, main.ReadinessProbe.HTTPGet.Port.StrVal)
	require.Equal(t, ports["http"], all["Service mintmark"].(*core.Service).Spec.Ports[0].Port)
	require.Equal(t, ports["cluster"], all["Service mintmark-nodes"].(*core.Service).Spec.Ports[0].Port)
	require.True(t, *main.SecurityContext.ReadOnlyRootFilesystem)
}

// TestOverlay: it names the image, and the StatefulSet mounts the file of settings.
func TestOverlay(t *testing.T) {
	all := build(t, "overlay")
	require.Len(t, all, 5)
	set := all["StatefulSet mintmark"].(*apps.StatefulSet)
	require.Equal(t, "mintmark", set.Namespace)
	require.Equal(t, "registry.example.com/mintmark:v0.1.0", set.Spec.Template.Spec.Containers[0].Image)
	for _, v := range set.Spec.Template.Spec.Volumes {
		if v.ConfigMap != nil {
			settings, ok := all["ConfigMap "+v.ConfigMap.Name].(*core.ConfigMap)
			require.True(t, ok, "its name has the hash of its content: %s", v.ConfigMap.Name)
			require.Contains(t, settings.Data["mintmark.yaml"], "public-url:")
			return
		}
	}
	require.FailNow(t, "no ConfigMap is mounted")
}
