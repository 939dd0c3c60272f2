package ledger

import "cmp"

// DefaultServiceName is the name of a service to which none was given.
const DefaultServiceName = "Mintmark"

// A Brand is how this service shows itself to people. "" stands for a default or for nothing.
type Brand struct {
	Name       string `cbor:"1,keyasint,omitempty"` // see Settings.ServiceName
	PrivacyURL string `cbor:"3,keyasint,omitempty"` // op_policy_uri of RFC 8414 §2
	TermsURL   string `cbor:"4,keyasint,omitempty"` // op_tos_uri of RFC 8414 §2
	HelpURL    string `cbor:"5,keyasint,omitempty"`
}

// MaxServiceName is the maximum length of the name, in characters.
const MaxServiceName = 40

// Check returns the first field that is not valid, by the key of the setting, and why; "" if
// there is none.
func (b *Brand) Check() (field, note string) {
	for _, one := range []struct{ field, note string }{
		{"service_name", checkText(b.Name, 0, MaxServiceName)},
		{"privacy_url", checkWebsite(b.PrivacyURL)},
		{"terms_url", checkWebsite(b.TermsURL)},
		{"help_url", checkWebsite(b.HelpURL)},
	} {
		if one.note != "" {
			return one.field, one.note
		}
	}
	return "", ""
}

// ServiceName returns the name of this service for people.
func (s *Settings) ServiceName() string { return cmp.Or(s.Brand.Name, DefaultServiceName) }
