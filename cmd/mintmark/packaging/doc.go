// Package packaging has what brings the program to a machine: the systemd unit and the
// manifests for Kubernetes, which the program prints, and what packages and images are
// made of.
//
//	mintmark.service.tmpl  the unit, for packages too
//	kustomize              a base of three nodes for Kubernetes, and an overlay to start from
//	nfpm.yaml, scripts     the .deb and .rpm packages
//	Containerfile, image   the container image
//	release                makes the archives, packages, checksums and the SBOM
//
// It imports nothing of this module: what the files name is verified by tests.
package packaging
