package doctor

import (
	"crypto/x509"
	"fmt"
	"io/fs"
	"net"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/mintmark-auth/mintmark/cmd/mintmark/internal/config"
)

// expiresWithin is when a certificate should have been renewed, or a third of its lifetime
// before its end if that is later.
const expiresWithin = 14 * 24 * time.Hour

// A CertificateFile is the certificate of a listener, or the operators' authority.
type CertificateFile struct {
	Setting string // key of the listener's address, or of the authority's file
	Path    string
	Mode    fs.FileMode
	Chain   []*x509.Certificate // in the order of the file
	KeyFile string              // "" for an authority
	Key     int                 // index in Chain of the certificate that KeyFile belongs to; -1 for none
	Error   error               // why the files can't be read
}

// checkCertificateFiles judges each file.
func checkCertificateFiles(f *Facts) (all []Result) {
	for i := range f.Certificates {
		if c := &f.Certificates[i]; c.Setting == config.KeyOperatorsCAFile {
			all = append(all, checkAuthority(f, c))
		} else {
			all = append(all, checkListenerCertificate(f, c))
		}
	}
	if len(all) == 0 {
		all = append(all, good("certificates of listeners", "no listener has TLS of its own"))
	}
	return all
}

func checkListenerCertificate(f *Facts, c *CertificateFile) Result {
	check := "certificate of " + c.Setting
	if r, bad := checkFile(check, c); bad {
		return r
	}
	leaf := c.Chain[0]
	r := good(check, "of %s, until %s", strings.Join(namesOf(leaf), ", "), day(leaf.NotAfter))
	switch {
	case c.Key > 0:
		r.Measured = fmt.Sprintf("%s belongs to certificate %d of %s", c.KeyFile, c.Key+1, c.Path)
		return r.because(Failure, "put the certificate of the server first, and after it that of its issuer")
	case c.Key < 0:
		r.Measured = c.KeyFile + " is not the private key of " + c.Path
		return r.because(Failure, "give both files of one certificate; both must be in PEM, and the key without a password")
	case len(namesOf(leaf)) == 0:
		r.Measured = c.Path + " has no alternative name"
		return r.because(Failure, "order a certificate with the server's name: clients ignore the common name")
	case len(leaf.ExtKeyUsage) > 0 && !slices.Contains(leaf.ExtKeyUsage, x509.ExtKeyUsageServerAuth) && !slices.Contains(leaf.ExtKeyUsage, x509.ExtKeyUsageAny):
		r.Measured = c.Path + " is not for server authentication"
		return r.because(Failure, "order a certificate for servers")
	}
	if late := checkDates(f.Now, c.Chain, r); late.State != OK {
		return late
	}
	for i, one := range c.Chain[1:] {
		if err := c.Chain[i].CheckSignatureFrom(one); err != nil {
			r.Measured = fmt.Sprintf("certificate %d of %s did not sign the one before", i+2, c.Path)
			return r.because(Warning, "put each certificate after the one that it signed, and leave out all others")
		}
	}
	for _, host := range f.hosts(c.Setting) {
		if err := leaf.VerifyHostname(host); err != nil {
			r.Measured = fmt.Sprintf("of %s, not of %s", strings.Join(namesOf(leaf), ", "), host)
			if len(f.Options.TrustedProxies) > 0 {
				return r.because(Warning, "a certificate of this name is needed for clients that do not come by the proxy")
			}
			return r.because(Failure, "order a certificate with this name too: clients refuse the present one")
		}
	}
	return r
}

func checkAuthority(f *Facts, c *CertificateFile) Result {
	const check = "operators' authority"
	if r, bad := checkFile(check, c); bad {
		return r
	}
	var names []string
	for _, one := range c.Chain {
		if !one.IsCA {
			return good(check, "%s in %s is not the certificate of an authority", one.Subject, c.Path).because(Failure, "leave the certificates of operators out of the file")
		}
		names = append(names, one.Subject.String())
	}
	return checkDates(f.Now, c.Chain, good(check, "%s", strings.Join(names, ", ")))
}

// checkFile judges whether a file can be read, and who may write to it.
func checkFile(check string, c *CertificateFile) (r Result, bad bool) {
	switch {
	case c.Error != nil:
		return good(check, "%v", c.Error).because(Failure, "correct the file, or the setting that names it; run this as the account of the node"), true
	case c.Mode.Perm()&0o022 != 0:
		return good(check, "%s has mode %04o", c.Path, c.Mode.Perm()).because(Failure, "other accounts can replace it: chmod 644 "+c.Path), true
	}
	return Result{}, false
}

// checkDates judges the certificate that expires first.
func checkDates(now time.Time, all []*x509.Certificate, r Result) Result {
	first := slices.MinFunc(all, func(a, b *x509.Certificate) int { return a.NotAfter.Compare(b.NotAfter) })
	whose := fmt.Sprintf("%s of %s", day(first.NotAfter), first.Subject)
	switch left := first.NotAfter.Sub(now); {
	case left <= 0:
		r.Measured = "expired on " + whose
		return r.because(Failure, "renew it now: clients refuse it; the node reads the new files without a restart")
	case slices.ContainsFunc(all, func(c *x509.Certificate) bool { return c.NotBefore.After(now) }):
		r.Measured = "not valid yet"
		return r.because(Failure, "look at the clock of this machine")
	case left < min(expiresWithin, first.NotAfter.Sub(first.NotBefore)/3):
		r.Measured = "expires on " + whose
		return r.because(Warning, "look at what renews it: the node reads the new files without a restart")
	}
	return r
}

// hosts returns the hosts by which clients reach a listener, as far as the settings tell.
func (f *Facts) hosts(setting string) (all []string) {
	o := &f.Options
	switch setting {
	case config.KeyListen:
		for _, origin := range []string{o.PublicURL, o.AppURL} {
			if u, err := url.Parse(origin); err == nil && u.Scheme == "https" && !slices.Contains(all, u.Hostname()) {
				all = append(all, u.Hostname())
			}
		}
	case config.KeyOperatorsListen:
		host, _, err := net.SplitHostPort(o.OperatorsListen)
		if _, notName := netip.ParseAddr(host); err == nil && host != "" && notName != nil {
			all = append(all, host)
		}
	}
	return all
}

func namesOf(c *x509.Certificate) []string {
	all := slices.Clone(c.DNSNames)
	for _, ip := range c.IPAddresses {
		all = append(all, ip.String())
	}
	return all
}

func day(t time.Time) string { return t.UTC().Format(time.DateOnly) }
