package oauth

// A PresentedToken is a well-formed revocation request (RFC 7009 §2.1) or introspection
// request (RFC 7662 §2.1): they have the same parameters. None of its values has been
// verified. The parameter token_type_hint is ignored (RFC 7009 §2.1): the kinds of tokens have
// different forms.
type PresentedToken struct {
	// Client is never without an ID. A public client sends no secret, and so do senders that
	// an endpoint for confidential clients must refuse.
	Client ClientCredentials
	Token  string
}

// ParsePresentedToken parses the body of a request, a form or JSON, and the client's
// credentials in the body or the Authorization header, as ParseTokenRequest does. A request
// without any client is refused as invalid_client. If it returns an error, the request has
// the credentials that were read so far, so that the response can have the right challenge.
func ParsePresentedToken(contentType, authorization string, body []byte) (PresentedToken, *Error) {
	var r PresentedToken
	var id, secret string
	err := readBody(contentType, body, func(name string) *string {
		switch name {
		case "client_id":
			return &id
		case "client_secret":
			return &secret
		case "token":
			return &r.Token
		}
		return nil
	})
	if err != nil {
		return PresentedToken{Client: ClientCredentials{Basic: authorization != ""}}, err
	}
	if r.Client, err = clientCredentials(authorization, id, secret); err != nil {
		return r, err
	}
	switch {
	case r.Client.ID == "":
		return r, &Error{Code: InvalidClient, Description: "Client authentication failed."}
	case r.Token == "":
		return r, invalidRequest("The parameter token is missing.")
	}
	return r, nil
}
