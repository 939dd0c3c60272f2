package server

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"sync/atomic"
	"time"

	"github.com/mintmark-auth/mintmark/cluster/errcode"
	"github.com/mintmark-auth/mintmark/cluster/member"
	"github.com/mintmark-auth/mintmark/cmd/mintmark/internal/config"
	"github.com/mintmark-auth/mintmark/issuer/admin"
	"github.com/mintmark-auth/mintmark/issuer/ledger"
	"github.com/mintmark-auth/mintmark/issuer/requestlog"
	"github.com/mintmark-auth/mintmark/issuer/security"
)

// Bounds on open connections to the listener for operators on other machines.
const (
	maxOperatorConnections = 256
	maxOperatorPerSource   = 64
)

// ErrClusterAuthority reports that the operators' authority is one of the cluster's, which
// signs certificates for nodes.
var ErrClusterAuthority = errcode.New("cluster_authority", "the operators' authority must not be that of the cluster")

// Operators is the listener for operators on other machines.
type Operators struct {
	Listen string
	TLS    *Certificate
	// Authority verifies certificates of operators. It is nil if only tokens are accepted.
	Authority *OperatorsAuthority
}

// OpenOperators reads the files of the listener. It returns nil if there is none.
func OpenOperators(o *config.Options, getenv func(string) string) (*Operators, error) {
	if o.OperatorsListen == "" {
		return nil, nil
	}
	cert, err := OpenCertificate(config.KeyOperatorsListen, o.OperatorsTLS, getenv)
	if err != nil {
		return nil, err
	}
	all := &Operators{Listen: o.OperatorsListen, TLS: cert}
	if o.OperatorsCAFile != "" {
		all.Authority = &OperatorsAuthority{path: o.OperatorsCAFile}
		all.Authority.watched = watchedFiles{paths: []string{o.OperatorsCAFile}, read: all.Authority.read}
		if err := all.Authority.watched.open(); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// An OperatorsAuthority is the certificates of the operators' authority, from a file that is
// read again when it changes.
type OperatorsAuthority struct {
	path    string
	watched watchedFiles
	// cluster returns the authorities of the cluster. It is nil before the node runs, and
	// guarded by watched.mu.
	cluster func() []*member.Authority
	current atomic.Pointer[operatorRoots]
}

type operatorRoots struct {
	pool  *x509.CertPool
	certs []*x509.Certificate
}

// read is watchedFiles.read.
func (a *OperatorsAuthority) read() ([]os.FileInfo, error) {
	text, info, err := readPEM(a.path, nil)
	if err != nil {
		return nil, fmt.Errorf("read operators' authority: %w", err)
	}
	next := &operatorRoots{pool: x509.NewCertPool()}
	for {
		var block *pem.Block
		if block, text = pem.Decode(text); block == nil {
			break
		}
		cert, err := x509.ParseCertificate(block.Bytes)
		switch {
		case block.Type != "CERTIFICATE" || err != nil:
			return nil, fmt.Errorf("parse operators' authority %s: a block is not a certificate", a.path)
		case !cert.IsCA:
			return nil, fmt.Errorf("parse operators' authority %s: %s is not the certificate of an authority", a.path, cert.Subject)
		}
		next.pool.AddCert(cert)
		next.certs = append(next.certs, cert)
	}
	if len(next.certs) == 0 {
		return nil, fmt.Errorf("parse operators' authority %s: it has no certificate", a.path)
	}
	if a.cluster != nil && next.isOf(a.cluster()) {
		return nil, fmt.Errorf("use operators' authority %s: %w", a.path, ErrClusterAuthority)
	}
	a.current.Store(next)
	return []os.FileInfo{info}, nil
}

// reloadAuthority reads the file of the authority again if it has changed: see watchedFiles.
// o may be nil.
func (o *Operators) reloadAuthority(log *slog.Logger, settled bool) {
	if o == nil || o.Authority == nil {
		return
	}
	a := o.Authority
	switch reloaded, err := a.watched.reload(settled); {
	case err != nil:
		log.Error("operators' authority not reloaded", "error", err)
	case reloaded:
		log.Info("operators' authority reloaded", "file", a.path, "certificates", len(a.current.Load().certs))
	}
}

// isOf reports whether a certificate has the key of one of the authorities.
func (r *operatorRoots) isOf(authorities []*member.Authority) bool {
	for _, one := range authorities {
		signs, err := x509.ParseCertificate(one.Certificate)
		if err != nil {
			continue
		}
		for _, cert := range r.certs {
			if bytes.Equal(cert.RawSubjectPublicKeyInfo, signs.RawSubjectPublicKeyInfo) {
				return true
			}
		}
	}
	return false
}

// operatorRoots is admin.Remote.Authority. The file, and the authority of the cluster, may
// have changed since the start.
func (s *Server) operatorRoots() *x509.CertPool {
	r := s.config.Operators.Authority.current.Load()
	if r.isOf(member.Authorities(s.Node.View())) {
		return nil
	}
	return r.pool
}

// operatorRefused is admin.Remote.Refused.
func (s *Server) operatorRefused(r *http.Request, cause ledger.Cause, operator string) {
	address, _, _ := net.SplitHostPort(r.RemoteAddr)
	s.failures.Record(security.Failure{Kind: security.Operator, Cause: cause, Address: address, Operator: operator, Request: requestlog.ID(r.Context())})
}

// listenOperators opens the listener for operators on other machines, if there is one.
func (s *Server) listenOperators() (err error) {
	if s.config.Operators == nil {
		return nil
	}
	if s.operatorListener, err = listen(ErrListenOperators, s.config.Operators.Listen); err != nil {
		return err
	}
	s.OperatorsAddr = s.operatorListener.Addr()
	return nil
}

// serveOperators starts to serve operators on other machines.
func (s *Server) serveOperators(c admin.Config) error {
	o := s.config.Operators
	if o == nil {
		return nil
	}
	remote := admin.Remote{Config: c, Refused: s.operatorRefused}
	if o.Authority != nil {
		o.Authority.watched.mu.Lock()
		o.Authority.cluster = func() []*member.Authority { return member.Authorities(s.Node.View()) }
		o.Authority.watched.mu.Unlock()
		if s.operatorRoots() == nil {
			return fmt.Errorf("%s %s: %w", config.KeyOperatorsCAFile, o.Authority.path, ErrClusterAuthority)
		}
		remote.Authority = s.operatorRoots
	}
	conf := o.TLS.config()
	conf.ClientAuth = tls.RequestClientCert // verified at each request
	h := &http.Server{
		Handler:           identified(admin.NewRemoteHandler(remote)),
		TLSConfig:         conf,
		TLSNextProto:      map[string]func(*http.Server, *tls.Conn, http.Handler){}, // no HTTP/2: few clients, one request at a time
		ReadHeaderTimeout: 5 * time.Second,
		ReadTimeout:       15 * time.Second,
		WriteTimeout:      90 * time.Second, // longer than a Caller waits for an answer; a download extends it
		IdleTimeout:       time.Minute,
		MaxHeaderBytes:    16 << 10,
		ErrorLog:          debugLog(s.config.Log),
	}
	s.servingMu.Lock()
	defer s.servingMu.Unlock()
	if err := s.isStopping(); err != nil {
		return err
	}
	s.operators = h
	l := newFairListener(h, bounded(s.operatorListener, maxOperatorConnections), maxOperatorPerSource, nil)
	l.shedsLocal = true // no proxy on this machine sends requests of others
	go s.serve(h, l)
	return nil
}

// operatorsCloseTimeout is how long operations in progress are waited for.
const operatorsCloseTimeout = 3 * time.Second

func (s *Server) closeOperators(ctx context.Context) error {
	switch {
	case s.operators != nil:
		ctx, cancel := context.WithTimeout(ctx, operatorsCloseTimeout)
		defer cancel()
		if err := s.operators.Shutdown(ctx); err != nil {
			return s.operators.Close() // a backup may take longer
		}
	case s.operatorListener != nil:
		if err := s.operatorListener.Close(); !errors.Is(err, net.ErrClosed) {
			return err
		}
	}
	return nil
}
