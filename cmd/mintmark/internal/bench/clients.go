package bench

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
)

// A Client is a client with a refresh token of one of its grants.
type Client struct {
	ID           string `json:"client_id"`
	Secret       string `json:"client_secret,omitempty"` // none of a public client
	RefreshToken string `json:"refresh_token"`
	Code         string `json:"-"` // of a grant that was not redeemed yet
	AccessToken  string `json:"-"` // of the exchange of Code

	prefix string // of the body of its refreshes
}

// ReadClients reads clients, an object of JSON a line.
func ReadClients(f *os.File) ([]Client, error) {
	var clients []Client
	lines := bufio.NewScanner(f)
	for n := 1; lines.Scan(); n++ {
		if len(bytes.TrimSpace(lines.Bytes())) == 0 {
			continue
		}
		var c Client
		d := json.NewDecoder(bytes.NewReader(lines.Bytes()))
		d.DisallowUnknownFields()
		err := d.Decode(&c)
		if err == nil && (c.ID == "" || c.RefreshToken == "") {
			err = errors.New("client_id and refresh_token are needed")
		}
		if err != nil {
			return nil, fmt.Errorf("read clients: line %d: %w", n, err)
		}
		clients = append(clients, c)
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("read clients: %w", err)
	}
	return clients, nil
}

// WriteClients replaces a file of clients.
func WriteClients(name string, clients []Client) error {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	for i := range clients {
		if err := e.Encode(&clients[i]); err != nil {
			return fmt.Errorf("write clients: %w", err)
		}
	}
	if err := os.WriteFile(name+".new", b.Bytes(), 0o600); err != nil {
		return fmt.Errorf("write clients: %w", err)
	}
	if err := os.Rename(name+".new", name); err != nil {
		return fmt.Errorf("write clients: %w", err)
	}
	return nil
}
