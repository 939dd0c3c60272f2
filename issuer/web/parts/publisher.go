package parts

import (
	"github.com/mintmark-auth/mintmark/issuer/ledger"
)

// AgentOf returns the host of the publisher of an agent, or "" for another client.
func AgentOf(client *ledger.Client) string {
	if client.Document == nil {
		return ""
	}
	return client.Document.Host()
}

// NameOfApp returns the name of a client for its users. Anybody can write any name in a
// metadata document, so the host of its publisher comes first.
func NameOfApp(client *ledger.Client) string {
	if client.Document == nil {
		return client.Name
	}
	return PublisherName(client.Document) + " (" + client.Name + ")"
}

// PublisherName names the publisher of a client to users.
func PublisherName(d *ledger.Document) string {
	if d.Host() == ledger.LocalPublisher {
		return "a program on a computer"
	}
	return d.Host()
}
