package config

import (
	"bytes"
	"fmt"
	"io"
)

// EnvUpstreamSecret may have the client secret at the upstream provider instead of a
// file. It is a secret and not a setting: it is never shown.
const EnvUpstreamSecret = "MINTMARK_UPSTREAM_CLIENT_SECRET"

// maxUpstreamSecret is the longest accepted client secret, in bytes: far longer than
// those that providers generate.
const maxUpstreamSecret = 4096

// Secret reads the client secret at the provider; "" for a client without a secret.
// An error never has the text that was read.
func (o *Upstream) Secret(getenv func(string) string) (string, error) {
	if o.SecretFile == "" {
		return getenv(EnvUpstreamSecret), nil
	}
	f, err := OpenRegular(o.SecretFile)
	if err != nil {
		return "", fmt.Errorf("open client secret at the provider: %w", err)
	}
	defer func() { _ = f.Close() }()
	if err := RequirePrivate(f, "client secret at the provider", getenv("CREDENTIALS_DIRECTORY")); err != nil {
		return "", err
	}
	text, err := io.ReadAll(io.LimitReader(f, maxUpstreamSecret+1))
	if err != nil {
		return "", fmt.Errorf("read client secret at the provider: %w", err)
	}
	text = bytes.TrimSpace(text)
	if len(text) == 0 || len(text) > maxUpstreamSecret {
		return "", fmt.Errorf("%s is empty, or too long for a client secret", o.SecretFile)
	}
	return string(text), nil
}
