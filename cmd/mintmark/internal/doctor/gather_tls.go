package doctor

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"os"

	"github.com/mintmark-auth/mintmark/cmd/mintmark/internal/config"
)

// certificateFiles looks at the files of the listeners with TLS, and of the operators'
// authority.
func certificateFiles(o *config.Options) (all []CertificateFile) {
	for _, l := range []struct {
		key   string
		files config.TLSFiles
	}{{config.KeyListen, o.TLS}, {config.KeyOpsListen, o.OpsTLS}, {config.KeyOperatorsListen, o.OperatorsTLS}} {
		if l.files == (config.TLSFiles{}) {
			continue
		}
		c := certificateFileAt(l.key, l.files.Cert)
		if key, err := os.ReadFile(l.files.Key); c.Error == nil {
			c.KeyFile, c.Key = l.files.Key, matching(c.Chain, key)
			if err != nil {
				c.Error = err
			}
		}
		all = append(all, c)
	}
	if o.OperatorsCAFile != "" {
		all = append(all, certificateFileAt(config.KeyOperatorsCAFile, o.OperatorsCAFile))
	}
	return all
}

func certificateFileAt(setting, path string) CertificateFile {
	c := CertificateFile{Setting: setting, Path: path, Key: -1}
	var text []byte
	i, err := os.Stat(path)
	if err == nil {
		c.Mode = i.Mode()
		text, err = os.ReadFile(path)
	}
	if c.Error = err; err != nil {
		return c
	}
	for {
		var block *pem.Block
		if block, text = pem.Decode(text); block == nil {
			break
		}
		if block.Type != "CERTIFICATE" {
			continue
		}
		one, err := x509.ParseCertificate(block.Bytes)
		if err != nil {
			c.Error = fmt.Errorf("parse %s: %w", path, err)
			return c
		}
		c.Chain = append(c.Chain, one)
	}
	if len(c.Chain) == 0 {
		c.Error = fmt.Errorf("%s has no certificate in PEM", path)
	}
	return c
}

// matching returns the index of the certificate that a private key in PEM belongs to, or -1.
func matching(chain []*x509.Certificate, key []byte) int {
	for i, one := range chain {
		if _, err := tls.X509KeyPair(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: one.Raw}), key); err == nil {
			return i
		}
	}
	return -1
}
