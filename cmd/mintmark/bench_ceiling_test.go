package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"sync/atomic"
)

// ceilingServer is an upper bound for the throughput of a correct server: a bare net/http
// handler that parses the same form, makes one ES256 signature, has one record of the
// request on disk before it answers (group commit), and answers the same number of bytes.
// It keeps no state and verifies nothing. It counts its signatures and fsyncs to prove
// that it does this work.
type ceilingServer struct {
	key        *ecdsa.PrivateKey
	file       *os.File
	queue      chan chan struct{}
	signatures atomic.Int64
	fsyncs     atomic.Int64
	records    atomic.Int64
	response   bareResponse // of the bare handler; not changed under load
}

// A bareResponse is the response of the bare handler.
type bareResponse struct {
	Header http.Header
	Body   []byte
}

func (c *ceilingServer) setBare(_ http.ResponseWriter, r *http.Request) {
	if err := json.NewDecoder(r.Body).Decode(&c.response); err != nil {
		panic(err)
	}
}

func (c *ceilingServer) bare(w http.ResponseWriter, _ *http.Request) {
	for name, values := range c.response.Header {
		w.Header()[name] = values
	}
	_, _ = w.Write(c.response.Body)
}

// runCeiling serves until the process is killed. The first line of its output is its
// address.
func runCeiling(dir string) error {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	file, err := os.Create(dir + "/ceiling.log")
	if err != nil {
		return err
	}
	c := &ceilingServer{key: key, file: file, queue: make(chan chan struct{}, 1024)}
	go c.commit()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v2/auth/oauth2/token", c.token)
	mux.HandleFunc("PUT /bare", c.setBare)
	mux.HandleFunc("GET /bare", c.bare)
	mux.HandleFunc("GET /counts", func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprintf(w, "%d %d %d", c.signatures.Load(), c.fsyncs.Load(), c.records.Load())
	})
	fmt.Println(l.Addr())
	return http.Serve(l, mux)
}

// commit writes the waiting records and syncs once for all of them.
func (c *ceilingServer) commit() {
	record := make([]byte, 200)
	for first := range c.queue {
		waiting := []chan struct{}{first}
		for more := true; more; {
			select {
			case next := <-c.queue:
				waiting = append(waiting, next)
			default:
				more = false
			}
		}
		for range waiting {
			if _, err := c.file.Write(record); err != nil {
				panic(err)
			}
		}
		if err := c.file.Sync(); err != nil {
			panic(err)
		}
		c.fsyncs.Add(1)
		c.records.Add(int64(len(waiting)))
		for _, w := range waiting {
			close(w)
		}
	}
}

func (c *ceilingServer) token(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		panic(err)
	}
	form, err := url.ParseQuery(string(body))
	if err != nil || form.Get("grant_type") == "" {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	durable := make(chan struct{})
	c.queue <- durable
	<-durable
	signed := strings.Repeat("x", 480) // stands for the header and claims of a token
	sum := sha256.Sum256([]byte(signed))
	signature, err := ecdsa.SignASN1(rand.Reader, c.key, sum[:])
	if err != nil {
		panic(err)
	}
	c.signatures.Add(1)
	text, err := json.Marshal(map[string]any{
		"access_token":  signed + "." + base64.RawURLEncoding.EncodeToString(signature[:64]),
		"refresh_token": form.Get("refresh_token"),
		"token_type":    "bearer", "expires_in": 1800, "scope": "PROFILE_READ BOOKING_READ",
	})
	if err != nil {
		panic(err)
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("Pragma", "no-cache")
	w.Header().Set("Content-Length", fmt.Sprint(len(text)))
	_, _ = w.Write(text)
}
